/// The last 32 bytes of a binary property list: where everything is.
///
/// The layout is that of `CFBinaryPlistTrailer` in
///
///
///
///
/// [ForFoundationOnly.h](https://github.com/apple-oss-distributions/CF/blob/main/ForFoundationOnly.h):
/// six unused bytes, the two widths, then three big-endian 64-bit numbers.
struct Trailer: Sendable {
    /// "bplist00".
    static let header: [UInt8] = Array("bplist00".utf8)
    static let size = 32

    /// How wide an entry of the offset table is, in bytes.
    let offsetWidth: Int
    /// How wide a reference of a collection is, in bytes.
    let referenceWidth: Int
    let objectCount: Int
    let root: ObjectIndex
    /// Where the offset table begins, which is where the objects end.
    let offsetTable: Int

    /// Reads the trailer and checks that all it says fits the bytes and the limits.
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
            throw .badTrailer(at: start + 8, "the file has no room for \(objectCount) objects")
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
        // The smallest: the header, an object of one byte, its offset, the trailer.
        guard bytes.count >= header.count + 2 + size else {
            throw .truncated(byteCount: bytes.count)
        }
    }

    /// Whether the bytes begin, after a byte order mark and white space, as XML does.
    private static func isXML(_ bytes: [UInt8]) -> Bool {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
        let start = text.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        return ["<?xml", "<!DOCTYPE", "<plist"].contains { start.starts(with: $0.utf8) }
    }

    /// Whether numbers below `count` and `count` itself fit `width` bytes, as CoreFoundation asks.
    private static func fits(_ count: UInt64, width: UInt8) -> Bool {
        width == 8 || count < 1 << (8 * UInt64(width))
    }
}

extension [UInt8] {
    /// The big-endian number of `width` bytes, at most 8, at an offset that was checked before.
    func unsigned(at offset: Int, width: Int) -> UInt64 {
        // Nearly all numbers are this narrow.
        width == 1 ? UInt64(self[offset]) : wideUnsigned(at: offset, width: width)
    }

    private func wideUnsigned(at offset: Int, width: Int) -> UInt64 {
        // Loads from a span are checked, like all others.
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
        // It is unsafe for types with invalid bit patterns alone; integers have none.
        Integer(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: Integer.self))
    }
}
