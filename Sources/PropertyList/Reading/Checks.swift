/// Checks each object of the table once (invariants 1, 2 and 3 of ``PropertyList``).
struct TableCheck {
    let list: PropertyList
    /// How many bytes the remaining objects may take.
    private var room: Int
    /// The marks with which the walk over the collections starts.
    private(set) var marks: [ContainmentCheck.Mark] = []
    /// The largest of the UIDs.
    private(set) var largestUID: UInt64?

    init(of list: PropertyList) {
        self.list = list
        room = list.trailer.offsetTable - Trailer.header.count
        marks.reserveCapacity(list.objectCount)
    }

    mutating func run() throws(PropertyListError) {
        for index in list.indices {
            let offset = try checkedOffset(of: index)
            let layout = try list.layout(at: offset)
            try spend(layout, at: offset)
            try checkContent(of: layout)
            marks.append(layout.kind.isCollection ? .unvisited : .scalar)
        }
    }

    private func checkedOffset(of index: ObjectIndex) throws(PropertyListError) -> Int {
        let entry = list.offsetEntry(of: index)
        let offset = list.bytes.unsigned(at: entry, width: list.trailer.offsetWidth)
        guard offset >= Trailer.header.count, offset < list.trailer.offsetTable else {
            throw .offsetOutOfRange(at: entry, of: index.position)
        }
        return Int(offset)
    }

    /// Subtracts an object from the remaining room.
    ///
    /// Numbers count as one byte.
    private mutating func spend(_ layout: Layout, at offset: Int) throws(PropertyListError) {
        switch layout.kind {
        case .no, .yes, .integer, .real, .singleReal, .date, .uid: room -= 1
        case .data, .ascii, .utf16, .array, .orderedSet, .set, .dictionary: room -= 1 + layout.size
        }
        guard room >= 0 else { throw .overlap(at: offset) }
    }

    /// Checks the content: that ASCII is ASCII, and that references are in range.
    private mutating func checkContent(of layout: Layout) throws(PropertyListError) {
        switch layout.kind {
        case .ascii:
            try checkASCII(layout)
        case .array, .orderedSet, .set, .dictionary:
            try checkReferences(of: layout)
        case .uid:
            let uid = list.bytes.unsigned(at: layout.start, width: layout.count)
            largestUID = max(uid, largestUID ?? 0)
        case .no, .yes, .integer, .real, .singleReal, .date, .data, .utf16:
            break
        }
    }

    private func checkASCII(_ string: Layout) throws(PropertyListError) {
        let range = string.start..<string.start + string.count
        let content = list.bytes.span.extracting(range)
        // The bits of all bytes are combined first, which handles many bytes at a time.
        var bits: UInt8 = 0
        for position in content.indices { bits |= content[position] }
        guard bits >= 0x80 else { return }
        for offset in range where list.bytes[offset] >= 0x80 { throw .notASCII(at: offset) }
    }

    private func checkReferences(of collection: Layout) throws(PropertyListError) {
        let width = list.trailer.referenceWidth
        let end = collection.start + collection.size
        let offsets = stride(from: collection.start, to: end, by: width)
        // Finding the largest one first is faster than checking each.
        var largest: UInt64 = 0
        for offset in offsets {
            largest = max(largest, list.bytes.unsigned(at: offset, width: width))
        }
        guard largest >= list.objectCount else { return }
        for offset in offsets {
            let reference = list.bytes.unsigned(at: offset, width: width)
            guard reference < list.objectCount else {
                throw .referenceOutOfRange(reference, count: list.objectCount, at: offset)
            }
        }
    }
}

/// Checks that the keys of dictionaries are strings, and that no key is there twice.
///
/// Most keys differ in their length or last character, which is quick to see. Each of the other
/// keys is hashed once, even if many dictionaries share it. Only keys with the same hash are
/// compared in full. The hash has a new seed in each process, so nobody can make keys that collide.
struct KeyCheck {
    /// Up to this number, every key is compared with every other one, which needs no sorting.
    private static let pairwiseLimit = 16

    private struct Key {
        let index: ObjectIndex
        let range: PropertyList.StringRange
        let lastCodeUnit: UInt16
    }

    /// The hash of each object, or 0 if it was not needed yet.
    ///
    /// Empty before the first one.
    private var hashes: [Int] = []
    /// The keys of two dictionaries that passed the check: objects of one class share their keys.
    private var recent: (PropertyList.References?, PropertyList.References?)
    /// The keys of the current dictionary.
    ///
    /// A member, so its memory is reused.
    private var keys: [Key] = []

    init() {
        keys.reserveCapacity(Self.pairwiseLimit)
    }

    /// Checks the keys of the dictionary at `dictionary`.
    mutating func check(
        _ references: PropertyList.References, of dictionary: ObjectIndex, in list: PropertyList
    ) throws(PropertyListError) {
        if let keys = recent.0, list.areSame(keys, references) { return }
        if let keys = recent.1, list.areSame(keys, references) {
            recent = (recent.1, recent.0)
            return
        }
        keys.removeAll(keepingCapacity: true)
        for position in 0..<references.count {
            let index = list.element(position, of: references)
            guard let range = list.string(at: index) else {
                throw .keyIsNoString(at: list.byteOffset(of: dictionary))
            }
            let last = range.count > 0 ? list.codeUnit(range.count - 1, of: range) : 0
            keys.append(Key(index: index, range: range, lastCodeUnit: last))
        }
        let hasDuplicate =
            keys.count > Self.pairwiseLimit
            ? hasDuplicateSorted(in: list) : hasDuplicatePairwise(in: list)
        guard !hasDuplicate else { throw .duplicateKey(at: list.byteOffset(of: dictionary)) }
        recent = (references, recent.0)
    }

    private mutating func hasDuplicatePairwise(in list: PropertyList) -> Bool {
        for position in keys.indices {
            for earlier in 0..<position where areEqual(keys[position], keys[earlier], in: list) {
                return true
            }
        }
        return false
    }

    private mutating func hasDuplicateSorted(in list: PropertyList) -> Bool {
        let sorted = keys.map { (key: $0, hash: hash(of: $0, in: list)) }
            .sorted { $0.hash < $1.hash }
        return zip(sorted, sorted.dropFirst()).contains { areEqual($0.key, $1.key, in: list) }
    }

    private mutating func areEqual(
        _ left: Key, _ right: Key, in list: PropertyList
    ) -> Bool {
        guard left.range.count == right.range.count, left.lastCodeUnit == right.lastCodeUnit else {
            return false
        }
        return left.index == right.index
            || hash(of: left, in: list) == hash(of: right, in: list)
                && list.isEqual(left.range, to: right.range, in: list)
    }

    private mutating func hash(of key: Key, in list: PropertyList) -> Int {
        if hashes.isEmpty { hashes = Array(repeating: 0, count: list.objectCount) }
        let known = hashes[key.index.position]
        guard known == 0 else { return known }
        let hash = list.contentHash(of: key.range)
        hashes[key.index.position] = hash
        return hash
    }
}

extension PropertyList {
    /// A hash of a string's characters.
    ///
    /// An ASCII string has the same hash in either encoding.
    fileprivate func contentHash(of range: StringRange) -> Int {
        var hasher = Hasher()
        if range.isUTF16 {
            for position in 0..<range.count {
                let unit = codeUnit(position, of: range)
                if let byte = UInt8(exactly: unit), byte < 0x80 {
                    hasher.combine(byte)
                } else {
                    hasher.combine(unit)
                }
            }
        } else {
            // One call hashes all bytes. The pointer stays in the closure and within the string.
            bytes.withUnsafeBytes { bytes in
                let content = bytes[range.start..<range.start + range.count]
                hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: content))
            }
        }
        return hasher.finalize()
    }
}

/// Checks that no collection contains itself or is nested too deep, and that the keys of each
/// dictionary are distinct strings (invariants 4 and 5 of ``PropertyList``).
///
/// Each collection is entered once, even if many refer to it, so a short list whose collections
/// share each other costs little. The stack is an array.
struct ContainmentCheck {
    /// What is known of an object: nothing yet, or that it is on the stack, or its height.
    struct Mark: Equatable {
        /// How many levels of collections the object has, if that is known.
        let height: UInt32

        /// An object that is not a collection.
        static let scalar = Mark(height: 0)
        /// A collection that was not entered yet.
        ///
        /// No list has enough objects for a height to reach this value or `open`.
        static let unvisited = Mark(height: .max - 1)
        /// A collection that contains the current one.
        static let open = Mark(height: .max)
    }

    /// The depth for which memory is reserved; few lists are deeper.
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
    /// The collections that contain the current one, the outermost first.
    private var stack: [Frame] = []
    private var keys = KeyCheck()

    /// Makes the check that follows the check of the table, which has found the collections.
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

    /// Enters a collection, which is one level below the top of the stack.
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

    /// Leaves a collection whose children are done, and returns its height.
    private mutating func close(_ frame: Frame) throws(PropertyListError) -> UInt32 {
        let height = frame.height + 1
        guard height <= depthLimit else {
            throw .tooDeep(limit: depthLimit, at: list.byteOffset(of: frame.index))
        }
        marks[frame.index.position] = Mark(height: height)
        return height
    }
}
