internal import PropertyList

/// Writes the archive of the encoded values.
///
/// The order is the same as that of ``ArchiveWriter``, so the same value gives the same bytes with
/// both. It is a separate type for speed: it sorts fields on the way, remembers the keys and
/// classes that it has written, and makes no array for an object.
///
/// 1. An object gets its UID before the objects that it refers to, and its class record comes after
///    them.
/// 2. Fields are sorted by name. The members of other nodes have the order of the graph.
/// 3. A shared object is written at the first place that the walk reaches.
struct EncodingWriter {
    typealias Node = EncodingGraph.Node

    private enum Position {
        case element
        case field
    }

    /// A collection or an object that is being written.
    private struct Frame {
        let node: Node
        let uid: UInt64
        /// The first index of its members in `members`, and of its values in `values`.
        let membersStart: Int
        let valuesStart: Int
        let memberPosition: Position
        /// The index of the member after the last key of pairs.
        let keysEnd: Int
        /// The next member.
        var next: Int
    }

    /// Up to this number, fields are sorted by insertion, which needs no closure.
    private static let insertionLimit = 16

    private let session: EncodingSession
    private let graph: EncodingGraph
    /// The position of each name when all are sorted.
    private let ranks: [UInt32]
    private var table = ObjectTable()
    private var frames: [Frame] = []
    /// The members of all frames.
    private var members: [Node] = []
    /// The property list objects of the finished members of all frames.
    private var values: [ObjectIndex] = []
    /// The names of the object that is being finished.
    private var keys: [ObjectIndex] = []
    /// The names that were written.
    private var names: [ObjectIndex?]
    /// The classes that were written: those of the session, then those of collections.
    private var classNumbers: [ObjectTable.ClassNumber?]
    private var listKey: ObjectIndex?
    /// The UIDs of nodes, if several nodes can be the same object.
    private var uids: [UInt64]

    private init(of session: EncodingSession) {
        self.session = session
        graph = session.graph
        ranks = session.names.ranks()
        names = Array(repeating: nil, count: ranks.count)
        classNumbers = Array(repeating: nil, count: session.classes.count + Collection.count)
        // Each node needs two or three objects: itself, the reference to it, and a list of its
        // members.
        table.reserveCapacity(2 * graph.entries.count)
        uids = session.hasReferences ? Array(repeating: 0, count: graph.entries.count) : []
    }

    static func archive(of session: EncodingSession) -> KeyedArchive {
        var writer = EncodingWriter(of: session)
        writer.visit(0, at: .element)
        writer.run()
        return writer.table.finish(top: ["root"], writer.values)
    }

    private mutating func run() {
        while var frame = frames.popLast() {
            if frame.next == frame.keysEnd { values.append(list(from: frame.valuesStart)) }
            guard frame.next < members.count else {
                end(frame)
                continue
            }
            let member = members[frame.next]
            frame.next += 1
            frames.append(frame)
            visit(member, at: frame.memberPosition)
        }
    }
}

// MARK: The walk

extension EncodingWriter {
    /// Writes a scalar, or begins a collection or an object.
    private mutating func visit(_ node: Node, at position: Position) {
        switch graph[node].value {
        case .null:
            // Foundation's collections cannot contain nil. They contain NSNull instead.
            let isInCollection = position == .element && node != 0
            values.append(isInCollection ? table.nullObject() : table.reference(to: .null))
        case .boolean(let value):
            add(.boolean(value), at: position)
        case .integer(let value):
            add(.integer(Int128(value)), at: position)
        case .wideInteger(let number):
            add(.integer(graph.wideIntegers[Int(number)]), at: position)
        case .real(let value):
            add(.real(value), at: position)
        case .text(let start, let count):
            values.append(table.reference(toText: graph.content[start..<start + count]))
        case .data(let start, let count):
            add(.data(graph.content[start..<start + count]), at: .element)
        case .bytes(let start, let count):
            let bytes = graph.content[start..<start + count]
            guard position == .field else { return add(.data(bytes), at: .element) }
            values.append(table.inlineBytes(bytes))
        case .reference:
            visit(graph.target(of: node), at: position)
        case .pending, .array, .set, .pairs, .dictionary, .object:
            begin(node)
        }
    }

    private mutating func add(_ scalar: Scalar, at position: Position) {
        values.append(position == .field ? table.field(scalar) : table.reference(to: scalar))
    }

    private mutating func begin(_ node: Node) {
        if !uids.isEmpty, uids[Int(node)] != 0 {
            return values.append(table.reference(to: uids[Int(node)]))
        }
        let uid = table.reserve()
        if !uids.isEmpty { uids[Int(node)] = uid }
        let (membersStart, valuesStart) = (members.count, values.count)
        var memberPosition = Position.element
        var keysEnd = Int.max
        switch graph[node].value {
        case .object:
            memberPosition = .field
            appendSortedMembers(of: node)
        case .dictionary, .pending:
            appendSortedMembers(of: node)
            values.append(nameList(from: membersStart))
        case .pairs:
            appendPairs(of: node)
            keysEnd = membersStart + (members.count - membersStart) / 2
        default:
            members += graph.members(of: node)
        }
        frames.append(
            Frame(
                node: node, uid: uid, membersStart: membersStart, valuesStart: valuesStart,
                memberPosition: memberPosition, keysEnd: keysEnd, next: membersStart))
    }

    /// Appends all keys, and then all values.
    private mutating func appendPairs(of node: Node) {
        let pairs = Array(graph.members(of: node))
        for position in stride(from: 0, to: pairs.count, by: 2) { members.append(pairs[position]) }
        for position in stride(from: 1, to: pairs.count, by: 2) { members.append(pairs[position]) }
    }

    private mutating func appendSortedMembers(of node: Node) {
        let start = members.count
        members += graph.members(of: node)
        guard members.count - start <= Self.insertionLimit else {
            let (ranks, graph) = (ranks, graph)
            members[start...].sort { ranks[Int(graph[$0].name)] < ranks[Int(graph[$1].name)] }
            return
        }
        for position in start..<members.count {
            let member = members[position]
            let memberRank = rank(of: member)
            var hole = position
            while hole > start, rank(of: members[hole - 1]) > memberRank {
                members[hole] = members[hole - 1]
                hole -= 1
            }
            members[hole] = member
        }
    }

    private func rank(of node: Node) -> UInt32 { ranks[Int(graph[node].name)] }

    /// The list of the names of the members from `start` on, which are the keys of a dictionary.
    private mutating func nameList(from start: Int) -> ObjectIndex {
        let valuesStart = values.count
        for position in start..<members.count {
            let name = session.names[graph[members[position]].name]
            values.append(table.reference(to: .string(Text(name))))
        }
        return list(from: valuesStart)
    }

    /// Moves the values from `start` on into a list.
    private mutating func list(from start: Int) -> ObjectIndex {
        let list = table.elements(values[start...])
        values.removeLast(values.count - start)
        return list
    }
}

// MARK: Ends

extension EncodingWriter {
    /// The classes of collections.
    private enum Collection: Int {
        case array, set, dictionary
        static let count = 3

        var className: Text {
            switch self {
            case .array: FoundationClass.array.className
            case .set: FoundationClass.set.className
            case .dictionary: FoundationClass.dictionary.className
            }
        }
    }

    private mutating func end(_ frame: Frame) {
        keys.removeAll(keepingCapacity: true)
        let number: ObjectTable.ClassNumber
        switch graph[frame.node].value {
        case .object(let classNumber):
            for position in frame.membersStart..<members.count {
                keys.append(key(of: graph[members[position]].name))
            }
            number = self.number(ofClass: Int(classNumber))
        case .pairs, .dictionary, .pending:
            values.append(list(from: frame.valuesStart + 1))
            keys.append(table.key("NS.keys"))
            keys.append(elementsKey())
            number = self.number(of: .dictionary)
        case .set:
            values.append(list(from: frame.valuesStart))
            keys.append(elementsKey())
            number = self.number(of: .set)
        default:
            values.append(list(from: frame.valuesStart))
            keys.append(elementsKey())
            number = self.number(of: .array)
        }
        table.define(frame.uid, number, keys: keys[...], values: values[frame.valuesStart...])
        values.removeLast(values.count - frame.valuesStart)
        members.removeLast(members.count - frame.membersStart)
        values.append(table.reference(to: frame.uid))
    }

    private mutating func key(of name: UInt32) -> ObjectIndex {
        if let key = names[Int(name)] { return key }
        let key = table.key(Text(session.names[name]))
        names[Int(name)] = key
        return key
    }

    private mutating func elementsKey() -> ObjectIndex {
        if let listKey { return listKey }
        let key = table.key("NS.objects")
        listKey = key
        return key
    }

    private mutating func number(ofClass number: Int) -> ObjectTable.ClassNumber {
        if let known = classNumbers[number] { return known }
        let new = table.classNumber(of: session.classes[number].chain)
        classNumbers[number] = new
        return new
    }

    private mutating func number(of collection: Collection) -> ObjectTable.ClassNumber {
        let position = session.classes.count + collection.rawValue
        if let known = classNumbers[position] { return known }
        let new = table.classNumber(of: ClassChain.of(collection.className))
        classNumbers[position] = new
        return new
    }
}
