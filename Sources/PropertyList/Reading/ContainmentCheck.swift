/// The check that no collection contains itself or is nested too deep, and that the keys of each
/// dictionary are strings, all different (invariants 4 and 5 of ``PropertyList``).
///
/// Each collection is entered once, however many refer to it, so a short list whose collections
/// share each other costs little. The stack is an array.
struct ContainmentCheck {
    /// What is known of an object: nothing yet, that it is on the stack, or its height.
    struct Mark: Equatable {
        /// How many levels of collections the object is, if it is known.
        let height: UInt32

        /// What is not a collection.
        static let scalar = Mark(height: 0)
        /// A collection that was not entered.
        ///
        /// No list has so many objects that its height could be this value or `open`.
        static let unvisited = Mark(height: .max - 1)
        /// A collection that holds the one at hand.
        static let open = Mark(height: .max)
    }

    /// The depth for which memory is reserved; hardly any list is deeper.
    private static let usualDepth = 8

    private struct Frame {
        let index: ObjectIndex
        let children: PropertyList.References
        var next = 0
        /// The height of the highest child so far.
        var height: UInt32 = 0
    }

    private let list: PropertyList
    private let depthLimit: Int
    private var marks: [Mark]
    /// The collections that hold the one at hand, the outermost first.
    private var stack: [Frame] = []
    private var keys = KeyCheck()

    /// Makes the check that comes after that of the table, which found what is a collection.
    init(after table: consuming TableCheck, depthLimit: Int) {
        list = table.list
        marks = table.marks
        self.depthLimit = depthLimit
        stack.reserveCapacity(Self.usualDepth)
    }

    mutating func run() throws(PropertyListError) {
        guard marks[list.root.position] == .unvisited else { return }
        var frame = try enter(list.root)
        while true {
            guard frame.next < frame.children.count else {
                let height = try close(frame)
                guard let parent = stack.popLast() else { return }
                frame = parent
                frame.height = max(frame.height, height)
                continue
            }
            let child = list.element(frame.next, of: frame.children)
            frame.next += 1
            switch marks[child.position] {
            case .unvisited:
                stack.append(frame)
                frame = try enter(child)
            case .open:
                throw .cycle(at: list.byteOffset(of: child))
            case let mark:
                frame.height = max(frame.height, mark.height)
            }
        }
    }

    /// Begins with a collection, which is the next level below the stack.
    private mutating func enter(_ index: ObjectIndex) throws(PropertyListError) -> Frame {
        let layout = list.layout(of: index)
        var children = PropertyList.References(start: layout.start, count: layout.count)
        if layout.kind == .dictionary {
            try keys.check(children, of: index, in: list)
            children = list.valueReferences(of: layout)
        }
        guard stack.count < depthLimit else {
            throw .tooDeep(limit: depthLimit, at: list.byteOffset(of: index))
        }
        marks[index.position] = .open
        return Frame(index: index, children: children)
    }

    /// Ends with a collection whose children are done: its height.
    private mutating func close(_ frame: Frame) throws(PropertyListError) -> UInt32 {
        let height = frame.height + 1
        guard height <= depthLimit else {
            throw .tooDeep(limit: depthLimit, at: list.byteOffset(of: frame.index))
        }
        marks[frame.index.position] = Mark(height: height)
        return height
    }
}
