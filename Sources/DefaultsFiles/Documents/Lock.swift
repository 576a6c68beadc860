public import DefaultsModel
import DefaultsTerms

/// What a file locks: a key, or all keys that begin with a prefix.
public struct Lock: Hashable, Sendable {
    /// The key, or the prefix and `*`.
    public let pattern: String
    /// How many bytes of the pattern are the prefix; nil where it is a key.
    private let prefixLength: Int?

    /// Takes `Key`, `Prefix*` or `*`; nil where that is none of them.
    ///
    /// A `*` elsewhere than at the end is refused, as somebody might take it for a wildcard.
    public init?(_ pattern: String) {
        let hasStar = pattern.utf8.last == UInt8(ascii: "*")
        let name = hasStar ? pattern.utf8.dropLast() : pattern.utf8[...]
        guard hasStar || !name.isEmpty, name.count <= KeyRule.maximumLength,
            !name.contains(0), !name.contains(UInt8(ascii: "*"))
        else { return nil }
        self.pattern = pattern
        prefixLength = hasStar ? name.count : nil
    }

    /// The bytes that all locked keys begin with; nil where it locks one key.
    var prefix: Substring.UTF8View? { prefixLength.map { pattern.utf8.prefix($0) } }

    /// Whether it locks the key, by comparing bytes, as keys do.
    public func covers(_ key: Key) -> Bool {
        guard let prefix else { return pattern.utf8.elementsEqual(key.name.utf8) }
        return key.name.utf8.starts(with: prefix)
    }

    /// Whether both are the same bytes.
    public static func == (one: Lock, other: Lock) -> Bool {
        one.pattern.utf8.elementsEqual(other.pattern.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(Array(pattern.utf8))
    }
}
