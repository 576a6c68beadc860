/// The identity of a machine, by which its layers are kept: 1 to 64 of `[A-Za-z0-9._-]`.
///
/// It is the machine ID, and the host name of a machine that has none. What is stored for a machine
/// that is not known yet is kept by the name that it was given, which is an identity until then.
public struct HostID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The most bytes that it may have.
    public static let maximumLength = 64

    /// The identity's text; ASCII only.
    public let name: String

    /// A machine that has no name of its own.
    public static let localhost = HostID(checked: "localhost")

    private init(checked name: String) {
        self.name = name
    }

    /// Takes text as an identity; nil where it is empty, too long or has another character.
    public init?(_ name: some StringProtocol) {
        guard (1...HostID.maximumLength).contains(name.utf8.count),
            name.utf8.allSatisfy(HostID.isAllowed)
        else { return nil }
        self.name = String(name)
    }

    /// Whether the byte may stand in an identity.
    static func isAllowed(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || Domain.isElementByte(byte)
    }

    /// The identity's text.
    public var description: String { name }

    /// Orders by bytes.
    public static func < (one: HostID, other: HostID) -> Bool {
        one.name.utf8.lexicographicallyPrecedes(other.name.utf8)
    }
}
