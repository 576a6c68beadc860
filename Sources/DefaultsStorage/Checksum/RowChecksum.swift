internal import DefaultsModel

/// The checksum of a row of the store: over domain, key, generation and archive.
///
/// A row that was put under another key, or took an older archive with a newer generation, fails
/// as one with a flipped bit does.
enum RowChecksum {
    /// The checksum of a row; of a removal where `archive` is nil.
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
