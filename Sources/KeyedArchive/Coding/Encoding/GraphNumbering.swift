internal import PropertyList

/// Tells ``ReferenceGraph`` of all that was encoded, from the root on.
struct GraphNumbering {
    typealias Node = EncodingGraph.Node
    typealias Member = ReferenceGraph.Member

    /// What kinds of content and of labels are called.
    private enum Kind: UInt64 {
        case array = 0x201
        case set, pairs, dictionary, object, position, name
    }

    private let session: EncodingSession
    private let graph: EncodingGraph
    private var references = ReferenceGraph()
    /// For each node its index in `references`.
    private var indices: [Int?]
    private var left: [Node] = []
    /// For each name its label.
    private let nameLabels: [UInt64]
    private let classContents: [UInt64]

    private init(of session: EncodingSession) {
        self.session = session
        graph = session.graph
        indices = Array(repeating: nil, count: session.graph.entries.count)
        nameLabels = session.names.names.map { name in
            var hash = ContentHash(Kind.name.rawValue)
            hash.combine(name.string.utf8)
            return hash.value
        }
        classContents = session.classes.map { met in
            var hash = ContentHash(Kind.object.rawValue)
            for name in met.chain { hash.combine(name) }
            return hash.value
        }
    }

    /// A number for each node that is an object of its own: the same number whenever the same value
    /// is encoded.
    static func numbers(of session: EncodingSession) -> [Int] {
        var numbering = GraphNumbering(of: session)
        _ = numbering.member(0)
        while let node = numbering.left.popLast() { numbering.addMembers(of: node) }
        let numbers = numbering.references.numbers()
        // What was encoded in vain has no number, and is not written.
        return numbering.indices.map { index in index.map { numbers[$0] } ?? 0 }
    }

    private mutating func member(_ node: Node) -> Member {
        if let scalar = graph.scalar(of: node) { return .scalar(scalar.contentHash) }
        let target = graph.target(of: node)
        if let known = indices[Int(target)] { return .node(known) }
        let index = references.addNode(content(of: target))
        indices[Int(target)] = index
        left.append(target)
        return .node(index)
    }

    private func content(of node: Node) -> UInt64 {
        switch graph[node].value {
        case .array: ContentHash(Kind.array.rawValue).value
        case .set: ContentHash(Kind.set.rawValue).value
        case .pairs: ContentHash(Kind.pairs.rawValue).value
        case .object(let number): classContents[Int(number)]
        default: ContentHash(Kind.dictionary.rawValue).value
        }
    }

    private mutating func addMembers(of node: Node) {
        guard let index = indices[Int(node)] else { return }
        let members = Array(graph.members(of: node))
        switch graph[node].value {
        case .pairs:
            for start in stride(from: 0, to: members.count, by: 2) {
                references.addEntry(
                    member(members[start]), member(members[start + 1]), to: index)
            }
        case .set:
            for member in members {
                references.add(self.member(member), to: index, as: ReferenceGraph.elementLabel)
            }
        case .array:
            for (position, member) in members.enumerated() {
                var label = ContentHash(Kind.position.rawValue)
                label.combine(UInt64(position))
                references.add(self.member(member), to: index, as: label.value)
            }
        default:
            for member in members {
                let label = nameLabels[Int(graph[member].name)]
                references.add(self.member(member), to: index, as: label)
            }
        }
    }
}
