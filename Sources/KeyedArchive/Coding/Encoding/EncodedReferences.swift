/// The references among what was encoded, from which the order of sets is found.
struct EncodedReferences: NumberedGraph {
    /// What kinds of content and of labels are called.
    private enum Kind: UInt64 {
        case array = 0x201
        case set, pairs, dictionary, object, position, name
    }

    private let graph: EncodingGraph
    /// For each name its label.
    private let nameLabels: [UInt64]
    private let classContents: [UInt64]

    init(of session: EncodingSession) {
        graph = session.graph
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

    var nodeCount: Int { graph.entries.count }

    func element(at node: Int) -> GraphElement {
        element(EncodingGraph.Node(node))
    }

    private func element(_ node: EncodingGraph.Node) -> GraphElement {
        if let scalar = graph.scalar(of: node) { return .scalar(hash: scalar.contentHash) }
        let target = graph.target(of: node)
        return .object(Int(target), content: content(of: target))
    }

    private func content(of node: EncodingGraph.Node) -> UInt64 {
        switch graph[node].value {
        case .array: ContentHash(Kind.array.rawValue).value
        case .set: ContentHash(Kind.set.rawValue).value
        case .pairs: ContentHash(Kind.pairs.rawValue).value
        case .object(let number): classContents[Int(number)]
        default: ContentHash(Kind.dictionary.rawValue).value
        }
    }

    func members(of node: Int) -> GraphMembers {
        let node = EncodingGraph.Node(node)
        let members = Array(graph.members(of: node))
        switch graph[node].value {
        case .pairs:
            return .entries(
                stride(from: 0, to: members.count, by: 2).map {
                    (element(members[$0]), element(members[$0 + 1]))
                })
        case .set:
            return .labelled(members.map { (ReferenceGraph.elementLabel, element($0)) })
        case .array:
            return .labelled(members.enumerated().map { (label(of: $0), element($1)) })
        default:
            return .labelled(members.map { (nameLabels[Int(graph[$0].name)], element($0)) })
        }
    }

    private func label(of position: Int) -> UInt64 {
        var label = ContentHash(Kind.position.rawValue)
        label.combine(UInt64(position))
        return label.value
    }
}
