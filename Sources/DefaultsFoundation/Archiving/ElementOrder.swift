internal import KeyedArchive
internal import PropertyList

/// The order in which the elements of sets, and the entries of dictionaries, are written.
///
/// They have none in memory, or one that differs from run to run. Strings are ordered by code
/// points, numbers by value, and objects by the bytes of the archive that each alone would be. A
/// set that is reached again from inside is left out there, so that circles end.
final class ElementOrder {
    typealias NodeIndex = ObjectGraph.NodeIndex

    /// The most sets in each other of which the order of one depends on that of the next.
    private static let depthLimit = 64
    /// The most objects that are written for their order alone.
    private static let writingLimit = 4 << 20

    private enum Key {
        case scalar(Scalar)
        case archive([UInt8])
    }

    private let graph: ObjectGraph
    private var known: [NodeIndex: [Int]] = [:]
    /// The sets whose order is being found.
    private var open: Set<NodeIndex> = []
    /// Whether one of those was reached from inside, so that what was found holds there only.
    private var hasMetOpen = false
    private var written = 0

    init(in graph: ObjectGraph) {
        self.graph = graph
    }

    /// The positions of the elements of a node in their order; none where that is being found.
    func positions(
        of elements: [NodeIndex], in node: NodeIndex
    ) throws(ObjectCodingError) -> [Int] {
        if let known = known[node] { return known }
        guard elements.count > 1 else { return Array(elements.indices) }
        guard !open.contains(node) else {
            hasMetOpen = true
            return []
        }
        guard open.count < Self.depthLimit else { throw .entangledSets }
        open.insert(node)
        var keys: [Key] = []
        keys.reserveCapacity(elements.count)
        for element in elements { keys.append(try key(of: element)) }
        open.remove(node)
        let positions = elements.indices.sorted { left, right in
            Self.precedes(keys[left], keys[right]) ?? (elements[left] < elements[right])
        }
        if open.isEmpty { hasMetOpen = false }
        if !hasMetOpen { known[node] = positions }
        return positions
    }

    /// Pays for an object that is written, where it is for the order alone.
    func spend() throws(ObjectCodingError) {
        guard !open.isEmpty else { return }
        written += 1
        guard written <= Self.writingLimit else { throw .entangledSets }
    }

    private func key(of element: NodeIndex) throws(ObjectCodingError) -> Key {
        if case .scalar(let scalar) = graph.nodes[element] { return .scalar(scalar) }
        var writer = GraphWriter(of: graph, order: self)
        return .archive(try writer.write(element).bytes)
    }

    /// Whether the left comes before the right; nil where neither does.
    private static func precedes(_ left: Key, _ right: Key) -> Bool? {
        switch (left, right) {
        case (.scalar(let left), .scalar(let right)):
            return precedes(left, right)
        case (.scalar, .archive):
            return true
        case (.archive, .scalar):
            return false
        case (.archive(let left), .archive(let right)):
            return left == right ? nil : left.lexicographicallyPrecedes(right)
        }
    }

    private static func precedes(_ left: Scalar, _ right: Scalar) -> Bool? {
        switch (left, right) {
        case (.boolean(let left), .boolean(let right)):
            return left == right ? nil : right
        case (.integer(let left), .integer(let right)):
            return left == right ? nil : left < right
        case (.real(let left), .real(let right)), (.date(let left), .date(let right)):
            return left.bitPattern == right.bitPattern
                ? nil : left.isTotallyOrdered(belowOrEqualTo: right)
        case (.string(let left), .string(let right)):
            return left == right ? nil : left < right
        case (.data(let left), .data(let right)):
            return left == right ? nil : left.lexicographicallyPrecedes(right)
        default:
            return left.rank == right.rank ? nil : left.rank < right.rank
        }
    }
}

extension Scalar {
    /// Where its type stands among the types.
    fileprivate var rank: Int {
        switch self {
        case .null: 0
        case .boolean: 1
        case .integer: 2
        case .real: 3
        case .string: 4
        case .date: 5
        case .data: 6
        }
    }
}
