internal import DefaultsTerms

/// Who wants what a document says, such as `home-manager` or `me/desktop`.
package struct Owner: Hashable, Sendable {
    /// 1 to 64 bytes of `[A-Za-z0-9._/-]`.
    package let name: String

    /// The longest name, in bytes.
    package static let maximumLength = 64

    /// - Returns: Nil if the name is not one of an owner.
    package init?(_ name: String) {
        guard 1...Self.maximumLength ~= name.utf8.count, name.utf8.allSatisfy(Self.isByte) else {
            return nil
        }
        self.name = name
    }

    private static func isByte(_ byte: UInt8) -> Bool {
        DomainRule.isElementByte(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "/")
    }
}

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
        one.domain == other.domain && one.key.utf8.elementsEqual(other.key.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(domain)
        for byte in key.utf8 { hasher.combine(byte) }
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
