/// The name of a method, a signal or a property: one element, `GetAll`.
///
/// See the [specification][1].
///
/// [1]: https://dbus.freedesktop.org/doc/dbus-specification.html#message-protocol-names-member
public struct MemberName: DBusName {
    public let string: String

    public init(_ string: some StringProtocol) throws(DBusError) {
        try self.init(checked: NameGrammar.member.check(string))
    }

    /// Takes a string that is known to follow the rule: it was checked, or libdbus did.
    init(checked string: String) {
        self.string = string
    }
}
