/// Integers in the form in which NSIndexSet and NSAttributedString archive them.
///
/// An integer has seven bits in each byte, the lowest first. The highest bit of a byte says that
/// another byte of the same integer follows.
enum PackedIntegers {
    private static let more: UInt8 = 0x80
    /// The place of the last seven bits that fit in an Int that is not negative.
    private static let lastShift = 56

    /// The bytes of integers, none of which is negative.
    static func pack(_ integers: [Int]) -> [UInt8] {
        var bytes: [UInt8] = []
        for integer in integers {
            var rest = UInt(bitPattern: integer)
            while rest >= UInt(more) {
                bytes.append(UInt8(truncatingIfNeeded: rest) | more)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }
        return bytes
    }

    /// The integers in bytes; nil if one is cut off or too large.
    static func unpack(_ bytes: some Sequence<UInt8>) -> [Int]? {
        var integers: [Int] = []
        var (integer, shift) = (0, 0)
        for byte in bytes {
            guard shift <= lastShift else { return nil }
            integer |= Int(byte & ~more) << shift
            shift += 7
            if byte < more {
                integers.append(integer)
                (integer, shift) = (0, 0)
            }
        }
        return shift == 0 ? integers : nil
    }
}
