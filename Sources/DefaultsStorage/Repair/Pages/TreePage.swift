internal import SystemCalls

/// A page of a b-tree.
///
/// Its header may be wrong about its cells.
///
/// See [B-tree pages](https://www.sqlite.org/fileformat2.html#b_tree_pages).
struct TreePage {
    enum Kind: UInt8 {
        case indexInterior = 2
        case tableInterior = 5
        case indexLeaf = 10
        case tableLeaf = 13

        var isIndex: Bool { self == .indexInterior || self == .indexLeaf }
        var isInterior: Bool { self == .indexInterior || self == .tableInterior }
    }

    /// A cell with a record.
    struct Cell {
        /// The number of a row of a table; 0 in an index.
        let row: Int64
        /// The size of the whole record.
        let length: Int
        /// The part of the record that is in the page.
        let local: ArraySlice<UInt8>
        /// The first page with the rest; 0 if there is none.
        let overflow: Int

        /// Whether the record has a valid beginning.
        var hasHeader: Bool { RecordHeader(of: local, length: length) != nil }
    }

    let kind: Kind
    private let bytes: [UInt8]
    private let size: PageSize
    private let header: Int

    /// The largest record: the largest pending archive with its key.
    private static let largestRecord = 65 << 20

    /// Parses a page; nil if it is not a page of a tree.
    ///
    /// - Parameter number: The number of the page. In the first page, the header of the file comes
    ///   before its own header.
    init?(_ bytes: [UInt8], number: Int, size: PageSize) {
        header = number == 1 ? 100 : 0
        guard bytes.count == size.whole, let kind = Kind(rawValue: bytes[header]) else {
            return nil
        }
        self.kind = kind
        self.bytes = bytes
        self.size = size
    }

    /// Treats a page as a leaf of a table, whatever its header says.
    init(leaf bytes: [UInt8], number: Int, size: PageSize) {
        header = number == 1 ? 100 : 0
        kind = .tableLeaf
        self.bytes = bytes
        self.size = size
    }

    /// The positions of the cells, according to the page.
    ///
    /// Each place is given once, because no two cells begin at the same place.
    var pointers: Set<Int> {
        let count = bytes.uint16(at: header + 3) ?? 0
        let first = header + (kind.isInterior ? 12 : 8)
        return Set((0..<count).map { bytes.uint16(at: first + 2 * $0) ?? 0 })
    }

    /// The child pages; none for a leaf.
    var children: [Int] {
        guard kind.isInterior else { return [] }
        let last = bytes.uint32(at: header + 8)
        return pointers.compactMap { bytes.uint32(at: $0) } + (last.map { [$0] } ?? [])
    }

    /// Every position where a cell might begin.
    var places: Range<Int> { header + 8..<bytes.count }

    /// The cell at a position; nil if there is no record.
    func cell(at place: Int) -> Cell? {
        guard kind != .tableInterior else { return nil }
        var offset = kind == .indexInterior ? place + 4 : place
        guard offset >= header + 8, let length = bytes.varint(at: offset),
            let whole = Int(exactly: length.value),
            (1...TreePage.largestRecord).contains(whole)
        else { return nil }
        offset += length.length
        var row: Int64 = 0
        if kind == .tableLeaf {
            guard let number = bytes.varint(at: offset) else { return nil }
            row = number.value
            offset += number.length
        }
        let local = size.local(
            of: whole, largest: kind.isIndex ? size.largestInIndex : size.largestInTable)
        guard offset <= bytes.count - local else { return nil }
        var overflow = 0
        if local < whole {
            guard let page = bytes.uint32(at: offset + local), page > 0 else { return nil }
            overflow = page
        }
        return Cell(
            row: row, length: whole, local: bytes[offset..<offset + local], overflow: overflow)
    }
}

extension StorePages {
    /// The record of a cell, assembled from all its pages; nil if it is not a record.
    ///
    /// - Returns: The record, and its overflow pages.
    func record(
        of cell: TreePage.Cell
    ) throws(SystemError) -> (record: StoreRecord, overflow: [Int])? {
        // Checked before the rest is read, because the length may be wrong.
        let rest = cell.length - cell.local.count
        let room = pageSize.whole - 4
        guard cell.hasHeader, takeOverflow((rest + room - 1) / room) else { return nil }
        var bytes = Array(cell.local)
        var overflow: [Int] = []
        var next = cell.overflow
        while bytes.count < cell.length {
            // At most as many pages are read as the length needs, whatever the links say.
            guard let page = try read(next)?.bytes, let link = page.uint32(at: 0) else {
                return nil
            }
            bytes += page.dropFirst(4).prefix(cell.length - bytes.count)
            overflow.append(next)
            next = link
        }
        return StoreRecord(decoding: bytes).map { ($0, overflow) }
    }
}

/// A record of a table or an index, decoded without the schema.
///
/// See [the record format](https://www.sqlite.org/fileformat2.html#record_format).
struct StoreRecord {
    enum Column: Equatable {
        case null
        case integer(Int64)
        case text(String)
        case blob([UInt8])
        /// A number with a fraction, or text that is not UTF-8: nothing that a store has.
        case other
    }

    let columns: [Column]

    /// Decodes a complete record; nil if the bytes are not a record.
    init?(decoding bytes: [UInt8]) {
        guard let header = RecordHeader(of: bytes[...], length: bytes.count) else { return nil }
        var place = header.size
        columns = header.types.map { type in
            defer { place += type.length }
            return type.column(bytes[place..<place + type.length])
        }
    }
}

/// The header of a record: the type of each column.
struct RecordHeader {
    /// The size of the header itself.
    let size: Int
    let types: [SerialType]

    /// The most columns that a record of the store has, with some to spare.
    private static let mostColumns = 16

    /// Decodes the header at the beginning of some bytes; nil if it does not fit a record of that
    /// length.
    init?(of bytes: ArraySlice<UInt8>, length: Int) {
        let start = bytes.startIndex
        guard let header = bytes.varint(at: start), let size = Int(exactly: header.value),
            (1...bytes.count).contains(size)
        else { return nil }
        var types: [SerialType] = []
        var place = header.length
        var whole = size
        while place < size {
            guard types.count < RecordHeader.mostColumns,
                let number = bytes.varint(at: start + place),
                let type = SerialType(number.value)
            else { return nil }
            types.append(type)
            place += number.length
            whole += type.length
        }
        guard place == size, whole == length else { return nil }
        self.size = size
        self.types = types
    }
}

/// The type of a column, with its size.
struct SerialType {
    private let number: Int64
    /// The bytes of the value.
    let length: Int

    private static let longest: Int64 = 1 << 31

    /// Takes a number; nil if no type has it.
    init?(_ number: Int64) {
        switch number {
        case 0, 8, 9: length = 0
        case 1...4: length = Int(number)
        case 5: length = 6
        case 6, 7: length = 8
        case 12...SerialType.longest: length = Int(number - 12) / 2
        default: return nil
        }
        self.number = number
    }

    /// The value of bytes of this length.
    func column(_ bytes: ArraySlice<UInt8>) -> StoreRecord.Column {
        switch number {
        case 0: return .null
        case 8: return .integer(0)
        case 9: return .integer(1)
        case 7: return .other
        case 1...6:
            let isNegative = bytes.first.map { $0 & 0x80 != 0 } ?? false
            return .integer(bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) })
        case _ where number % 2 == 0: return .blob(Array(bytes))
        default: return String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .other
        }
    }
}
