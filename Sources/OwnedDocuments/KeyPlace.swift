internal import DefaultsTerms

/// A key of a domain.
package struct KeyPlace: Hashable, Sendable {
    /// The domain, with the suffix of a layer.
    package let domain: String
    /// The key.
    package let key: String

    package init(domain: String, key: String) {
        self.domain = domain
        self.key = key
    }

    // Keys are compared by their bytes, as the service does. Strings are equal if they look alike.
    package static func == (one: KeyPlace, other: KeyPlace) -> Bool {
        one.domain == other.domain && one.key.hasSameBytes(as: other.key)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(domain)
        hasher.combine(bytesOf: key)
    }
}

extension KeyPlace: Comparable {
    package static func < (one: KeyPlace, other: KeyPlace) -> Bool {
        guard one.domain == other.domain else {
            return one.domain.utf8.lexicographicallyPrecedes(other.domain.utf8)
        }
        return one.key.utf8.lexicographicallyPrecedes(other.key.utf8)
    }
}
