import DefaultsTerms

/// The names of values that lost, in ``RoamTerms/conflicts``.
///
/// A loser is the key `DOMAIN/KEY/NAME`, with the value that lost. Beside it, `DOMAIN/KEY/NAME/about` is
/// a dictionary that says when and where it was written. A long key is shortened there, and is whole in
/// the dictionary.
package struct KeptLoser: Sendable, Hashable {
    /// The domain that the value was of.
    package let domain: String
    /// The key in it.
    package let key: String
    /// What tells it from others of the same key, on all machines.
    package let name: String

    /// What ends the key of the facts about a loser.
    package static let about = "/about"
    private static let longestKey = 1024

    package init(domain: String, key: String, name: String) {
        self.domain = domain
        self.key = key
        self.name = name
    }

    /// The loser whose value is under a key; nil if that is no such key.
    ///
    /// Any program can write such keys, and any machine can send them. So one that names a domain that
    /// never roams, such as one with the settings of this machine, is none.
    package init?(valueKey: String) {
        guard let first = valueKey.firstIndex(of: "/"), let last = valueKey.lastIndex(of: "/"),
            first < last, valueKey.utf8.count + Self.about.utf8.count <= Self.longestKey
        else { return nil }
        let name = valueKey[valueKey.index(after: last)...]
        let domain = String(valueKey[..<first])
        let key = String(valueKey[valueKey.index(after: first)..<last])
        guard !name.isEmpty, "/" + name != Self.about, DomainRule.allows(domain),
            !RoamTerms.never.contains(domain), KeyRule.allows(key),
            domain != RoamTerms.domain || !RoamTerms.settings.contains(key)
        else { return nil }
        (self.domain, self.key, self.name) = (domain, key, String(name))
    }

    /// The key of its value.
    package var valueKey: String {
        let rest = Self.longestKey - "\(domain)//\(name)\(Self.about)".utf8.count
        return "\(domain)/\(Self.shortened(key, to: rest))/\(name)"
    }

    /// The key of the facts about it.
    package var aboutKey: String { valueKey + Self.about }

    /// The loser with the whole key, which the facts about it say; nil if they say none that fits.
    package func whole(_ facts: LoserFacts) -> KeptLoser? {
        guard let key = facts.key, KeyRule.allows(key) else { return nil }
        let whole = KeptLoser(domain: domain, key: key, name: name)
        let isSame = whole.valueKey == valueKey && !RoamTerms.settings.contains(key)
        return isSame ? whole : nil
    }

    private static func shortened(_ key: String, to length: Int) -> String {
        guard key.utf8.count > length else { return key }
        var short = key
        // The names come from other machines, and may leave no room at all.
        while short.utf8.count > max(length, 0) { short.removeLast() }
        return short
    }
}

/// What is known about a loser.
package struct LoserFacts: Codable, Sendable, Equatable {
    /// Whether the key was removed, so that there is no value.
    package var removed: Bool
    /// The machine that has written it.
    package var machine: String
    /// When it was written, in seconds since 1970; nil if nobody knows.
    package var written: Double?
    /// When it was noticed that it lost, in seconds since 1970.
    package var noticed: Double
    /// The key that the value was of; nil if an earlier version has noted it.
    package var key: String?

    package init(
        removed: Bool, machine: String, written: Double?, noticed: Double, key: String? = nil
    ) {
        self.key = key
        self.removed = removed
        self.machine = machine
        self.written = written
        self.noticed = noticed
    }
}
