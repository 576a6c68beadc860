internal import DefaultsTerms

/// The path of a setting, as GSettings and dconf have it, and its domain and key.
///
/// The leading elements of the path that a domain may have are the domain, and the rest is the key:
/// `/org/gnome/desktop/interface/font-name` is the key `font-name` of the domain
/// `org.gnome.desktop.interface`. Each path has exactly one domain and key, and no two paths have the
/// same. The GSettings module has the same rule in C.
package struct SettingsPath: Hashable, Sendable {
    /// The domain of paths that have no domain of their own; their key is the whole path.
    package static let unnamedDomain = "GSettings"
    /// The most bytes of a domain that follows from a path.
    static let maximumDomainLength = 200

    /// The path, from its first slash.
    package let path: String
    /// The name of the domain, which is never the global domain.
    package let domain: String
    /// The key in the domain.
    package let key: String

    /// Divides a path.
    ///
    /// Nil if it is not the path of a key: it begins with a slash, does not end with one, and has no
    /// two slashes together. Nil, too, if the key would be longer than a key may be.
    package init?(_ path: String) {
        let bytes = Array(path.utf8)
        guard Self.isPathOfKey(bytes) else { return nil }
        let end = Self.endOfDomain(bytes)
        let domain = String(
            decoding: bytes[..<end].dropFirst().map { $0 == bytes[0] ? UInt8(ascii: ".") : $0 },
            as: UTF8.self)
        let isNamed = !domain.isEmpty && domain != GlobalDomain.name
        self.path = path
        self.domain = isNamed ? domain : Self.unnamedDomain
        key = isNamed ? String(decoding: bytes[(end + 1)...], as: UTF8.self) : path
        guard KeyRule.allows(key) else { return nil }
    }

    /// Joins a domain and a key; nil if they are not those of a path.
    package init?(domain: String, key: String) {
        let isWhole = domain == Self.unnamedDomain && key.utf8.first == UInt8(ascii: "/")
        let elements = domain.split(separator: ".", omittingEmptySubsequences: false)
        self.init(isWhole ? key : "/\(elements.joined(separator: "/"))/\(key)")
        guard self.domain == domain, self.key == key else { return nil }
    }

    /// Whether a path begins with a slash, does not end with one, and has no two together.
    package static func isPathOfKey(_ path: String) -> Bool { isPathOfKey(Array(path.utf8)) }

    static func isPathOfKey(_ path: [UInt8]) -> Bool {
        let slash = UInt8(ascii: "/")
        return path.first == slash && path.last != slash && !path.contains(0)
            && !zip(path, path.dropFirst()).contains { $0 == slash && $1 == slash }
    }

    /// The slash after the last leading element that a domain may have; 0 if there is none.
    private static func endOfDomain(_ path: [UInt8]) -> Int {
        var end = 0
        for (offset, byte) in path.enumerated().dropFirst() {
            if byte == path[0] {
                guard offset - 1 <= maximumDomainLength else { return end }
                end = offset
            } else if !DomainRule.isElementByte(byte) {
                return end
            }
        }
        return end
    }
}

extension SettingsPath {
    /// Whether the bytes are the same: different names can be the same text to Unicode.
    package static func == (first: SettingsPath, second: SettingsPath) -> Bool {
        first.path.utf8.count == second.path.utf8.count
            && first.path.utf8.elementsEqual(second.path.utf8)
    }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) {
        var path = path
        path.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
