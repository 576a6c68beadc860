/// The layout of a counter page: 64-bit words in the machine's byte order.
///
///     word  what
///        0  the format, 1
///        1  the number of slots
///        2  the generation of the database's last change
///      3-4  the identity of the database, its 16 bytes in their order
///     5-15  0
///     16-   the slots
///
/// The contract describes words 0, 1, 2 and the slots, at `Attach`. Only the daemon uses the
/// others.
package enum CounterPageLayout {
    package static let format: UInt64 = 1
    /// The whole file is 32 KiB, eight pages of memory.
    package static let slots = 4080
    /// A page with this number as its generation and in its slots is void.
    package static let void = UInt64.max

    package static let formatWord = 0
    package static let slotCountWord = 1
    package static let generationWord = 2
    package static let databaseWords = 3...4
    package static let firstSlot = 16

    package static let words = firstSlot + slots
    /// The size of a word in bytes.
    package static let wordSize = MemoryLayout<UInt64>.size
    /// The size of the file in bytes.
    package static let size = words * wordSize

    /// The offset of a word, in bytes.
    package static func offset(of word: Int) -> Int { word * wordSize }

    /// The word that is the slot of a domain.
    ///
    /// All layers of a domain share one slot.
    ///
    /// - Parameter domain: The name, without a suffix.
    package static func slot(of domain: String) -> Int {
        firstSlot + Int(fnv1a(domain.utf8) % UInt64(slots))
    }

    /// The hash [FNV-1a](https://datatracker.ietf.org/doc/html/rfc9923) of 64 bits.
    ///
    /// It is part of the contract: every process that maps the page computes it.
    package static func fnv1a(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }
}
