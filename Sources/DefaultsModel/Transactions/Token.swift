/// The name that a caller gives to a transaction, so that it may ask for the outcome again after
/// a reply that was lost: 1 to 255 bytes of UTF-8 without NUL.
public struct Token: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes that it may have.
    public static let maximumLength = 255

    /// How many tokens of a domain are remembered; the oldest are forgotten first.
    public static let rememberedPerDomain = 1024

    /// How many tokens of all domains together are remembered; the oldest are forgotten first.
    public static let rememberedInAll = 16_384

    /// The token's text.
    public let name: String

    /// Takes text as a token.
    ///
    /// - Throws: `ModelError` with code `.invalidTransaction` where it is empty, too long or has a
    ///   NUL.
    public init(_ name: String) throws(ModelError) {
        guard (1...Token.maximumLength).contains(name.utf8.count), !name.utf8.contains(0) else {
            throw .invalidToken(name)
        }
        self.name = name
    }

    /// The token's text.
    public var description: String { name }

    /// Whether both are the same bytes.
    public static func == (one: Token, other: Token) -> Bool {
        one.name.utf8.elementsEqual(other.name.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in name.utf8 { hasher.combine(byte) }
    }
}
