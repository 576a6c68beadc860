import Wording

/// The trailer of a binary property list: its last 32 bytes, which say where everything is.
///
/// The layout is that of `CFBinaryPlistTrailer` in
/// [ForFoundationOnly.h](https://github.com/apple-oss-distributions/CF/blob/main/ForFoundationOnly.h):
/// six unused bytes, the two widths, then three big-endian 64-bit numbers.
struct Trailer: Sendable {
    /// "bplist00".
    static let header: [UInt8] = Array("bplist00".utf8)
    static let size = 32

    /// The width of an entry of the offset table, in bytes.
    let offsetWidth: Int
    /// The width of a reference in a collection, in bytes.
    let referenceWidth: Int
    let objectCount: Int
    let root: ObjectIndex
    /// Where the offset table begins, which is where the objects end.
    let offsetTable: Int

    /// Reads the trailer and checks that it fits the bytes and the limits.
    init(of bytes: [UInt8], limits: PropertyList.Limits) throws(PropertyListError) {
        try Self.checkHeader(of: bytes, limits: limits)
        let start = bytes.count - Self.size
        let (offsetWidth, referenceWidth) = (bytes[start + 6], bytes[start + 7])
        guard (1...8).contains(offsetWidth), (1...8).contains(referenceWidth) else {
            throw .badTrailer(at: start + 6, "offsets and references are 1 to 8 bytes wide")
        }
        let objectCount = bytes.unsigned(at: start + 8, width: 8)
        let root = bytes.unsigned(at: start + 16, width: 8)
        let offsetTable = bytes.unsigned(at: start + 24, width: 8)

        guard offsetTable > Self.header.count, offsetTable < start else {
            throw .badTrailer(at: start + 24, "the offset table is outside the file")
        }
        guard objectCount > 0, objectCount <= offsetTable - UInt64(Self.header.count) else {
            throw .badTrailer(
                at: start + 8, "the file has no room for \(counted(objectCount, "object"))")
        }
        guard objectCount <= limits.objectCount, objectCount < UInt32.max - 1 else {
            throw .tooManyObjects(objectCount, limit: limits.objectCount, at: start + 8)
        }
        guard UInt64(start) - offsetTable >= objectCount * UInt64(offsetWidth) else {
            throw .badTrailer(at: start + 24, "the offset table overlaps the trailer")
        }
        guard root < objectCount else {
            throw .badTrailer(at: start + 16, "the root is object \(root) of \(objectCount)")
        }
        guard Self.fits(objectCount, width: referenceWidth),
            Self.fits(offsetTable, width: offsetWidth)
        else {
            throw .badTrailer(at: start + 6, "offsets or references are too narrow for the file")
        }
        self.offsetWidth = Int(offsetWidth)
        self.referenceWidth = Int(referenceWidth)
        self.objectCount = Int(objectCount)
        self.root = ObjectIndex(number: UInt32(root))
        self.offsetTable = Int(offsetTable)
    }

    /// Makes the trailer of a list whose root comes first.
    init(offsetWidth: Int, referenceWidth: Int, objectCount: Int, offsetTable: Int) {
        self.offsetWidth = offsetWidth
        self.referenceWidth = referenceWidth
        self.objectCount = objectCount
        self.offsetTable = offsetTable
        root = ObjectIndex(number: 0)
    }

    private static func checkHeader(
        of bytes: [UInt8], limits: PropertyList.Limits
    ) throws(PropertyListError) {
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= limits.byteCount else {
            throw .tooLarge(byteCount: bytes.count, limit: limits.byteCount)
        }
        if let difference = zip(bytes, header).enumerated().first(where: { $1.0 != $1.1 }) {
            throw isXML(bytes) ? .xml : .badHeader(at: difference.offset)
        }
        // The smallest list: the header, an object of one byte, its offset, the trailer.
        guard bytes.count >= header.count + 2 + size else {
            throw .truncated(byteCount: bytes.count)
        }
    }

    /// Whether the bytes begin like XML, after an optional byte order mark and white space.
    private static func isXML(_ bytes: [UInt8]) -> Bool {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
        let start = text.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        return ["<?xml", "<!DOCTYPE", "<plist"].contains { start.starts(with: $0.utf8) }
    }

    /// Whether `width` bytes can hold all numbers up to `count`, as CoreFoundation requires.
    private static func fits(_ count: UInt64, width: UInt8) -> Bool {
        width == 8 || count < 1 << (8 * UInt64(width))
    }
}

extension [UInt8] {
    /// The big-endian number of `width` bytes (at most 8) at an offset that was already checked.
    func unsigned(at offset: Int, width: Int) -> UInt64 {
        // Nearly all numbers take one byte.
        width == 1 ? UInt64(self[offset]) : wideUnsigned(at: offset, width: width)
    }

    private func wideUnsigned(at offset: Int, width: Int) -> UInt64 {
        // Loads from a span are bounds-checked, like all others.
        let bytes = span.bytes
        switch width {
        case 2:
            return UInt64(bytes.bigEndian(UInt16.self, at: offset))
        case 4:
            return UInt64(bytes.bigEndian(UInt32.self, at: offset))
        case 8:
            return bytes.bigEndian(UInt64.self, at: offset)
        default:
            var result: UInt64 = 0
            for position in offset..<offset + width {
                result = result << 8 | UInt64(self[position])
            }
            return result
        }
    }
}

extension RawSpan {
    @inline(__always)
    fileprivate func bigEndian<Integer: FixedWidthInteger & BitwiseCopyable>(
        _: Integer.Type, at offset: Int
    ) -> Integer {
        // The load is only unsafe for types with invalid bit patterns; integers have none.
        Integer(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: Integer.self))
    }
}

/// What the first bytes of an object say: its type, and the position and size of its content.
struct Layout {
    enum Kind {
        case no, yes
        case integer
        case real, singleReal
        case date
        case data
        case ascii, utf16
        case uid
        case array, orderedSet, set, dictionary

        var isCollection: Bool {
            switch self {
            case .array, .orderedSet, .set, .dictionary: true
            case .no, .yes, .integer, .real, .singleReal, .date, .data, .ascii, .utf16, .uid: false
            }
        }
    }

    let kind: Kind
    /// Where the content begins.
    let start: Int
    /// How many bytes, code units or elements the content has.
    let count: Int
    /// How many bytes the content takes.
    let size: Int
}

/// The objects of a binary property list.
///
/// CoreFoundation's
/// [CFBinaryPList.c](https://github.com/apple-oss-distributions/CF/blob/main/CFBinaryPList.c)
/// describes them: a byte with the type in its upper half and a size in its lower half, then the
/// content.
extension PropertyList {
    /// Reads what the object at an offset is, but not its content.
    ///
    /// The offset is before the offset table.
    func layout(at offset: Int) throws(PropertyListError) -> Layout {
        let marker = bytes[offset]
        let size = Int(marker & 0x0F)
        switch marker {
        case 0x08: return Layout(kind: .no, start: offset + 1, count: 0, size: 0)
        case 0x09: return Layout(kind: .yes, start: offset + 1, count: 0, size: 0)
        case 0x10...0x14: return try layout(of: .integer, at: offset, size: 1 << size)
        case 0x22: return try layout(of: .singleReal, at: offset, size: 4)
        case 0x23: return try layout(of: .real, at: offset, size: 8)
        case 0x33: return try layout(of: .date, at: offset, size: 8)
        case 0x40...0x4F: return try layout(of: .data, at: offset, unitWidth: 1)
        case 0x50...0x5F: return try layout(of: .ascii, at: offset, unitWidth: 1)
        case 0x60...0x6F: return try layout(of: .utf16, at: offset, unitWidth: 2)
        // The format allows sixteen bytes; readers accept at most eight.
        case 0x80...0x87: return try layout(of: .uid, at: offset, size: size + 1)
        case 0xA0...0xAF:
            return try layout(of: .array, at: offset, unitWidth: trailer.referenceWidth)
        case 0xB0...0xBF:
            return try layout(of: .orderedSet, at: offset, unitWidth: trailer.referenceWidth)
        case 0xC0...0xCF:
            return try layout(of: .set, at: offset, unitWidth: trailer.referenceWidth)
        case 0xD0...0xDF:
            return try layout(of: .dictionary, at: offset, unitWidth: 2 * trailer.referenceWidth)
        default: throw .unknownType(marker, at: offset)
        }
    }

    /// The layout of an object that has its size in the marker.
    private func layout(
        of kind: Layout.Kind, at offset: Int, size: Int
    ) throws(PropertyListError) -> Layout {
        try check(size: size, at: offset + 1)
        return Layout(kind: kind, start: offset + 1, count: size, size: size)
    }

    /// The layout of an object that has a count, in its marker or after it.
    private func layout(
        of kind: Layout.Kind, at offset: Int, unitWidth: Int
    ) throws(PropertyListError) -> Layout {
        var (start, count) = (offset + 1, Int(bytes[offset] & 0x0F))
        if count == 0x0F { (start, count) = try separateCount(ofObjectAt: offset) }
        let (size, overflow) = count.multipliedReportingOverflow(by: unitWidth)
        try check(size: overflow ? .max : size, at: start)
        return Layout(kind: kind, start: start, count: count, size: size)
    }

    /// Reads a count that does not fit the marker and follows it as an integer.
    ///
    /// Also returns its end.
    private func separateCount(
        ofObjectAt offset: Int
    ) throws(PropertyListError) -> (start: Int, count: Int) {
        try check(size: 1, at: offset + 1)
        let size = bytes[offset + 1]
        guard size >> 4 == 0x1, size & 0x0F <= 3 else { throw .badCount(at: offset) }
        let width = 1 << Int(size & 0x0F)
        try check(size: width, at: offset + 2)
        let integer = integer(at: offset + 2, width: width)
        guard let count = Int(exactly: integer), count >= 0 else { throw .badCount(at: offset) }
        return (offset + 2 + width, count)
    }

    /// Checks that `size` bytes fit between `start` and the offset table.
    private func check(size: Int, at start: Int) throws(PropertyListError) {
        guard start <= trailer.offsetTable, size <= trailer.offsetTable - start else {
            throw .cutShort(at: min(start, trailer.offsetTable))
        }
    }
}

// MARK: Values

extension PropertyList {
    /// The value of an object with this layout.
    func value(of layout: Layout) -> Value {
        let (start, count) = (layout.start, layout.count)
        let references = References(start: start, count: count)
        return switch layout.kind {
        case .no: .boolean(false)
        case .yes: .boolean(true)
        case .integer: .integer(integer(at: start, width: count))
        case .real: .real(Double(bitPattern: bytes.unsigned(at: start, width: 8)))
        case .singleReal:
            .singleReal(Float(bitPattern: UInt32(bytes.unsigned(at: start, width: 4))))
        case .date: .date(Double(bitPattern: bytes.unsigned(at: start, width: 8)))
        case .data: .data(DataRange(start: start, count: count))
        case .ascii: .string(StringRange(start: start, count: count, isUTF16: false))
        case .utf16: .string(StringRange(start: start, count: count, isUTF16: true))
        case .uid: .uid(bytes.unsigned(at: start, width: count))
        case .array: .array(references)
        case .orderedSet: .orderedSet(references)
        case .set: .set(references)
        case .dictionary: .dictionary(keys: references, values: valueReferences(of: layout))
        }
    }

    /// The references of a dictionary to its values, which come after those to its keys.
    func valueReferences(of dictionary: Layout) -> References {
        References(start: dictionary.start + dictionary.size / 2, count: dictionary.count)
    }

    /// Reads an integer.
    ///
    /// One, two and four bytes are unsigned; eight and sixteen are signed.
    private func integer(at offset: Int, width: Int) -> Int128 {
        guard width < 16 else {
            let high = Int64(bitPattern: bytes.unsigned(at: offset, width: 8))
            let low = bytes.unsigned(at: offset + 8, width: 8)
            return Int128(high) << 64 | Int128(low)
        }
        let magnitude = bytes.unsigned(at: offset, width: width)
        return width < 8 ? Int128(magnitude) : Int128(Int64(bitPattern: magnitude))
    }
}
