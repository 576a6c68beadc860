import DefaultsModel
import DefaultsStorage

/// The values that decide what programs may do and how the service works: grants, quotas and options.
///
/// They are in a domain, as all settings. So the administrator's layer is above the user's, and a
/// vendor may have values below it.
final class Policies {
    /// The most keys of one layer that are read.
    private static let mostKeys = 1000
    /// The largest archive that is read, in bytes (64 KiB).
    ///
    /// Reading a larger one would hold up other callers.
    private static let largest = 64 << 10

    private let store: Store
    private let layers: FileLayers

    init(in store: Store, _ layers: FileLayers) {
        self.store = store
        self.layers = layers
    }

    /// The value of a key in the strongest layer that has it.
    ///
    /// - Returns: Nil if there is none; a value that decides nothing if it is too large or cannot be read.
    func value(of key: Key, in name: String) -> PolicyValue? {
        for domain in layers(of: name) {
            do {
                guard let size = try store.database.size(domain, key) else { continue }
                guard size <= Self.largest, let stored = try store.database.value(domain, key)
                else { return .other }
                return try PolicyValue(validating: stored.archive)
            } catch {
                return .other
            }
        }
        return nil
    }

    /// All keys of such a domain.
    func keys(in name: String) -> Set<Key> {
        var keys: Set<Key> = []
        for domain in layers(of: name) {
            guard let found = try? store.database.keys(of: domain) else { continue }
            keys.formUnion(found.prefix(Self.mostKeys))
        }
        return keys
    }

    /// The layers of a domain, the strongest first.
    private func layers(of name: String) -> [Domain] {
        guard let domain = try? Domain(ofApplication: name) else { return [] }
        return SearchList(of: domain, on: store.hosts.this.id).places.map(\.domain)
            .filter { $0.name == name && layers.mayHaveKeys($0) }
    }
}
