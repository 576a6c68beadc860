/// Divides the nodes of a graph into classes, until each class has one node.
///
/// This is colour refinement. Nodes stay in the same class if they have the same content, and the
/// same number of links with each label to each class. If several nodes are left in a class, one of
/// them gets its own class, and the refinement continues from there.
///
/// 1. The numbers of classes depend on the graph, not on the indices of nodes.
/// 2. The nodes of a class are adjacent in `nodes`.
/// 3. The largest part of a class keeps its number. So a node changes its class at most log n
///    times. Its links are followed only then.
/// 4. A node's signature is the sum, over its links, of a hash of the label and the class at the
///    other end.
///
/// Nodes that stay in one class are nearly always interchangeable, so it does not matter which one
/// is selected. It matters only in very regular graphs, such as a cycle of six nodes compared with
/// two cycles of three. There the numbers are valid, but may differ the next time.
struct Refinement {
    private struct Range {
        var start: Int
        var count: Int
    }

    private struct Change {
        let node: Int
        let oldClass: Int
    }

    private let links: NodeLinks
    private(set) var classOf: [Int]
    private var classes: [Range]
    private var nodes: [Int]
    /// The position of each node in `nodes`.
    private var places: [Int]
    private var signatures: [UInt64]
    private var isTouched: [Bool]

    init(of graph: ReferenceGraph) {
        let count = graph.contents.count
        links = NodeLinks(of: graph)
        classOf = Array(repeating: 0, count: count)
        classes = [Range(start: 0, count: count)]
        nodes = Array(0..<count)
        places = nodes
        signatures = graph.contents
        isTouched = Array(repeating: false, count: count)
        // The first signatures are the contents.
        _ = split(nodes)
        signatures = Array(repeating: 0, count: count)
        for node in nodes {
            for link in links[node] {
                signatures[link.node] &+= Self.hash(link.label, classOf[node])
            }
        }
        refine(nodes)
    }

    /// Continues until each class has one node.
    mutating func tellAllApart() {
        var number = 0
        while number < classes.count {
            while classes[number].count > 1 {
                let range = classes[number]
                classes[number].count -= 1
                let one = Range(start: range.start + range.count - 1, count: 1)
                var changes: [Change] = []
                add(one, from: number, to: &changes)
                refine(touch(changes))
            }
            number += 1
        }
    }

    /// Splits classes until no class has nodes with different signatures.
    private mutating func refine(_ touched: [Int]) {
        var touched = touched
        while !touched.isEmpty { touched = touch(split(touched)) }
    }

    private static func hash(_ label: UInt64, _ classNumber: Int) -> UInt64 {
        ContentHash.mix(label ^ ContentHash.mix(UInt64(classNumber)))
    }

    /// Updates the signatures of the neighbours of nodes with new classes.
    ///
    /// - Returns: Those neighbours.
    private mutating func touch(_ changes: [Change]) -> [Int] {
        var touched: [Int] = []
        for change in changes {
            for link in links[change.node] {
                signatures[link.node] &+= Self.hash(link.label, classOf[change.node])
                signatures[link.node] &-= Self.hash(link.label, change.oldClass)
                if !isTouched[link.node] {
                    isTouched[link.node] = true
                    touched.append(link.node)
                }
            }
        }
        for node in touched { isTouched[node] = false }
        return touched
    }
}

// MARK: Splitting

extension Refinement {
    /// Splits the classes of nodes whose signatures have changed.
    private mutating func split(_ touched: [Int]) -> [Change] {
        let touched = touched.sorted {
            (classOf[$0], signatures[$0]) < (classOf[$1], signatures[$1])
        }
        var changes: [Change] = []
        var start = 0
        while start < touched.count {
            let number = classOf[touched[start]]
            let end = touched[start...].firstIndex { classOf[$0] != number } ?? touched.count
            split(number, touched[start..<end], &changes)
            start = end
        }
        return changes
    }

    /// Splits a class.
    ///
    /// The signatures of these nodes, which are sorted by signature, have changed.
    private mutating func split(
        _ number: Int, _ touched: ArraySlice<Int>, _ changes: inout [Change]
    ) {
        guard classes[number].count > 1 else { return }
        var rest = classes[number]
        var parts: [Range] = []
        var start = touched.startIndex
        while start < touched.endIndex {
            let signature = signatures[touched[start]]
            let end =
                touched[start...].firstIndex { signatures[$0] != signature } ?? touched.endIndex
            for node in touched[start..<end] {
                rest.count -= 1
                move(node, to: rest.start + rest.count)
            }
            parts.append(Range(start: rest.start + rest.count, count: end - start))
            start = end
        }
        if rest.count > 0 { parts.append(rest) }
        let largest = parts.map(\.count).max()
        guard let kept = parts.firstIndex(where: { $0.count == largest }) else { return }
        classes[number] = parts.remove(at: kept)
        for part in parts { add(part, from: number, to: &changes) }
    }

    /// Makes a class from nodes of another class.
    private mutating func add(_ part: Range, from oldClass: Int, to changes: inout [Change]) {
        classes.append(part)
        for node in nodes[part.start..<part.start + part.count] {
            classOf[node] = classes.count - 1
            changes.append(Change(node: node, oldClass: oldClass))
        }
    }

    /// Exchanges a node with the one at a position.
    private mutating func move(_ node: Int, to place: Int) {
        let (other, oldPlace) = (nodes[place], places[node])
        (nodes[oldPlace], places[other]) = (other, oldPlace)
        (nodes[place], places[node]) = (node, place)
    }
}

/// The references of a graph, from both ends.
private struct NodeLinks {
    struct Link {
        let node: Int
        let label: UInt64
    }

    /// The index of the first link of each node, and the end of the last node's links.
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
        // The links of each node are filled in from the end, so the ends become the starts.
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
