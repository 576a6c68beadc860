internal import KeyedArchive
internal import PropertyList

/// The order in which the elements of sets, and the entries of dictionaries, are written.
///
/// They have none in memory, or one that differs from run to run.
final class ElementOrder {
    typealias NodeIndex = ObjectGraph.NodeIndex

    private let graph: ObjectGraph
    private let root: NodeIndex?
    /// The number of each node, which only sets of objects need.
    private lazy var numbers = GraphNumbering.numbers(of: graph, root: root)

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
