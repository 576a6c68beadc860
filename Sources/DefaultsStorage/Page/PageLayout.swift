internal import DefaultsModel

/// Where everything stands in a counter page: words of 64 bits in the machine's own order.
///
///     word  what
///        0  the format, 1
///        1  the number of slots
///        2  the generation of the database's last change
///      3-4  the identity of the database, its 16 bytes in their order
///     5-15  0
///     16-   the slots
///
/// The contract names words 0, 1, 2 and the slots; the others are ours.
enum PageLayout {
    static let format: UInt64 = 1
    /// The whole file is 32 KiB, eight pages of memory.
    static let slots = 4080

    static let formatWord = 0
    static let slotCountWord = 1
    static let generationWord = 2
    static let databaseWords = 3...4
    static let firstSlot = 16

    static let words = firstSlot + slots
    /// The size of the file in bytes.
    static let size = words * MemoryLayout<UInt64>.size

    /// The word that is the slot of a domain, whatever its layer.
    static func slot(of domain: Domain) -> Int {
        firstSlot + Int(fnv1a(domain.name.utf8) % UInt64(slots))
    }

    /// The identity of a database as it stands in its two words.
    static func words(of database: UniqueID) -> [UInt64] {
        database.bytes.withUnsafeBytes { bytes in
            // The buffer is read in bounds: an identity has 16 bytes.
            [0, 8].map { bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self) }
        }
    }

    /// A whole page on which every domain has changed at a generation.
    static func page(of database: UniqueID, at generation: Generation) -> [UInt64] {
        let header = [format, UInt64(slots), generation.rawValue] + words(of: database)
        let reserved = [UInt64](repeating: 0, count: firstSlot - header.count)
        return header + reserved + [UInt64](repeating: generation.rawValue, count: slots)
    }

    /// The hash [FNV-1a](https://datatracker.ietf.org/doc/html/rfc9923) of 64 bits.
    ///
    /// It is part of the contract: every process that maps the page computes it.
    static func fnv1a(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }
}
