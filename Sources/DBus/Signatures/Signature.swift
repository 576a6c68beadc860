import CDBus

/// A sequence of complete types, such as `a{sv}u`: a table of variants by name, and a number.
///
/// See the [specification][1].
///
/// [1]: https://dbus.freedesktop.org/doc/dbus-specification.html#type-system
public struct Signature: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The signature as it travels.
    public let string: String

    /// Checks a string: known types, closed parentheses, 255 bytes and 32 levels of arrays and of
    /// structures at most.
    ///
    /// - Throws: ``DBusError`` of the name `InvalidSignature` that quotes the string.
    public init(_ string: some StringProtocol) throws(DBusError) {
        let string = String(string)
        // libdbus reads up to the first NUL, so what stands behind one would go unchecked.
        guard string.utf8.count <= Self.maximumLength, !string.utf8.contains(0),
            dbus_signature_validate(string, nil) != 0
        else { throw .badSignature(string) }
        self.string = string
    }

    /// Takes a string that is known to be a signature.
    init(checked string: String) {
        self.string = string
    }

    /// Takes a signature that the program itself spells out; a wrong one traps.
    public init(stringLiteral literal: String) {
        do {
            try self.init(literal)
        } catch {
            preconditionFailure("A literal signature is not one. \(error.message)")
        }
    }

    /// The signature as it travels.
    public var description: String { string }

    static let maximumLength = 255
}
