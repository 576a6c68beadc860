/// The name of an error, by the rule of interface names: `org.example.Error.NotFound`.
///
/// See the [specification][1].
///
/// [1]: https://dbus.freedesktop.org/doc/dbus-specification.html#message-protocol-names-error
public struct ErrorName: DBusName {
    /// The name as it travels.
    public let string: String

    /// Checks a string against the rule of this kind of name.
    ///
    /// - Throws: ``DBusError`` of the name `InvalidArgs` that quotes the string and says what is
    ///   wrong with it.
    public init(_ string: some StringProtocol) throws(DBusError) {
        try self.init(checked: NameGrammar.error.check(string))
    }

    /// Takes a string that is known to follow the rule: it was checked, or libdbus did.
    init(checked string: String) {
        self.string = string
    }
}
