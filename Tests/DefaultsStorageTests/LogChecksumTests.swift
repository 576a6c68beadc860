import TestSupport
import Testing

@testable import DefaultsStorage

/// What the checksum of a log tells about a flipped bit.
@Suite struct LogChecksumTests {
    /// Bytes in two pieces, as those of a frame are.
    private func frame(using random: inout SeededGenerator) -> [UInt8] {
        (0..<(24 + 4096)).map { _ in .random(in: 0...255, using: &random) }
    }

    private func pieces(of bytes: [UInt8]) -> [ArraySlice<UInt8>] { [bytes[..<8], bytes[24...]] }

    private func sum(of bytes: [UInt8], isBigEndian: Bool) -> LogChecksum {
        var sum = LogChecksum(isBigEndian: isBigEndian)
        sum.add([1, 2, 3, 4, 5, 6, 7, 8])
        for piece in pieces(of: bytes) { sum.add(piece) }
        return sum
    }

    @Test(
        "Each flipped bit is found, and of the lower bits of words, where it is",
        arguments: [true, false])
    func flipped(isBigEndian: Bool) {
        var random = SeededGenerator()
        let bytes = frame(using: &random)
        let right = sum(of: bytes, isBigEndian: isBigEndian)
        let places = Array(0..<8) + Array(stride(from: 24, to: bytes.count, by: 61))
        for offset in places {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[offset] ^= 1 << UInt8(bit)
                let actual = sum(of: damaged, isBigEndian: isBigEndian)
                let found = right.flippedBits(in: pieces(of: damaged), giving: actual)
                #expect(!found.isEmpty, "bit \(bit) of byte \(offset)")
                let byteInWord = isBigEndian ? 3 - offset % 4 : offset % 4
                guard byteInWord < 2 else { continue }
                let expected = FlippedBit(offset: offset, mask: 1 << UInt8(bit))
                #expect(found == [expected], "bit \(bit) of byte \(offset)")
            }
        }
    }

    @Test("Other damage is not taken for a flipped bit")
    func otherDamage() {
        var random = SeededGenerator()
        let bytes = frame(using: &random)
        let right = sum(of: bytes, isBigEndian: false)
        for _ in 0..<20 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 2...50, using: &random) {
                damaged[.random(in: 24..<bytes.count, using: &random)] ^=
                    .random(in: 1...255, using: &random)
            }
            let actual = sum(of: damaged, isBigEndian: false)
            #expect(right.flippedBits(in: pieces(of: damaged), giving: actual).isEmpty)
        }
    }
}
