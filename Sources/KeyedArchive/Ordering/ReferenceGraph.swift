/// The references between objects.
///
/// They determine the order of objects in sets and of objects that are keys.
///
/// Nodes are added one by one. `numbers()` then numbers them, and the numbers depend only on the
/// graph. Scalars are not nodes, but a part of the content of the node that refers to them.
///
/// ```swift
/// var graph = ReferenceGraph()
/// let set = graph.addNode(ContentHash(0).value)
/// let element = graph.addNode(ContentHash(1).value)
/// graph.add(.node(element), to: set, as: ReferenceGraph.elementLabel)
/// graph.add(.scalar(Scalar.integer(1).contentHash), to: element, as: ContentHash(2).value)
/// let numbers = graph.numbers()
/// ```
package struct ReferenceGraph {
    /// The target of a reference: another node, or a scalar by its hash.
    package enum Member {
        case node(Int)
        case scalar(UInt64)
    }

    /// A reference.
    ///
    /// The label says what the target is for the source.
    struct Edge {
        let source: Int
        let target: Int
        let label: UInt64
    }

    /// The label of a set's elements.
    package static let elementLabel = ContentHash(0x101).value
    private static let keyLabel = ContentHash(0x102).value
    private static let valueLabel = ContentHash(0x103).value
    private static let entryContent = ContentHash(0x104).value
    private static let rootContent = ContentHash(0x105).value

    private(set) var contents: [UInt64] = []
    private(set) var edges: [Edge] = []

    package init() {}

    /// Adds a node and returns its index.
    ///
    /// The first one is the root.
    package mutating func addNode(_ content: UInt64) -> Int {
        // The root must differ from all others, because a cycle could begin at any node.
        contents.append(contents.isEmpty ? content ^ Self.rootContent : content)
        return contents.count - 1
    }

    /// Adds a reference.
    ///
    /// References with the same label are unordered.
    package mutating func add(_ member: Member, to node: Int, as label: UInt64) {
        switch member {
        case .node(let target):
            edges.append(Edge(source: node, target: target, label: label))
        case .scalar(let hash):
            // A sum, because the order must not matter.
            contents[node] &+= ContentHash.mix(label ^ ContentHash.mix(hash))
        }
    }

    /// Adds an entry of a dictionary, whose entries are unordered.
    package mutating func addEntry(_ key: Member, _ value: Member, to node: Int) {
        switch key {
        case .scalar(let hash):
            add(value, to: node, as: ContentHash.mix(hash ^ Self.keyLabel))
        case .node:
            let entry = addNode(Self.entryContent)
            add(.node(entry), to: node, as: Self.elementLabel)
            add(key, to: entry, as: Self.keyLabel)
            add(value, to: entry, as: Self.valueLabel)
        }
    }

    /// Gives each node a different number.
    ///
    /// The time is linear in the references, times the logarithm of the number of nodes.
    package func numbers() -> [Int] {
        var refinement = Refinement(of: self)
        refinement.tellAllApart()
        return refinement.classOf
    }
}
