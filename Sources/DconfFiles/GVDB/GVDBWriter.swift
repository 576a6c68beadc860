internal import DefaultsProtocol

/// A table to be written to a GVDB file.
struct GVDBContents {
    enum Content {
        /// A value, in the form of a variant.
        case value([UInt8])
        case table(GVDBContents)
        /// The items whose names begin with this item's name.
        case list([Int])
    }

    struct Item {
        let name: [UInt8]
        /// The item whose name begins this item's name.
        let parent: Int?
        var content: Content
    }

    private(set) var items: [Item] = []

    /// Adds an item.
    ///
    /// - Returns: Its number, for lists and parents.
    mutating func add(_ name: [UInt8], below parent: Int? = nil, _ content: Content) -> Int {
        items.append(Item(name: name, parent: parent, content: content))
        return items.count - 1
    }

    /// Adds an item to the list of its parent.
    mutating func list(_ item: Int, in parent: Int) {
        guard case .list(var children) = items[parent].content else { return }
        // The old list is released first, so that appending does not copy it.
        items[parent].content = .list([])
        children.append(item)
        items[parent].content = .list(children)
    }
}

/// Writes a GVDB file.
struct GVDBWriter {
    private var bytes: [UInt8]

    /// The bytes of a file with these contents.
    static func file(of contents: GVDBContents) throws(GVDBError) -> [UInt8] {
        var writer = GVDBWriter()
        let root = try writer.write(contents)
        guard writer.bytes.count <= GVDBTable.maximumSize else { throw .tooLarge }
        writer.set(root, at: 16)
        return writer.bytes
    }

    /// The version and the options are 0.
    private init() {
        bytes = GVDBFormat.signature
        bytes += Array(repeating: 0, count: GVDBFormat.headerSize - bytes.count)
    }

    /// Writes a table, and after it the names and contents of its items.
    ///
    /// - Returns: Where the table is.
    private mutating func write(_ contents: GVDBContents) throws(GVDBError) -> Range<Int> {
        let order = ItemOrder(contents)
        let count = contents.items.count
        let start = reserve(
            GVDBFormat.tableHeaderSize + 4 * count + GVDBFormat.itemSize * count, alignment: 4)
        let table = start..<bytes.count
        set(GVDBFormat.noBloomWords, at: start)
        set(UInt32(count), at: start + 4)
        for (bucket, first) in order.buckets.enumerated() {
            set(UInt32(first), at: start + GVDBFormat.tableHeaderSize + 4 * bucket)
        }
        let items = start + GVDBFormat.tableHeaderSize + 4 * count
        for (place, number) in order.numbers.enumerated() {
            try write(
                contents.items[number], hash: order.hashes[number], order.places,
                at: items + GVDBFormat.itemSize * place)
        }
        return table
    }

    private mutating func write(
        _ item: GVDBContents.Item, hash: UInt32, _ places: [Int], at offset: Int
    ) throws(GVDBError) {
        guard let length = UInt16(exactly: item.name.count), bytes.count <= GVDBTable.maximumSize
        else { throw .tooLarge }
        set(hash, at: offset)
        set(item.parent.map { UInt32(places[$0]) } ?? GVDBFormat.noParent, at: offset + 4)
        set(UInt32(bytes.count), at: offset + 8)
        set(UInt32(length), at: offset + 12)
        bytes += item.name
        bytes[offset + 14] = item.content.kind.rawValue
        set(try write(item.content, places), at: offset + 16)
    }

    private mutating func write(
        _ content: GVDBContents.Content, _ places: [Int]
    ) throws(GVDBError) -> Range<Int> {
        switch content {
        case .value(let value):
            let start = reserve(0, alignment: 8)
            bytes += value
            return start..<bytes.count
        case .table(let table): return try write(table)
        case .list(let children):
            let start = reserve(4 * children.count, alignment: 4)
            for (position, child) in children.enumerated() {
                set(UInt32(places[child]), at: start + 4 * position)
            }
            return start..<bytes.count
        }
    }

    /// Appends zeros.
    ///
    /// - Returns: The beginning of the last `count` of them, which is aligned.
    private mutating func reserve(_ count: Int, alignment: Int) -> Int {
        let start = bytes.count.aligned(to: alignment)
        bytes += Array(repeating: 0, count: start + count - bytes.count)
        return start
    }

    /// Sets a number.
    ///
    /// All are below the largest size of a file, or are checked.
    private mutating func set(_ number: UInt32, at offset: Int) {
        for position in 0..<4 {
            bytes[offset + position] = UInt8(truncatingIfNeeded: number >> (8 * UInt32(position)))
        }
    }

    private mutating func set(_ range: Range<Int>, at offset: Int) {
        set(UInt32(truncatingIfNeeded: range.lowerBound), at: offset)
        set(UInt32(truncatingIfNeeded: range.upperBound), at: offset + 4)
    }
}

extension GVDBContents.Content {
    fileprivate var kind: GVDBTable.Kind {
        switch self {
        case .value: .value
        case .table: .table
        case .list: .list
        }
    }
}

/// The order of the items of a table: by bucket, of which there are as many as items.
private struct ItemOrder {
    let hashes: [UInt32]
    /// The numbers of the items in the order of the file.
    let numbers: [Int]
    /// The place of each item in that order.
    let places: [Int]
    /// The place of the first item of each bucket, or of a later one.
    let buckets: [Int]

    init(_ contents: GVDBContents) {
        var hashes: [UInt32] = []
        for item in contents.items {
            // A parent comes before its children. Its hash is that of the beginning of their names.
            let start = item.parent.map { hashes[$0] } ?? GVDBFormat.hash(of: [])
            hashes.append(GVDBFormat.hash(of: item.name, after: start))
        }
        let count = hashes.count
        var counts = Array(repeating: 0, count: count)
        for hash in hashes { counts[Int(hash) % count] += 1 }
        var end = 0
        let buckets = counts.map { count in
            defer { end += count }
            return end
        }
        var next = buckets
        var numbers = Array(repeating: 0, count: count)
        let places = hashes.indices.map { number in
            let bucket = Int(hashes[number]) % count
            defer { next[bucket] += 1 }
            numbers[next[bucket]] = number
            return next[bucket]
        }
        (self.hashes, self.numbers, self.places, self.buckets) = (hashes, numbers, places, buckets)
    }
}
