internal import PropertyList

/// The values that were encoded, in flat storage, until the archive is written of them.
///
/// 1. A node is numbered by when it was begun, and its parent was begun before it. So a path leads
///    from each node to the root.
/// 2. Members of a collection are linked in the order in which they came.
/// 3. A reference never leads to itself, not by way of others either.
/// 4. Nodes hold no references of Swift's: strings and bytes are ranges of `content`.
struct EncodingGraph {
    typealias Node = UInt32

    /// A number that no node and no name has.
    static let none = UInt32.max

    enum Value {
        /// Nothing was encoded yet; the type, if it is known, decides what comes of fields.
        case pending(type: UInt32)
        case null
        case boolean(Bool)
        case integer(Int64)
        /// An integer of `wideIntegers`.
        case wideInteger(UInt32)
        case real(Double)
        case text(start: Int, count: Int)
        case data(start: Int, count: Int)
        /// Bytes that are inline if they are a field, and are data elsewhere.
        case bytes(start: Int, count: Int)
        case array
        case set
        /// A dictionary whose members are a key, its value, the next key and so on.
        case pairs
        /// A dictionary whose keys are the names of its members.
        case dictionary
        /// An object whose fields are its members.
        case object(classNumber: UInt32)
        /// The object that another node is.
        case reference(Node)
    }

    struct Entry {
        var value: Value
        /// Whether it is an instance of a class, which is not the same as another one like it.
        var isInstance = false
        let parent: Node
        /// The name in its parent, if that has names.
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

    /// A node without a place in the value.
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

    /// Links the members of a node again, in this order.
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

    /// Stores bytes, and returns where.
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

    /// The node itself that a node is or refers to.
    func target(of node: Node) -> Node {
        var node = node
        while case .reference(let other) = self[node].value { node = other }
        return node
    }

    /// What a node is or refers to, if that is a scalar.
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

/// The names of fields, each of them once.
struct NameTable {
    /// Up to this number, names are searched one by one.
    private static let searchLimit = 8

    private(set) var names: [FieldName] = []
    private var numbers: [Text: UInt32] = [:]

    subscript(number: UInt32) -> String { names[Int(number)].string }

    func isName(_ number: UInt32, _ string: String) -> Bool {
        names[Int(number)].isSame(as: string)
    }

    /// The number of a name, a new one if it is new.
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

    /// For each name its place among all when they are sorted by code point.
    func ranks() -> [UInt32] {
        // The bytes of UTF-8 are ordered as its code points are.
        let order = names.indices.sorted {
            names[$0].string.utf8.lexicographicallyPrecedes(names[$1].string.utf8)
        }
        var ranks = [UInt32](repeating: 0, count: names.count)
        for (rank, number) in order.enumerated() { ranks[number] = UInt32(rank) }
        return ranks
    }
}
