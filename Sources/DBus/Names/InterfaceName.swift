/// The name of an interface: two elements or more, `org.example.Interface`.
///
/// See the [specification][1].
///
/// [1]: https://dbus.freedesktop.org/doc/dbus-specification.html#message-protocol-names-interface
public struct InterfaceName: DBusName {
    /// The name as it travels.
    public let string: String

    /// Checks a string against the rule of this kind of name.
    ///
    /// - Throws: ``DBusError`` of the name `InvalidArgs` that quotes the string and says what is
    ///   wrong with it.
    public init(_ string: some StringProtocol) throws(DBusError) {
        try self.init(checked: NameGrammar.interface.check(string))
    }

    /// Takes a string that is known to follow the rule: it was checked, or libdbus did.
    init(checked string: String) {
        self.string = string
    }
}
