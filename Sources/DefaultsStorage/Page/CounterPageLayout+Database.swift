internal import DefaultsModel
internal import DefaultsTerms

/// The page of one database.
extension CounterPageLayout {
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
}
