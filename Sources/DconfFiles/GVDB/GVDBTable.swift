package import DefaultsProtocol

/// A table of a GVDB file: names, each with a value, another table or a list.
///
/// dconf stores its databases in this format, and GLib compiles schemas into it. A name is looked up
/// by its hash, without reading the other items.
///
/// Invariants
///
/// 1. The bloom words, the buckets and the items are within the file. Everything that they refer to
///    is checked when it is used.
/// 2. What a wrong file costs is bounded: the depth of tables, and the length and the number of
///    parents of a name.
package struct GVDBTable: Sendable {
    /// What an item has.
    package enum Kind: UInt8, Sendable {
        /// A value.
        case value = 0x76  // v
        /// Another table.
        case table = 0x48  // H
        /// The items whose names begin with the item's name.
        case list = 0x4C  // L
    }

    /// The most bytes of a file.
    package static let maximumSize = 64 << 20
    /// The most bytes of a name.
    package static let maximumNameLength = 4096
    static let maximumDepth = 4

    private let file: GVDBBytes
    private let depth: Int
    private let buckets: Range<Int>
    private let items: Range<Int>

    /// Opens the outermost table of a file.
    package init(_ bytes: [UInt8]) throws(GVDBError) {
        guard bytes.count <= Self.maximumSize else { throw .tooLarge }
        let file = GVDBBytes(bytes)
        try self.init(file, try file.root(), depth: 0)
    }

    private init(_ file: GVDBBytes, _ range: Range<Int>, depth: Int) throws(GVDBError) {
        guard depth < Self.maximumDepth else { throw .depth }
        guard range.count >= GVDBFormat.tableHeaderSize else { throw .table(at: range.lowerBound) }
        let words = file.number(range.lowerBound) & GVDBFormat.bloomCountMask
        let first = range.lowerBound + GVDBFormat.tableHeaderSize + 4 * Int(words)
        let end = first + 4 * Int(file.number(range.lowerBound + 4))
        guard end <= range.upperBound,
            (range.upperBound - end).isMultiple(of: GVDBFormat.itemSize)
        else { throw .table(at: range.lowerBound) }
        (self.file, self.depth) = (file, depth)
        (buckets, items) = (first..<end, end..<range.upperBound)
    }

    /// The number of items.
    package var count: Int { items.count / GVDBFormat.itemSize }

    /// Whether the bytes of a text are anywhere in the file.
    func contains(_ text: String) -> Bool {
        file.bytes.contains(text: text)
    }

    /// The items in the order of the file.
    package var indices: Range<Int> { 0..<count }

    /// The item of a name; nil if there is none that can be read.
    package func item(named name: String) -> Int? {
        let bucketCount = buckets.count / 4
        guard bucketCount > 0 else { return nil }
        let hash = GVDBFormat.hash(of: name.utf8)
        let bucket = Int(hash) % bucketCount
        let first = min(count, Int(file.number(buckets.lowerBound + 4 * bucket)))
        let next = bucket + 1 < bucketCount ? buckets.lowerBound + 4 * (bucket + 1) : nil
        let last = next.map { min(count, Int(file.number($0))) } ?? count
        guard first < last else { return nil }
        return (first..<last).first { item in
            hashOfItem(item) == hash
                && (try? self.name(of: item))?.utf8.elementsEqual(name.utf8) == true
        }
    }
}

// MARK: Items

extension GVDBTable {
    /// The place of an item, which the caller has from this table.
    private func place(of item: Int) -> Int {
        items.lowerBound + item * GVDBFormat.itemSize
    }

    private func hashOfItem(_ item: Int) -> UInt32 { file.number(place(of: item)) }

    /// What an item has; nil if the kind is not known.
    package func kind(of item: Int) -> Kind? {
        guard indices.contains(item) else { return nil }
        return Kind(rawValue: file.byte(place(of: item) + 14))
    }

    /// The whole name of an item: the parts of its parents, the farthest first, and its own.
    package func name(of item: Int) throws(GVDBError) -> String {
        let bytes = try nameBytes(of: item)
        guard let name = String(validating: bytes, as: UTF8.self) else { throw .name(item: item) }
        return name
    }

    /// The bytes of the name, which may be no text.
    func nameBytes(of item: Int) throws(GVDBError) -> [UInt8] {
        var parts: [Range<Int>] = []
        var length = 0
        var next: Int? = item
        while let current = next {
            guard indices.contains(current) else { throw .place("a parent", at: place(of: item)) }
            let place = place(of: current)
            let start = Int(file.number(place + 8))
            let part = try file.range(start..<(start + file.shortNumber(place + 12)), "a name")
            length += part.count
            let parent = file.number(place + 4)
            next = parent == GVDBFormat.noParent ? nil : Int(parent)
            // Only the farthest parent is empty in files of GLib. So there are no more parts than
            // bytes, and a circle ends here.
            guard !part.isEmpty || next == nil, length <= Self.maximumNameLength else {
                throw .name(item: item)
            }
            parts.append(part)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length)
        for part in parts.reversed() { bytes += file.bytes[part] }
        return bytes
    }

    /// The bytes of the name, whose hash the file has, too.
    func checkedNameBytes(of item: Int) throws(GVDBError) -> [UInt8] {
        let name = try nameBytes(of: item)
        guard GVDBFormat.hash(of: name) == hashOfItem(item) else { throw .name(item: item) }
        return name
    }

    /// Where the file says where the content of an item is.
    func placeOfContent(of item: Int) -> Int { place(of: item) + 16 }

    /// Where the content of an item is, if it has the given kind.
    private func content(
        of item: Int, _ kind: Kind, alignment: Int
    ) throws(GVDBError) -> Range<Int> {
        guard self.kind(of: item) == kind else { throw .kind(item: item) }
        return try file.pointer(place(of: item) + 16, alignment: alignment, "a content")
    }

    /// The number of bytes of an item's value; nil if it is not a value in the file.
    func valueSize(of item: Int) -> Int? {
        try? content(of: item, .value, alignment: 8).count
    }

    /// The bytes of an item's value, which have the form of a variant if the file is right.
    func bytes(of item: Int) throws(GVDBError) -> ArraySlice<UInt8> {
        file.bytes[try content(of: item, .value, alignment: 8)]
    }

    /// The value of an item.
    package func value(of item: Int) throws(GVDBError) -> ExactValue {
        let range = try content(of: item, .value, alignment: 8)
        do throws(GVariantError) {
            let value = try ExactValue(gvariant: file.bytes[range], as: .variant)
            guard case .variant(let content) = value.content else { throw .mismatch(.variant) }
            return content
        } catch {
            throw .value(error)
        }
    }

    /// The table of an item.
    package func table(of item: Int) throws(GVDBError) -> GVDBTable {
        let range = try content(of: item, .table, alignment: 4)
        return try GVDBTable(file, range, depth: depth + 1)
    }
}
