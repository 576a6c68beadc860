/// Numbers in the files of SQLite stand highest byte first.
extension RandomAccessCollection where Element == UInt8, Index == Int {
    /// The number of two bytes at an offset; nil past the end.
    func uint16(at offset: Int) -> Int? {
        number(at: offset, bytes: 2)
    }

    /// The number of four bytes at an offset; nil past the end.
    func uint32(at offset: Int) -> Int? {
        number(at: offset, bytes: 4)
    }

    /// A number of variable length, of 64 bits, and the bytes that it takes; nil past the end.
    ///
    /// See [the variable-length integers](https://www.sqlite.org/fileformat2.html#varint).
    func varint(at offset: Int) -> (value: Int64, length: Int)? {
        var value: UInt64 = 0
        for index in 0..<9 {
            let place = offset + index
            guard indices.contains(place) else { return nil }
            if index == 8 {
                return (Int64(bitPattern: value << 8 | UInt64(self[place])), 9)
            }
            value = value << 7 | UInt64(self[place] & 0x7F)
            if self[place] & 0x80 == 0 { return (Int64(bitPattern: value), index + 1) }
        }
        return nil
    }

    private func number(at offset: Int, bytes count: Int) -> Int? {
        guard offset >= startIndex, offset <= endIndex - count else { return nil }
        return self[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }
}
