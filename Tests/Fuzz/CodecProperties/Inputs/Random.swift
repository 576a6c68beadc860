/// Numbers that look random and follow from the seed alone: SplitMix64
/// ([Steele, Lea and Flood 2014](https://doi.org/10.1145/2714064.2660195)).
struct Random {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// Begins with a checksum of the bytes: the same bytes, the same numbers.
    init(seed bytes: [UInt8]) {
        state = bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// A number from 0 to `count` - 1; 0 if there is none.
    mutating func below(_ count: Int) -> Int {
        count > 0 ? Int(next() % UInt64(count)) : 0
    }

    mutating func byte() -> UInt8 {
        UInt8(truncatingIfNeeded: next())
    }

    mutating func element<Element>(of elements: [Element]) -> Element {
        elements[below(elements.count)]
    }
}
