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

    /// Decodes a record that is whole; nil where the bytes are none.
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
    /// The bytes that it takes itself.
    let size: Int
    let types: [SerialType]

    /// The most columns that a record of the store has, with some to spare.
    private static let mostColumns = 16

    /// Decodes the header at the beginning of some bytes; nil where it is none of a record that long.
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

    /// Takes a number; nil where it is that of no type.
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

    /// The value that stands in bytes of this length.
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
