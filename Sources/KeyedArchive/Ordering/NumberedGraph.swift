/// A graph of values whose objects get numbers that depend only on their contents.
///
/// Codable values and objects of NSSecureCoding have different graphs. Their nodes are numbered
/// from 0. The numbering uses this protocol.
package protocol NumberedGraph {
    /// How many nodes there are.
    var nodeCount: Int { get }
    /// The kind of a node.
    func element(at node: Int) -> GraphElement
    /// The references of an object.
    func members(of node: Int) -> GraphMembers
}

/// A node, as others refer to it.
package enum GraphElement {
    case scalar(hash: UInt64)
    /// An object, and a hash of its content without its members.
    case object(Int, content: UInt64)
}

/// The references of an object.
package enum GraphMembers {
    /// Elements and fields.
    ///
    /// Those with the same label are unordered.
    case labelled([(label: UInt64, element: GraphElement)])
    /// The entries of a dictionary, which are unordered.
    case entries([(key: GraphElement, value: GraphElement)])
}

extension NumberedGraph {
    /// A number for each node that is an object.
    ///
    /// The same graph gives the same numbers.
    ///
    /// A node that the root does not reach gets 0.
    package func numbers(from root: GraphElement) -> [Int] {
        var walk = NumberingWalk(over: self)
        return walk.numbers(from: root)
    }
}

/// The walk that makes a ``ReferenceGraph`` from a graph.
private struct NumberingWalk<Graph: NumberedGraph> {
    private let graph: Graph
    private var references = ReferenceGraph()
    /// The index of each node in `references`.
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
