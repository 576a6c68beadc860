/// The running checksum of a log.
///
/// See [the checksum algorithm](https://www.sqlite.org/fileformat2.html#checksum_algorithm).
struct LogChecksum: Equatable {
    private var first: UInt32 = 0
    private var second: UInt32 = 0
    private let isBigEndian: Bool

    init(isBigEndian: Bool) {
        self.isBigEndian = isBigEndian
    }

    /// Reads the two stored numbers; nil past the end.
    init?(in bytes: [UInt8], at offset: Int, isBigEndian: Bool) {
        guard let first = bytes.uint32(at: offset), let second = bytes.uint32(at: offset + 4) else {
            return nil
        }
        (self.first, self.second) = (UInt32(first), UInt32(second))
        self.isBigEndian = isBigEndian
    }

    /// Continues with bytes, eight at a time.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { buffer in
            // Each load reads four bytes before the end of the buffer.
            for offset in stride(from: 0, through: buffer.count - 8, by: 8) {
                let left = buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let right = buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                first &+= (isBigEndian ? left.bigEndian : left.littleEndian) &+ second
                second &+= (isBigEndian ? right.bigEndian : right.littleEndian) &+ first
            }
        }
    }
}

// MARK: A flipped bit

/// A bit that differs from what was written.
struct FlippedBit: Equatable {
    /// Which byte.
    let offset: Int
    /// The bit in it.
    let mask: UInt8
}

extension LogChecksum {
    /// Whether it differs from another one in one bit, so that the stored one of the two is damaged.
    func isOneBit(from other: LogChecksum) -> Bool {
        (first ^ other.first).nonzeroBitCount + (second ^ other.second).nonzeroBitCount == 1
    }

    /// The bits each of which, flipped alone, gives bytes this checksum in place of another one.
    ///
    /// The sums are linear: how much a bit adds to them depends on its place only. So all are tried
    /// without a new sum. Other damage is hardly ever taken for a flipped bit: the checksum has 64 bits,
    /// and there are 2¹⁵ bits to try. But of the upper bits of words, many add the same.
    ///
    /// - Parameters:
    ///   - bytes: What was added last, in pieces whose sizes are multiples of 8.
    ///   - actual: The checksum with them.
    /// - Returns: None if more than one bit is wrong; at most two.
    func flippedBits(in bytes: [ArraySlice<UInt8>], giving actual: LogChecksum) -> [FlippedBit] {
        let wanted = (first &- actual.first, second &- actual.second)
        var found: [FlippedBit] = []
        // What 1 in the left word of a pair, and in the right one, adds to the sums at the end.
        var (left, right): ((UInt32, UInt32), (UInt32, UInt32)) = ((1, 1), (0, 1))
        for piece in bytes.reversed() {
            for pair in stride(from: piece.endIndex - 8, through: piece.startIndex, by: -8) {
                if let bit = flippedBit(in: piece, at: pair, each: left, wanted) {
                    found.append(bit)
                }
                if let bit = flippedBit(in: piece, at: pair + 4, each: right, wanted) {
                    found.append(bit)
                }
                if found.count > 1 { return Array(found.prefix(2)) }
                left = Self.carried(left)
                right = Self.carried(right)
            }
        }
        return found
    }

    /// What an addition to the sums has become after one more pair of words.
    private static func carried(_ sums: (UInt32, UInt32)) -> (UInt32, UInt32) {
        let first = sums.0 &+ sums.1
        return (first, sums.1 &+ first)
    }

    /// The bit of a word that would do; there is at most one.
    ///
    /// - Parameter each: What 1 in this word adds to the sums.
    private func flippedBit(
        in bytes: ArraySlice<UInt8>, at word: Int, each: (UInt32, UInt32),
        _ wanted: (UInt32, UInt32)
    ) -> FlippedBit? {
        // The zeros at the end show how far 1 was shifted.
        let (sum, one) = wanted.0 == 0 ? (wanted.1, each.1) : (wanted.0, each.0)
        let bit = sum.trailingZeroBitCount - one.trailingZeroBitCount
        guard one != 0, (0..<32).contains(bit) else { return nil }
        let offset = word + (isBigEndian ? 3 - bit / 8 : bit / 8)
        let mask = UInt8(1) << UInt8(bit % 8)
        // A bit that is set was added, and is taken away.
        let change: UInt32 = bytes[offset] & mask == 0 ? 1 : .max
        let added = change << UInt32(bit)
        guard each.0 &* added == wanted.0, each.1 &* added == wanted.1 else { return nil }
        return FlippedBit(offset: offset, mask: mask)
    }
}
