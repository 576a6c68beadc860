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
