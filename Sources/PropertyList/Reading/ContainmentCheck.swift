/// The check that no collection contains itself or is nested too deep, and that the keys of each
/// dictionary are strings, all different (invariants 4 and 5 of ``PropertyList``).
///
/// Each collection is entered once, however many refer to it, so that a short list whose collections
/// share each other is no work; the stack is an array.
struct ContainmentCheck {
    private static let unvisited: UInt32 = 0
    private static let open = UInt32.max

    private struct Frame {
        let index: ObjectIndex
        let children: PropertyList.References
        var next = 0
        /// The height of the highest child so far.
        var height: UInt32 = 0
    }

    private let list: PropertyList
    private let depthLimit: Int
    /// For each object: not visited, on the stack, or how many levels of collections it is.
    private var heights: [UInt32]
    private var stack: [Frame] = []
    private var keys: KeyCheck

    init(of list: PropertyList, depthLimit: Int) {
        self.list = list
        self.depthLimit = depthLimit
        heights = Array(repeating: Self.unvisited, count: list.objectCount)
        keys = KeyCheck(of: list)
    }

    mutating func run() throws(PropertyListError) {
        if list.isCollection(list.root) { try enter(list.root) }
        while var frame = stack.popLast() {
            if frame.next == frame.children.count {
                try close(frame)
                continue
            }
            let child = list.element(frame.next, of: frame.children)
            frame.next += 1
            switch heights[child.position] {
            case Self.unvisited:
                stack.append(frame)
                if list.isCollection(child) { try enter(child) }
            case Self.open:
                throw .cycle(at: list.byteOffset(of: child))
            case let height:
                frame.height = max(frame.height, height)
                stack.append(frame)
            }
        }
    }

    /// Puts a collection on the stack.
    private mutating func enter(_ index: ObjectIndex) throws(PropertyListError) {
        switch list.value(at: index) {
        case .array(let elements), .orderedSet(let elements), .set(let elements):
            try push(index, elements)
        case .dictionary(let keys, let values):
            try self.keys.check(keys, of: index)
            try push(index, values)
        case .boolean, .integer, .real, .singleReal, .date, .data, .string, .uid:
            preconditionFailure("A scalar has no elements to check.")
        }
    }

    private mutating func push(
        _ index: ObjectIndex, _ children: PropertyList.References
    ) throws(PropertyListError) {
        guard stack.count < depthLimit else {
            throw .tooDeep(limit: depthLimit, at: list.byteOffset(of: index))
        }
        heights[index.position] = Self.open
        stack.append(Frame(index: index, children: children))
    }

    private mutating func close(_ frame: Frame) throws(PropertyListError) {
        let height = frame.height + 1
        guard height <= depthLimit else {
            throw .tooDeep(limit: depthLimit, at: list.byteOffset(of: frame.index))
        }
        heights[frame.index.position] = height
        if var parent = stack.popLast() {
            parent.height = max(parent.height, height)
            stack.append(parent)
        }
    }
}
