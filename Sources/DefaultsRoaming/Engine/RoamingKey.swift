internal import DefaultsTerms

/// A key that roams, with its domain.
package struct RoamingKey: Sendable, Hashable {
    /// The domain, without a suffix: only the user's own layer roams.
    package let domain: String
    /// The key in it.
    package let name: String

    package init(domain: String, name: String) {
        self.domain = domain
        self.name = name
    }
}

/// Keys are the same if their bytes are, as in the database.
extension RoamingKey {
    package static func == (left: RoamingKey, right: RoamingKey) -> Bool {
        left.domain == right.domain && left.name.hasSameBytes(as: right.name)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(domain)
        hasher.combine(bytesOf: name)
    }
}

extension RoamingKey: Comparable {
    /// By their bytes, as in the database.
    package static func < (left: RoamingKey, right: RoamingKey) -> Bool {
        if left.domain != right.domain {
            return left.domain.utf8.lexicographicallyPrecedes(right.domain.utf8)
        }
        return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }
}
