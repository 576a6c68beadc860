/// The references of a graph, as each of their two ends sees them.
struct NodeLinks {
    struct Link {
        let node: Int
        let label: UInt64
    }

    /// Where the links of each node begin, and behind them where the last one's end.
    private var starts: [Int]
    private var links: [Link]

    init(of graph: ReferenceGraph) {
        let edges = graph.edges
        starts = Array(repeating: 0, count: graph.contents.count + 1)
        for edge in edges {
            starts[edge.source] += 1
            starts[edge.target] += 1
        }
        var end = 0
        for node in starts.indices {
            end += starts[node]
            starts[node] = end
        }
        // Each place is taken from the end of a node's own on, and so the ends become the starts.
        links = Array(repeating: Link(node: 0, label: 0), count: end)
        for edge in edges {
            starts[edge.source] -= 1
            links[starts[edge.source]] = Link(node: edge.target, label: edge.label)
            starts[edge.target] -= 1
            links[starts[edge.target]] = Link(node: edge.source, label: ~edge.label)
        }
    }

    subscript(node: Int) -> ArraySlice<Link> { links[starts[node]..<starts[node + 1]] }
}
