import DefaultsTerms

/// A domain, or a domain and all domains below it, as a grant names them.
///
/// ```swift
/// let pattern = try DomainPattern("org.gnome.desktop.*")
/// pattern.covers("org.gnome.desktop")            // true
/// pattern.covers("org.gnome.desktop.interface")  // true
/// pattern.covers("org.gnome.desktops")           // false
/// ```
package struct DomainPattern: Hashable, Sendable {
    /// The part before `.*`; empty for `*`, which covers all domains.
    private let name: String
    private let coversBelow: Bool

    /// Parses a pattern: a domain without a suffix, the same with `.*` after it, or `*`.
    ///
    /// - Throws: `ModelError` with code `.invalidDomain`, which says what is wrong and at which byte.
    package init(_ text: String) throws(ModelError) {
        guard text != GrantTerms.everything else {
            (name, coversBelow) = ("", true)
            return
        }
        coversBelow = text.hasSuffix(GrantTerms.andBelow)
        name = coversBelow ? String(text.dropLast(GrantTerms.andBelow.count)) : text
        _ = try Domain(ofApplication: name)
    }

    /// One domain.
    package init(only domain: Domain) {
        (name, coversBelow) = (domain.name, false)
    }

    /// A domain and all domains below it.
    package init(domainAndBelow domain: Domain) {
        (name, coversBelow) = (domain.name, true)
    }

    /// The domain that it names; nil for the pattern that covers all domains.
    package var domain: String? { name.isEmpty ? nil : name }

    /// Whether it covers a domain.
    ///
    /// - Parameter domain: The name without a suffix. A pattern covers all layers of a domain.
    package func covers(_ domain: String) -> Bool {
        if name.isEmpty { return true }
        let (pattern, other) = (name.utf8, domain.utf8)
        guard other.count != pattern.count else { return other.elementsEqual(pattern) }
        return coversBelow && other.count > pattern.count && other.starts(with: pattern)
            && other[other.index(other.startIndex, offsetBy: pattern.count)] == UInt8(ascii: ".")
    }
}

extension DomainPattern: CustomStringConvertible {
    /// The text from which it was parsed.
    package var description: String {
        name.isEmpty ? GrantTerms.everything : coversBelow ? name + GrantTerms.andBelow : name
    }
}
