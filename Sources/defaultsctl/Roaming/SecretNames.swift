import DefaultsClient
import DefaultsTerms
import KeyedArchive
import RoamingTerms

/// Names of keys whose values are likely to be secrets, which belong in the keyring.
enum SecretNames {
    private static let words = [
        "password", "passwd", "passphrase", "secret", "token", "apikey", "credential", "privatekey",
    ]

    /// Whether the name of a key looks like that of a secret, however its words are joined.
    static func contain(_ key: String) -> Bool {
        let name = key.lowercased().filter { !"_-. ".contains($0) }
        return words.contains { name.contains($0) }
    }

    /// A line about keys that roam and look like secrets; nil if there are none.
    static func warning(of keys: [String]) -> String? {
        let shown = 3
        guard !keys.isEmpty else { return nil }
        let examples = keys.prefix(shown).joined(separator: ", ")
        let more = keys.count > shown ? " and \(keys.count - shown) more" : ""
        return "\(examples)\(more) may be secrets, which belong in the keyring; "
            + "see: defaultsctl roam add --help"
    }
}

extension RemoteDefaults {
    /// The keys that roam and look like secrets, each with its domain, in their order.
    func roamingSecretNames() async throws -> [String] {
        var entries: [String: KeyedArchive] = [:]
        for layer in RoamTerms.layers {
            for entry in try await self.entries(in: layer.spelling(of: RoamTerms.domain)).entries
            where entries[entry.key] == nil {
                entries[entry.key] = entry.archive
            }
        }
        let choice = RoamChoice(entries.map { ($0.key, $0.value) })
        var names: [String] = []
        for domain in try await domains().sorted()
        where !domain.contains("@") && !RoamTerms.always.contains(domain) {
            guard choice.rule(for: domain) != nil else { continue }
            for key in try await keys(in: domain).sorted()
            where choice.covers(key, of: domain) && SecretNames.contain(key) {
                names.append("\(domain) \(key.onOneLine)")
            }
        }
        return names
    }
}
