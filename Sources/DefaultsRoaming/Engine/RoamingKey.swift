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

extension RoamingKey: Comparable {
    package static func < (left: RoamingKey, right: RoamingKey) -> Bool {
        (left.domain, left.name) < (right.domain, right.name)
    }
}
