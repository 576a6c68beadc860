/// The bytes of a property list.
///
/// Their number is known before the first one is written.
struct Output {
    private var bytes: [UInt8]
    private let offsetWidth: Int
    /// The position for the next byte of an object.
    private var end = 0
    /// The position for the next entry of the offset table.
    private var tableEnd: Int

    init(size: Int, table: Int, offsetWidth: Int) {
        bytes = Array(repeating: 0, count: size)
        tableEnd = table
        self.offsetWidth = offsetWidth
        append(Trailer.header, Trailer.header.indices)
    }

    /// Writes where an object begins into the offset table.
    mutating func beginObject() {
        write(UInt64(end), width: offsetWidth, at: tableEnd)
        tableEnd += offsetWidth
    }

    mutating func append(_ content: [UInt8], _ range: Range<Int>) {
        let start = end
        end += range.count
        var bytes = bytes.mutableSpan
        let content = content.span
        for offset in 0..<range.count { bytes[start + offset] = content[range.lowerBound + offset] }
    }

    /// Appends the marker of a collection, with the count in it or after it.
    mutating func append(type: UInt8, count: Int) {
        append(UInt32(type << 4 | UInt8(min(count, 15))), width: 1)
        guard count >= 15 else { return }
        let width = UInt64(count).byteWidth
        append(UInt32(0x10 | width.trailingZeroBitCount), width: 1)
        write(UInt64(count), width: width, at: end)
        end += width
    }

    /// How many bytes these are.
    static func markerSize(count: Int) -> Int {
        count < 15 ? 1 : 2 + UInt64(count).byteWidth
    }

    mutating func append(_ number: UInt32, width: Int) {
        guard width > 1 else {
            bytes[end] = UInt8(truncatingIfNeeded: number)
            end += 1
            return
        }
        write(UInt64(number), width: width, at: end)
        end += width
    }

    /// Writes the trailer after the offset table, which is complete.
    consuming func finish(_ trailer: Trailer) -> [UInt8] {
        precondition(end == trailer.offsetTable, "The objects do not have the announced size.")
        bytes[tableEnd + 6] = UInt8(trailer.offsetWidth)
        bytes[tableEnd + 7] = UInt8(trailer.referenceWidth)
        write(UInt64(trailer.objectCount), width: 8, at: tableEnd + 8)
        write(UInt64(trailer.offsetTable), width: 8, at: tableEnd + 24)
        return bytes
    }

    private mutating func write(_ number: UInt64, width: Int, at start: Int) {
        var bytes = bytes.mutableSpan
        for position in 0..<width {
            bytes[start + position] = UInt8(
                truncatingIfNeeded: number >> (8 * (width - 1 - position)))
        }
    }
}
