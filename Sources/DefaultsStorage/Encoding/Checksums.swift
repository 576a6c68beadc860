internal import DefaultsModel

/// The checksum of a row of the store: over domain, key, generation and archive.
///
/// A row that was put under another key, or took an older archive with a newer generation, fails
/// as one with a flipped bit does.
enum RowChecksum {
    /// The checksum of a row; of a removal if `archive` is nil.
    static func of(
        _ domain: Domain, _ key: Key, _ generation: Generation, _ archive: [UInt8]?
    ) -> UInt64 {
        var names = [UInt8]()
        names.append(littleEndian: generation.rawValue)
        names.append(archive == nil ? 0 : 1)
        // The lengths keep ("ab", "c") apart from ("a", "bc").
        names.append(text: domain.name, lengthAs: UInt16.self)
        names.append(text: domain.layer.hostColumn, lengthAs: UInt16.self)
        names.append(text: key.name, lengthAs: UInt16.self)
        return XXH64.hash(archive ?? [], seed: XXH64.hash(names, seed: 0))
    }
}

/// The XXH64 hash of the xxHash family, which guards records and rows against damage.
///
/// It finds damage, not malice. It is fast, the same on every machine and in every run, and
/// specified in public:
/// [xxHash fast digest algorithm](https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md).
package enum XXH64 {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    /// Hashes an array.
    package static func hash(_ bytes: [UInt8], seed: UInt64) -> UInt64 {
        hash(bytes.span.bytes, seed: seed)
    }

    /// Hashes bytes.
    ///
    /// Hashing parts one after the other, each with the hash of the part before it as its seed,
    /// guards all of them.
    package static func hash(_ bytes: RawSpan, seed: UInt64) -> UInt64 {
        var offset = 0
        var hash =
            bytes.byteCount < 32
            ? seed &+ prime5
            : hashStripes(of: bytes, seed: seed, offset: &offset)
        hash &+= UInt64(bytes.byteCount)
        return avalanche(hashRemainder(of: bytes, from: offset, hash))
    }

    /// Steps 1 to 3 of the specification: four lanes over stripes of 32 bytes.
    private static func hashStripes(
        of bytes: RawSpan, seed: UInt64, offset: inout Int
    ) -> UInt64 {
        var lane1 = seed &+ prime1 &+ prime2
        var lane2 = seed &+ prime2
        var lane3 = seed
        var lane4 = seed &- prime1
        while bytes.byteCount - offset >= 32 {
            lane1 = round(lane1, word(bytes, offset))
            lane2 = round(lane2, word(bytes, offset + 8))
            lane3 = round(lane3, word(bytes, offset + 16))
            lane4 = round(lane4, word(bytes, offset + 24))
            offset += 32
        }
        var hash = rotate(lane1, 1) &+ rotate(lane2, 7) &+ rotate(lane3, 12) &+ rotate(lane4, 18)
        for lane in [lane1, lane2, lane3, lane4] {
            hash = (hash ^ round(0, lane)) &* prime1 &+ prime4
        }
        return hash
    }

    /// Step 5: what the stripes leave over, fewer than 32 bytes.
    private static func hashRemainder(of bytes: RawSpan, from start: Int, _ hash: UInt64) -> UInt64
    {
        var hash = hash
        var offset = start
        while bytes.byteCount - offset >= 8 {
            hash = rotate(hash ^ round(0, word(bytes, offset)), 27) &* prime1 &+ prime4
            offset += 8
        }
        if bytes.byteCount - offset >= 4 {
            let half = bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
            let lane = UInt64(UInt32(littleEndian: half))
            hash = rotate(hash ^ (lane &* prime1), 23) &* prime2 &+ prime3
            offset += 4
        }
        while offset < bytes.byteCount {
            let lane = UInt64(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
            hash = rotate(hash ^ (lane &* prime5), 11) &* prime1
            offset += 1
        }
        return hash
    }

    /// Step 6: every bit of the input reaches every bit of the hash.
    private static func avalanche(_ hash: UInt64) -> UInt64 {
        var hash = hash
        hash = (hash ^ (hash >> 33)) &* prime2
        hash = (hash ^ (hash >> 29)) &* prime3
        return hash ^ (hash >> 32)
    }

    private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
        rotate(lane &+ word &* prime2, 31) &* prime1
    }

    private static func rotate(_ value: UInt64, _ bits: UInt64) -> UInt64 {
        value << bits | value >> (64 - bits)
    }

    /// The load is called unsafe because it takes any bit pattern as its type, which every
    /// pattern of an integer is; its bounds are checked.
    private static func word(_ bytes: RawSpan, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
