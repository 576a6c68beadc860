/// A name on the bus: a unique one, given by the bus (`:1.42`), or a well-known one, requested by
/// its owner (`org.example.Service`).
///
/// See the [specification][1].
///
/// [1]: https://dbus.freedesktop.org/doc/dbus-specification.html#message-protocol-names-bus
public struct BusName: DBusName {
    /// The name as it travels.
    public let string: String

    /// Checks a string against the rule of this kind of name.
    ///
    /// - Throws: ``DBusError`` of the name `InvalidArgs` that quotes the string and says what is
    ///   wrong with it.
    public init(_ string: some StringProtocol) throws(DBusError) {
        let grammar = string.hasPrefix(":") ? NameGrammar.uniqueBus : .bus
        try self.init(checked: grammar.check(string))
    }

    /// Takes a string that is known to follow the rule: it was checked, or libdbus did.
    init(checked string: String) {
        self.string = string
    }

    /// Whether the bus gave it to a connection, rather than a service having asked for it.
    ///
    /// A unique name belongs to one connection for good; it is not handed out again.
    public var isUnique: Bool { string.utf8.first == UInt8(ascii: ":") }

    /// The bus itself.
    public static let bus: BusName = "org.freedesktop.DBus"
}
