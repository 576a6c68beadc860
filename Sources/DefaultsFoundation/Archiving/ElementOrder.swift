internal import KeyedArchive
internal import PropertyList

/// The order in which the elements of sets and the entries of dictionaries are written.
///
/// In memory they have no order, or one that differs from run to run.
final class ElementOrder {
    typealias NodeIndex = ObjectGraph.NodeIndex

    private let graph: ObjectGraph
    private let root: NodeIndex?
    /// The number of each node.
    ///
    /// Only sets of objects need it.
    private lazy var numbers = graph.numbers(from: graph.element(root))

    init(in graph: ObjectGraph, root: NodeIndex?) {
        self.graph = graph
        self.root = root
    }

    /// The positions of elements in their order.
    func positions(of elements: [NodeIndex]) -> [Int] {
        guard elements.count > 1 else { return Array(elements.indices) }
        return ElementKey.positions(
            of: elements.map { element in
                switch graph.nodes[element] {
                case .scalar(let scalar): .scalar(scalar)
                case .pending, .object, .set, .dictionary, .countedSet: .object(numbers[element])
                }
            })
    }
}

/// What the numbering needs to know about the graph to order objects.
extension ObjectGraph: NumberedGraph {
    /// The kinds of content and of labels.
    private enum Kind: UInt64 {
        case object = 0x301
        case set, dictionary, countedSet, field, inline, element, count
    }

    var nodeCount: Int { nodes.count }

    func element(at node: NodeIndex) -> GraphElement { element(node) }

    fileprivate func element(_ node: NodeIndex?) -> GraphElement {
        guard let node else { return .scalar(hash: Scalar.null.contentHash) }
        switch nodes[node] {
        case .pending: return .scalar(hash: Scalar.null.contentHash)
        case .scalar(let scalar): return .scalar(hash: scalar.contentHash)
        case .object(let chain, _): return .object(node, content: Self.hash(.object, chain))
        case .set(let chain, _): return .object(node, content: Self.hash(.set, chain))
        case .dictionary(let chain, _, _):
            return .object(node, content: Self.hash(.dictionary, chain))
        case .countedSet: return .object(node, content: Self.hash(.countedSet, []))
        }
    }

    func members(of node: NodeIndex) -> GraphMembers {
        switch nodes[node] {
        case .pending, .scalar:
            .labelled([])
        case .object(_, let fields):
            .labelled(fields.flatMap(labelled))
        case .set(_, let elements):
            .labelled(elements.map { (ReferenceGraph.elementLabel, element($0)) })
        case .dictionary(_, let keys, let values):
            .entries(zip(keys, values).map { (element($0), element($1)) })
        case .countedSet(let elements, let counts):
            .labelled(zip(elements, counts).map { (Self.hash(.count, [], $1), element($0)) })
        }
    }

    private func labelled(_ field: Field) -> [(label: UInt64, element: GraphElement)] {
        func inline(_ scalar: Scalar) -> [(label: UInt64, element: GraphElement)] {
            [(Self.hash(.inline, [field.name]), .scalar(hash: scalar.contentHash))]
        }
        func listed(_ elements: [GraphElement]) -> [(label: UInt64, element: GraphElement)] {
            elements.enumerated().map { (Self.hash(.element, [field.name], $0), $1) }
        }
        switch field.value {
        case .scalar(let scalar): return inline(scalar)
        case .inlineString(let text): return inline(.string(text))
        case .inlineBytes(let bytes): return inline(.data(bytes))
        case .reference(let node): return [(Self.hash(.field, [field.name]), element(node))]
        case .elements(let nodes): return listed(nodes.map { element($0) })
        case .strings(let texts):
            return listed(texts.map { .scalar(hash: Scalar.string($0).contentHash) })
        }
    }

    private static func hash(_ kind: Kind, _ texts: [Text], _ number: Int = 0) -> UInt64 {
        var hash = ContentHash(kind.rawValue)
        for text in texts { hash.combine(text) }
        hash.combine(UInt64(number))
        return hash.value
    }
}
