internal import KeyedArchive
internal import PropertyList

/// Tells ``ReferenceGraph`` of all objects that are to be written.
struct GraphNumbering {
    typealias NodeIndex = ObjectGraph.NodeIndex

    /// What kinds of content and of labels are called.
    private enum Kind: UInt64 {
        case object = 0x301
        case set, dictionary, countedSet, field, inline, element, count
    }

    private let graph: ObjectGraph
    private var references = ReferenceGraph()
    /// For each node its index in `references`.
    private var indices: [Int?]
    private var left: [NodeIndex] = []

    private init(of graph: ObjectGraph) {
        self.graph = graph
        indices = Array(repeating: nil, count: graph.nodes.count)
    }

    /// A number for each node: the same number whenever the same objects are archived.
    static func numbers(of graph: ObjectGraph, root: NodeIndex?) -> [Int] {
        var numbering = GraphNumbering(of: graph)
        _ = numbering.member(root)
        while let node = numbering.left.popLast() { numbering.addMembers(of: node) }
        let numbers = numbering.references.numbers()
        return numbering.indices.map { index in index.map { numbers[$0] } ?? 0 }
    }

    private mutating func member(_ node: NodeIndex?) -> ReferenceGraph.Member {
        guard let node, let content = content(of: node) else {
            return .scalar(scalar(of: node).contentHash)
        }
        if let known = indices[node] { return .node(known) }
        let index = references.addNode(content)
        indices[node] = index
        left.append(node)
        return .node(index)
    }

    private func scalar(of node: NodeIndex?) -> Scalar {
        guard let node, case .scalar(let scalar) = graph.nodes[node] else { return .null }
        return scalar
    }

    /// A hash of what a node is apart from its members; nil where it is a scalar.
    private func content(of node: NodeIndex) -> UInt64? {
        switch graph.nodes[node] {
        case .pending, .scalar: nil
        case .object(let chain, _): Self.hash(.object, chain)
        case .set(let chain, _): Self.hash(.set, chain)
        case .dictionary(let chain, _, _): Self.hash(.dictionary, chain)
        case .countedSet: Self.hash(.countedSet, [])
        }
    }

    private static func hash(_ kind: Kind, _ texts: [Text], _ number: Int = 0) -> UInt64 {
        var hash = ContentHash(kind.rawValue)
        for text in texts { hash.combine(text) }
        hash.combine(UInt64(number))
        return hash.value
    }
}

// MARK: Members

extension GraphNumbering {
    private mutating func addMembers(of node: NodeIndex) {
        guard let index = indices[node] else { return }
        switch graph.nodes[node] {
        case .pending, .scalar:
            break
        case .object(_, let fields):
            for field in fields { add(field, to: index) }
        case .set(_, let elements):
            for element in elements {
                references.add(member(element), to: index, as: ReferenceGraph.elementLabel)
            }
        case .dictionary(_, let keys, let values):
            for (key, value) in zip(keys, values) {
                references.addEntry(member(key), member(value), to: index)
            }
        case .countedSet(let elements, let counts):
            for (element, count) in zip(elements, counts) {
                references.add(member(element), to: index, as: Self.hash(.count, [], count))
            }
        }
    }

    private mutating func add(_ field: ObjectGraph.Field, to index: Int) {
        let label = Self.hash(.field, [field.name])
        let inlineLabel = Self.hash(.inline, [field.name])
        switch field.value {
        case .inline(let scalar):
            references.add(.scalar(scalar.contentHash), to: index, as: inlineLabel)
        case .text(let text):
            references.add(.scalar(Scalar.string(text).contentHash), to: index, as: inlineLabel)
        case .bytes(let bytes):
            let data = Scalar.data(bytes[...])
            references.add(.scalar(data.contentHash), to: index, as: inlineLabel)
        case .reference(let node):
            references.add(member(node), to: index, as: label)
        case .conditional(let node):
            references.add(member(node), to: index, as: label)
        case .elements(let elements):
            for (position, element) in elements.enumerated() {
                let label = Self.hash(.element, [field.name], position)
                references.add(member(element), to: index, as: label)
            }
        }
    }
}
