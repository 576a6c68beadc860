/// FNV-1a with 64 bits, which is the same in each process: Swift's own Hasher has another key in each.
enum FNV {
    static func hash(of bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
