/// The check of every object of the table, each looked at once (invariants 1, 2 and 3 of
/// ``PropertyList``).
struct TableCheck {
    let list: PropertyList
    /// How many bytes the objects not yet looked at may take.
    private var room: Int
    /// The marks that the walk over the collections begins with.
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

    /// Takes an object from the room there is; numbers count as their markers alone.
    private mutating func spend(_ layout: Layout, at offset: Int) throws(PropertyListError) {
        switch layout.kind {
        case .no, .yes, .integer, .real, .singleReal, .date, .uid: room -= 1
        case .data, .ascii, .utf16, .array, .orderedSet, .set, .dictionary: room -= 1 + layout.size
        }
        guard room >= 0 else { throw .overlap(at: offset) }
    }

    /// Checks what an object says beyond its extent: that ASCII is ASCII, and its references.
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
        // All bits together first, which takes many bytes at a time.
        var bits: UInt8 = 0
        for position in content.indices { bits |= content[position] }
        guard bits >= 0x80 else { return }
        for offset in range where list.bytes[offset] >= 0x80 { throw .notASCII(at: offset) }
    }

    private func checkReferences(of collection: Layout) throws(PropertyListError) {
        let width = list.trailer.referenceWidth
        let end = collection.start + collection.size
        let offsets = stride(from: collection.start, to: end, by: width)
        // The largest first, which is quicker than to decide on each.
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

/// The check that the keys of dictionaries are strings, all different.
///
/// Keys differ nearly always in their length or their last character, which is seen at once. Of
/// those that do not, each is hashed once, however many dictionaries share it, and only keys of the
/// same hash are read against each other. The hash has a new seed in each process, so nobody can
/// make keys that collide.
struct KeyCheck {
    /// Up to this number, all keys are compared with each other, which needs no sorting.
    private static let pairwiseLimit = 16

    private struct Key {
        let index: ObjectIndex
        let range: PropertyList.StringRange
        let lastCodeUnit: UInt16
    }

    /// The hash of each object whose hash was asked for, else 0; empty before the first one.
    private var hashes: [Int] = []
    /// The keys of two dictionaries that were found right: those of one class share them.
    private var recent: (PropertyList.References?, PropertyList.References?)
    /// The keys of the dictionary at hand; kept to be filled again.
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
    /// A hash of a string's characters: that of an ASCII string is the same in either encoding.
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
            // All bytes go in at once; the pointer stays in the closure and within the string.
            bytes.withUnsafeBytes { bytes in
                let content = bytes[range.start..<range.start + range.count]
                hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: content))
            }
        }
        return hasher.finalize()
    }
}

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
