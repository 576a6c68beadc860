/// A graph of values whose objects get numbers that follow from what they hold.
///
/// Codable values and objects of NSSecureCoding have graphs of their own, with nodes that are
/// numbered from 0. This is what the numbering asks them.
package protocol NumberedGraph {
    /// How many nodes there are.
    var nodeCount: Int { get }
    /// What a node is.
    func element(at node: Int) -> GraphElement
    /// What an object refers to.
    func members(of node: Int) -> GraphMembers
}

/// A node as others refer to it.
package enum GraphElement {
    case scalar(hash: UInt64)
    /// An object, and a hash of what it is apart from its members.
    case object(Int, content: UInt64)
}

/// What an object refers to.
package enum GraphMembers {
    /// Elements and fields; those with the same label have no order.
    case labelled([(label: UInt64, element: GraphElement)])
    /// The entries of a dictionary, which have no order.
    case entries([(key: GraphElement, value: GraphElement)])
}

extension NumberedGraph {
    /// A number for each node that is an object: the same number whenever the graph is the same.
    ///
    /// A node that the root does not reach has the number 0.
    package func numbers(from root: GraphElement) -> [Int] {
        var walk = NumberingWalk(over: self)
        return walk.numbers(from: root)
    }
}

/// The walk that makes a ``ReferenceGraph`` of a graph.
private struct NumberingWalk<Graph: NumberedGraph> {
    private let graph: Graph
    private var references = ReferenceGraph()
    /// For each node its index in `references`.
    private var indices: [Int?]
    private var left: [Int] = []

    init(over graph: Graph) {
        self.graph = graph
        indices = Array(repeating: nil, count: graph.nodeCount)
    }

    mutating func numbers(from root: GraphElement) -> [Int] {
        _ = member(root)
        while let node = left.popLast() { addMembers(of: node) }
        let numbers = references.numbers()
        return indices.map { index in index.map { numbers[$0] } ?? 0 }
    }

    private mutating func member(_ element: GraphElement) -> ReferenceGraph.Member {
        switch element {
        case .scalar(let hash):
            return .scalar(hash)
        case .object(let node, let content):
            if let known = indices[node] { return .node(known) }
            let index = references.addNode(content)
            indices[node] = index
            left.append(node)
            return .node(index)
        }
    }

    private mutating func addMembers(of node: Int) {
        guard let index = indices[node] else { return }
        switch graph.members(of: node) {
        case .labelled(let members):
            for (label, element) in members {
                references.add(member(element), to: index, as: label)
            }
        case .entries(let entries):
            for (key, value) in entries {
                references.addEntry(member(key), member(value), to: index)
            }
        }
    }
}
