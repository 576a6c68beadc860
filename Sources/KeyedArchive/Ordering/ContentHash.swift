package import PropertyList

/// A hash that is the same in every process, unlike that of Swift's `Hasher`.
///
/// It does not resist attacks. After a collision, two different objects are treated as equal, and
/// may come in either order.
package struct ContentHash {
    package private(set) var value: UInt64

    /// Begins the hash of one kind of content.
    package init(_ kind: UInt64) {
        value = Self.mix(kind)
    }

    package mutating func combine(_ number: UInt64) {
        value = Self.mix(value &* 0x9E37_79B9_7F4A_7C15 &+ number)
    }

    /// Adds the FNV-1a hash of bytes.
    package mutating func combine(_ bytes: some Sequence<UInt8>) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        combine(hash)
    }

    package mutating func combine(_ text: Text) {
        if let string = text.string {
            combine(string.utf8)
        } else {
            for unit in text.codeUnits { combine(UInt64(unit)) }
        }
    }

    /// Mixes the bits of a number.
    ///
    /// Different numbers give different results.
    static func mix(_ number: UInt64) -> UInt64 {
        var mixed = number
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

extension Scalar {
    /// A hash of the type and the value.
    package var contentHash: UInt64 {
        var hash = ContentHash(UInt64(rank))
        switch self {
        case .null: break
        case .boolean(let value): hash.combine(value ? 1 : 0)
        case .integer(let value):
            hash.combine(UInt64(truncatingIfNeeded: value))
            hash.combine(UInt64(truncatingIfNeeded: value >> 64))
        case .real(let value), .date(let value): hash.combine(value.bitPattern)
        case .string(let text): hash.combine(text)
        case .data(let bytes): hash.combine(bytes)
        }
        return hash.value
    }
}
