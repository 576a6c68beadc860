/// The name of an error, by the rule of interface names: `org.example.Error.NotFound`.
///
/// See the [specification][1].
///
/// [1]: https://dbus.freedesktop.org/doc/dbus-specification.html#message-protocol-names-error
package struct ErrorName: DBusName {
    /// The name as it travels.
    package let string: String

    /// Checks a string against the rule of this kind of name.
    ///
    /// - Throws: ``DBusError`` of the name `InvalidArgs` that quotes the string and says what is
    ///   wrong with it.
    package init(_ string: some StringProtocol) throws(DBusError) {
        try self.init(checked: NameGrammar.error.check(string))
    }

    /// Takes a string that is known to follow the rule: it was checked, or libdbus did.
    init(checked string: String) {
        self.string = string
    }
}

/// The names that the bus itself and every peer use.
extension ErrorName {
    /// Something failed and no other name fits.
    package static let failed: ErrorName = "org.freedesktop.DBus.Error.Failed"
    /// There is no memory for it.
    package static let noMemory: ErrorName = "org.freedesktop.DBus.Error.NoMemory"
    /// Nobody owns the name, and nobody can be started for it.
    package static let serviceUnknown: ErrorName = "org.freedesktop.DBus.Error.ServiceUnknown"
    /// A unique name that has left the bus, or a name without an owner.
    package static let nameHasNoOwner: ErrorName = "org.freedesktop.DBus.Error.NameHasNoOwner"
    /// The one who was called has left before it answered.
    package static let noReply: ErrorName = "org.freedesktop.DBus.Error.NoReply"
    /// We waited in vain for the reply of the peer.
    package static let timeout: ErrorName = "org.freedesktop.DBus.Error.Timeout"
    /// The connection to the bus is gone.
    package static let disconnected: ErrorName = "org.freedesktop.DBus.Error.Disconnected"
    /// Reading or writing failed, or a resource of the system ran out.
    package static let ioError: ErrorName = "org.freedesktop.DBus.Error.IOError"
    /// A quota or a size of the protocol is exceeded.
    package static let limitsExceeded: ErrorName = "org.freedesktop.DBus.Error.LimitsExceeded"
    /// The arguments are of the wrong types, or say something impossible.
    package static let invalidArguments: ErrorName = "org.freedesktop.DBus.Error.InvalidArgs"
    /// A signature is not one.
    package static let invalidSignature: ErrorName = "org.freedesktop.DBus.Error.InvalidSignature"
    /// The interface has no such method.
    package static let unknownMethod: ErrorName = "org.freedesktop.DBus.Error.UnknownMethod"
    /// There is no object at the path.
    package static let unknownObject: ErrorName = "org.freedesktop.DBus.Error.UnknownObject"
    /// The object has no such interface.
    package static let unknownInterface: ErrorName = "org.freedesktop.DBus.Error.UnknownInterface"
    /// The interface has no such property.
    package static let unknownProperty: ErrorName = "org.freedesktop.DBus.Error.UnknownProperty"
    /// The property cannot be set.
    package static let propertyReadOnly: ErrorName = "org.freedesktop.DBus.Error.PropertyReadOnly"
}
