import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms

/// The values that decide what programs may do: grants and quotas.
///
/// They are in a domain, as all settings. So the administrator's layer is above the user's, and a
/// vendor may have values below it.
extension DefaultsObject {
    /// The most keys of one layer that are read.
    private static let mostKeys = 1000
    /// The largest archive that is read, in bytes (64 KiB).
    ///
    /// Reading a larger one would hold up other callers.
    private static let largest = 64 << 10

    /// The value of a key in the strongest layer that has it.
    ///
    /// - Returns: Nil if there is none, or if it is too large or cannot be read.
    func policy(_ key: Key, in name: String) -> Value? {
        for domain in layers(ofPolicies: name) {
            do {
                guard let size = try database.size(domain, key) else { continue }
                guard size <= Self.largest, let stored = try database.value(domain, key) else {
                    return nil
                }
                return try VariantForm.value(validating: stored.archive)
            } catch {
                return nil
            }
        }
        return nil
    }

    /// All keys of such a domain.
    func policyKeys(in name: String) -> Set<Key> {
        var keys: Set<Key> = []
        for domain in layers(ofPolicies: name) {
            guard let found = try? database.keys(of: domain) else { continue }
            keys.formUnion(found.prefix(Self.mostKeys))
        }
        return keys
    }

    /// The layers of a domain, the strongest first.
    private func layers(ofPolicies name: String) -> [Domain] {
        guard let domain = try? Domain(ofApplication: name) else { return [] }
        return SearchList(of: domain, on: hosts.this.id).places.map(\.domain)
            .filter { $0.name == name && layers.mayHaveKeys($0) }
    }
}

extension Value {
    /// An entry of a dictionary with texts as keys; nil if there is none.
    func entry(_ name: String) -> Value? {
        guard case .dictionary(_, _, let entries) = withoutVariant else { return nil }
        return entries.first { $0.key == .string(name) }?.value.withoutVariant
    }

    /// The value itself, if it is in variants.
    var withoutVariant: Value {
        if case .variant(let value) = self { value.withoutVariant } else { self }
    }
}
