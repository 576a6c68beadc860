/// The path of an object: `/`, or elements each with a slash before it,
/// `/org/example/Object`.
///
/// See the [specification][1].
///
/// [1]: https://dbus.freedesktop.org/doc/dbus-specification.html#message-protocol-marshaling-object-path
public struct ObjectPath: DBusName {
    /// The path as it travels.
    public let string: String

    /// Checks a string against the rule of object paths.
    ///
    /// - Throws: ``DBusError`` of the name `InvalidArgs` that quotes the string and says what is
    ///   wrong with it.
    public init(_ string: some StringProtocol) throws(DBusError) {
        // The root is the only path whose one element is empty.
        try self.init(checked: string == "/" ? "/" : NameGrammar.path.check(string))
    }

    /// Takes a string that is known to follow the rule: it was checked, or libdbus did.
    init(checked string: String) {
        self.string = string
    }

    /// The paths above this one, the nearest first, the root last.
    var ancestors: [ObjectPath] {
        var ancestors: [ObjectPath] = []
        var rest = string[...]
        while rest.utf8.count > 1, let slash = rest.utf8.lastIndex(of: UInt8(ascii: "/")) {
            rest = rest[..<slash]
            ancestors.append(ObjectPath(checked: rest.isEmpty ? "/" : String(rest)))
        }
        return ancestors
    }

    /// The name of the element that follows this path on the way down to another, or nil where
    /// the other is not below.
    func child(towards descendant: ObjectPath) -> Substring? {
        let base = string == "/" ? "/" : string + "/"
        guard descendant.string.utf8.count > base.utf8.count, descendant.string.hasPrefix(base)
        else { return nil }
        return descendant.string.dropFirst(base.count).prefix { $0 != "/" }
    }
}
