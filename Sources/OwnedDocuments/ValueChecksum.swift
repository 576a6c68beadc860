package import KeyedArchive

/// A number of 128 bits for a value: the same for values that are the same, whatever order their objects are
/// stored in.
///
/// It is FNV-1a of the canonical form. It tells a value from the one that the user has made of it; it is no
/// proof against somebody who looks for two values with one number.
package struct ValueChecksum: Hashable, Sendable {
    private var state: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d

    package init(of archive: KeyedArchive) {
        var sum = self
        let isComplete = archive.writeCanonicalForm { piece in sum.add(piece) }
        if isComplete {
            self = sum
        } else {
            // Such archives are the same only if their bytes are.
            add(archive.bytes)
        }
    }

    package init?(_ text: String) {
        guard let number = UInt128(text, radix: 16) else { return nil }
        state = number
    }

    private mutating func add(_ bytes: [UInt8]) {
        for byte in bytes {
            state = (state ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b
        }
    }

    /// Hexadecimal digits.
    package var text: String {
        // In halves: Swift spells numbers of 64 bits ten times as fast.
        let (high, low) = (
            UInt64(state >> 64), String(UInt64(truncatingIfNeeded: state), radix: 16)
        )
        guard high > 0 else { return low }
        return String(high, radix: 16) + String(repeating: "0", count: 16 - low.utf8.count) + low
    }
}
