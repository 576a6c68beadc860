import KeyedArchive
import TestSupport
import Testing

@Suite("The numbers of a graph's nodes")
struct ReferenceGraphTests {
    private struct Edge: Hashable, Comparable {
        var source: Int
        var target: Int
        var label: UInt64

        static func < (left: Edge, right: Edge) -> Bool {
            (left.source, left.target, left.label) < (right.source, right.target, right.label)
        }
    }

    /// The graph as its numbers spell it: the same for the same graph.
    private func canonical(_ contents: [UInt64], _ edges: [Edge]) -> ([UInt64], [Edge]) {
        var graph = ReferenceGraph()
        for content in contents { _ = graph.addNode(content) }
        for edge in edges { graph.add(.node(edge.target), to: edge.source, as: edge.label) }
        let numbers = graph.numbers()
        #expect(numbers.sorted() == Array(contents.indices))
        var numbered = contents
        for (node, number) in numbers.enumerated() { numbered[number] = contents[node] }
        let spelled = edges.map {
            Edge(source: numbers[$0.source], target: numbers[$0.target], label: $0.label)
        }
        return (numbered, spelled.sorted())
    }

    @Test("depend only on the graph, not on the order of its nodes and references (1)")
    func invariance() {
        // The same graphs at each seed: one in very many is as regular as those that refinement cannot
        // tell apart, which its documentation names.
        var chance = SeededGenerator(seed: 1)
        var orders = SeededGenerator()
        for count in 1..<60 {
            let contents = (0..<count).map { _ in UInt64.random(in: 0..<2, using: &chance) }
            let edges = (0..<count * 3 / 2).map { _ in
                Edge(
                    source: .random(in: 0..<count, using: &chance),
                    target: .random(in: 0..<count, using: &chance),
                    label: .random(in: 0..<2, using: &chance))
            }
            let expected = canonical(contents, edges)
            for _ in 0..<5 {
                // The root stays the first.
                let order = [0] + (1..<count).shuffled(using: &orders)
                var places = order
                for (place, node) in order.enumerated() { places[node] = place }
                let moved = edges.map {
                    Edge(source: places[$0.source], target: places[$0.target], label: $0.label)
                }
                let found = canonical(
                    order.map { contents[$0] }, moved.shuffled(using: &orders))
                #expect(found.0 == expected.0 && found.1 == expected.1)
            }
        }
    }

    @Test("are all different in a ring of a hundred thousand equal nodes (3)")
    func ring() {
        var graph = ReferenceGraph()
        let count = 100_000
        for _ in 0..<count { _ = graph.addNode(0) }
        for node in 0..<count { graph.add(.node((node + 1) % count), to: node, as: 0) }
        #expect(Set(graph.numbers()).count == count)
    }
}
