internal import PropertyList

/// The encoded values in flat storage, until the archive is written from them.
///
/// 1. A node's number is higher than that of its parent, because the parent was begun first. So a
///    path leads from each node to the root.
/// 2. Members of a collection are linked in the order in which they came.
/// 3. A reference never leads back to itself, directly or through others.
/// 4. Nodes contain no Swift references: strings and bytes are ranges of `content`.
struct EncodingGraph {
    typealias Node = UInt32

    /// A number that is neither a node nor a name.
    static let none = UInt32.max

    enum Value {
        /// Nothing was encoded yet.
        ///
        /// If the type is known, it decides how fields are encoded.
        case pending(type: UInt32)
        case null
        case boolean(Bool)
        case integer(Int64)
        /// An integer of `wideIntegers`.
        case wideInteger(UInt32)
        case real(Double)
        case text(start: Int, count: Int)
        case data(start: Int, count: Int)
        /// Bytes: inline in a field, and a data object elsewhere.
        case bytes(start: Int, count: Int)
        case array
        case set
        /// A dictionary.
        ///
        /// Its members are a key, its value, the next key and so on.
        case pairs
        /// A dictionary.
        ///
        /// Its keys are the names of its members.
        case dictionary
        /// An object.
        ///
        /// Its fields are its members.
        case object(classNumber: UInt32)
        /// The same object as another node.
        case reference(Node)
    }

    struct Entry {
        var value: Value
        /// Whether it is an instance of a class.
        ///
        /// Two instances are different even if they are equal.
        var isInstance = false
        let parent: Node
        /// The name in its parent, if the parent has names.
        var name: UInt32
        /// The next member of the parent.
        var next = EncodingGraph.none
        var firstMember = EncodingGraph.none
        var lastMember = EncodingGraph.none
        var memberCount: UInt32 = 0
        let depth: UInt32
    }

    private(set) var entries: [Entry] = []
    private(set) var content: [UInt8] = []
    private(set) var wideIntegers: [Int128] = []

    init() {
        entries.reserveCapacity(16)
        content.reserveCapacity(64)
    }

    mutating func addRoot() -> Node {
        add(Entry(value: .pending(type: Self.none), parent: Self.none, name: Self.none, depth: 0))
    }

    /// Adds a node that is not yet part of the value.
    ///
    /// It has the path of `parent`.
    mutating func addDetached(below parent: Node) -> Node {
        let depth = self[parent].depth + 1
        return add(
            Entry(
                value: .pending(type: Self.none), parent: parent, name: Self.none, depth: depth))
    }

    /// Adds a member after those of `parent`.
    mutating func addMember(
        of parent: Node, name: UInt32 = Self.none, _ value: Value
    ) -> Node {
        let position = Int(parent)
        let depth = entries[position].depth + 1
        let node = add(Entry(value: value, parent: parent, name: name, depth: depth))
        let last = entries[position].lastMember
        if last == Self.none {
            entries[position].firstMember = node
        } else {
            entries[Int(last)].next = node
        }
        entries[position].lastMember = node
        entries[position].memberCount += 1
        return node
    }

    private mutating func add(_ entry: Entry) -> Node {
        let node = Node(entries.count)
        entries.append(entry)
        return node
    }

    subscript(node: Node) -> Entry { entries[Int(node)] }

    mutating func set(_ value: Value, at node: Node) {
        entries[Int(node)].value = value
    }

    mutating func markInstance(_ node: Node) {
        entries[Int(node)].isInstance = true
    }

    mutating func rename(_ node: Node, _ name: UInt32) {
        entries[Int(node)].name = name
    }

    /// Replaces the order of a node's members.
    mutating func setMembers(_ members: [Node], of node: Node) {
        entries[Int(node)].firstMember = members.first ?? Self.none
        entries[Int(node)].lastMember = members.last ?? Self.none
        entries[Int(node)].memberCount = UInt32(members.count)
        for (member, next) in zip(members, members.dropFirst() + [Self.none]) {
            entries[Int(member)].next = next
        }
    }
}

// MARK: Content

extension EncodingGraph {
    mutating func text(_ string: String) -> Value {
        let start = content.count
        content.append(contentsOf: string.utf8)
        return .text(start: start, count: content.count - start)
    }

    /// Stores bytes, and returns their range.
    mutating func store(_ bytes: some Sequence<UInt8>) -> (start: Int, count: Int) {
        let start = content.count
        content.append(contentsOf: bytes)
        return (start, content.count - start)
    }

    /// An integer, or nil if it is too large for archives.
    mutating func integer(_ value: some FixedWidthInteger) -> Value? {
        if let narrow = Int64(exactly: value) { return .integer(narrow) }
        guard let wide = Int128(exactly: value) else { return nil }
        wideIntegers.append(wide)
        return .wideInteger(UInt32(wideIntegers.count - 1))
    }
}

// MARK: Walking

extension EncodingGraph {
    /// The members of a node, in the order in which they came.
    func members(of node: Node) -> some Sequence<Node> {
        sequence(state: self[node].firstMember) { next -> Node? in
            guard next != Self.none else { return nil }
            defer { next = self[next].next }
            return next
        }
    }

    /// The node that a reference leads to, or the node itself.
    func target(of node: Node) -> Node {
        var node = node
        while case .reference(let other) = self[node].value { node = other }
        return node
    }

    /// The scalar of a node, or of the node that it refers to.
    func scalar(of node: Node) -> Scalar? {
        switch self[target(of: node)].value {
        case .null: .null
        case .boolean(let value): .boolean(value)
        case .integer(let value): .integer(Int128(value))
        case .wideInteger(let number): .integer(wideIntegers[Int(number)])
        case .real(let value): .real(value)
        case .text(let start, let count):
            .string(Text(String(decoding: content[start..<start + count], as: UTF8.self)))
        case .data(let start, let count), .bytes(let start, let count):
            .data(content[start..<start + count])
        case .pending, .array, .set, .pairs, .dictionary, .object, .reference: nil
        }
    }

    /// The member of this name, if there is one.
    func member(of node: Node, named name: UInt32) -> Node? {
        var member = self[node].firstMember
        while member != Self.none {
            if self[member].name == name { return member }
            member = self[member].next
        }
        return nil
    }
}

/// The names of fields, without repetitions.
struct NameTable {
    /// Up to this number, names are searched linearly.
    private static let searchLimit = 8

    private(set) var names: [FieldName] = []
    private var numbers: [Text: UInt32] = [:]

    subscript(number: UInt32) -> String { names[Int(number)].string }

    func isName(_ number: UInt32, _ string: String) -> Bool {
        names[Int(number)].isSame(as: string)
    }

    /// The number of a name.
    ///
    /// A new name gets a new number.
    mutating func number(of string: String) -> UInt32 {
        if names.count <= Self.searchLimit {
            for (number, name) in names.enumerated() where name.isSame(as: string) {
                return UInt32(number)
            }
        } else {
            if numbers.isEmpty {
                for (number, name) in names.enumerated() {
                    numbers[Text(name.string)] = UInt32(number)
                }
            }
            if let number = numbers[Text(string)] { return number }
        }
        let number = UInt32(names.count)
        names.append(FieldName(string))
        if !numbers.isEmpty { numbers[Text(string)] = number }
        return number
    }

    /// The position of each name when all are sorted by code point.
    func ranks() -> [UInt32] {
        // UTF-8 bytes have the same order as code points.
        let order = names.indices.sorted {
            names[$0].string.utf8.lexicographicallyPrecedes(names[$1].string.utf8)
        }
        var ranks = [UInt32](repeating: 0, count: names.count)
        for (rank, number) in order.enumerated() { ranks[number] = UInt32(rank) }
        return ranks
    }
}
