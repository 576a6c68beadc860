package import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
package import KeyedArchive

/// What a value replaces.
extension Settings {
    /// The largest archives whose object graphs are compared, in bytes: 256 KiB take some
    /// hundredths of a second.
    private static let largestCompared = 256 << 10

    /// Whether the key has no value or a different one.
    ///
    /// "The same value" is defined in `Documentation/guarantees.md`, under "Changes".
    package func differs(_ domain: Domain, _ key: Key, from archive: KeyedArchive) throws -> Bool {
        try replacement(for: key, in: domain, by: archive, keepsType: false) != nil
    }

    /// What to store so that a key has a value; nil if it has the same one.
    ///
    /// - Parameter keepsType: Whether the value gets the exact type of the present one, because who sets it
    ///   may not know the type.
    func replacement(
        for key: Key, in domain: Domain, by archive: KeyedArchive, keepsType: Bool = true
    ) throws -> KeyedArchive? {
        let stored: StoredValue?
        do throws(StorageError) {
            stored = try store.database.value(domain, key)
        } catch {
            // A value that cannot be read counts as different, and this change replaces it.
            guard error.code == .damagedRow else { throw error }
            return archive
        }
        guard let stored else {
            return keepsType ? typed(archive, for: key, in: domain) : archive
        }
        if stored.archive == archive.bytes { return nil }
        if max(stored.archive.count, archive.bytes.count) > Self.largestCompared { return archive }
        // A stored archive that is invalid by now counts as different, too.
        guard let current = try? KeyedArchive(validating: stored.archive) else { return archive }
        let new =
            keepsType
            ? archive.keepingType(of: current) { keepsTypes(of: domain) } : archive
        return current.isSame(as: new) ? nil : new
    }

    /// A first value for this machine, with the exact type of the value for all machines.
    private func typed(_ archive: KeyedArchive, for key: Key, in domain: Domain) -> KeyedArchive {
        guard case .host = domain.layer, archive.bytes.count <= Self.largestCompared,
            let all = try? Domain(name: domain.name, layer: .domain),
            let stored = try? store.database.value(all, key),
            stored.archive.count <= Self.largestCompared,
            let former = try? KeyedArchive(validating: stored.archive)
        else { return archive }
        return archive.keepingType(of: former) { keepsTypes(of: all) }
    }
}
