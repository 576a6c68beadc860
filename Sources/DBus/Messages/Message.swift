import CDBus

/// The owner of one reference to a libdbus message.
///
/// It does not leave the loop's thread: libdbus counts what is alive against the connection that a
/// message came from, without a lock. It is `@unchecked Sendable` for closures that borrow it while
/// they assume an actor of the loop to be isolated; those run on the same thread.
struct Message: ~Copyable, @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over the reference that a call of libdbus gave us; nil is out of memory.
    init(adopting pointer: OpaquePointer?) throws(DBusError) {
        guard let pointer else { throw .noMemory }
        self.pointer = pointer
    }

    /// Takes over a reference that ``relinquish()`` gave away.
    init(owned pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Takes a reference of its own to a message that libdbus lent us.
    init(retaining pointer: OpaquePointer) {
        self.pointer = dbus_message_ref(pointer)
    }

    deinit {
        dbus_message_unref(pointer)
    }

    /// Gives the reference away; the caller owns it now.
    consuming func relinquish() -> OpaquePointer {
        let pointer = pointer
        discard self
        return pointer
    }
}

/// Messages to be sent.
extension Message {
    /// A call or a signal without an address, which ``address(to:_:_:_:)`` gives it when it is written.
    ///
    /// The time that libdbus takes for each value grows with what the header already has.
    static func unaddressed(_ kind: OutgoingKind) throws(DBusError) -> Message {
        let message = try Message(adopting: dbus_message_new(kind.rawValue))
        if kind == .signal { message.expectNoReply() }
        return message
    }

    enum OutgoingKind: Int32 {
        // As DBUS_MESSAGE_TYPE_METHOD_CALL and DBUS_MESSAGE_TYPE_SIGNAL.
        case call = 1
        case signal = 4
    }

    func address(
        to destination: BusName?, _ path: ObjectPath, _ interface: InterfaceName,
        _ member: MemberName
    ) throws(DBusError) {
        try checkMemory(dbus_message_set_path(pointer, path.string))
        if let destination {
            try checkMemory(dbus_message_set_destination(pointer, destination.string))
        }
        try checkMemory(dbus_message_set_interface(pointer, interface.string))
        try checkMemory(dbus_message_set_member(pointer, member.string))
    }

    /// A call that nothing is written to, or little.
    static func call(
        _ destination: BusName?, _ path: ObjectPath, _ interface: InterfaceName,
        _ member: MemberName
    ) throws(DBusError) -> Message {
        let message = try unaddressed(.call)
        try message.address(to: destination, path, interface, member)
        return message
    }

    /// Tells the bus not to start a program for a destination that nobody owns.
    func startNobody() {
        dbus_message_set_auto_start(pointer, 0)
    }

    /// Tells the callee that nobody waits for its reply.
    func expectNoReply() {
        dbus_message_set_no_reply(pointer, 1)
    }

    static func reply(to call: borrowing Message) throws(DBusError) -> Message {
        try Message(adopting: dbus_message_new_method_return(call.pointer))
    }

    /// An error without any values, which ``DBusError/write(to:)`` adds.
    static func error(
        named name: ErrorName, to call: borrowing Message
    ) throws(DBusError) -> Message {
        try Message(adopting: dbus_message_new_error(call.pointer, name.string, nil))
    }
}

/// What is in a message's header. libdbus has checked every name by the rules of its type.
extension Message {
    enum Kind {
        case call, reply, error, signal
    }

    /// Nil for a kind that a later version of the protocol may bring, which is to be ignored.
    var kind: Kind? {
        switch dbus_message_get_type(pointer) {
        case DBUS_MESSAGE_TYPE_METHOD_CALL: .call
        case DBUS_MESSAGE_TYPE_METHOD_RETURN: .reply
        case DBUS_MESSAGE_TYPE_ERROR: .error
        case DBUS_MESSAGE_TYPE_SIGNAL: .signal
        default: nil
        }
    }

    var sender: BusName? { Self.text(dbus_message_get_sender(pointer)).map(BusName.init(checked:)) }
    var path: ObjectPath? {
        Self.text(dbus_message_get_path(pointer)).map(ObjectPath.init(checked:))
    }
    var interface: InterfaceName? {
        Self.text(dbus_message_get_interface(pointer)).map(InterfaceName.init(checked:))
    }
    var member: MemberName? {
        Self.text(dbus_message_get_member(pointer)).map(MemberName.init(checked:))
    }
    var errorName: ErrorName? {
        Self.text(dbus_message_get_error_name(pointer)).map(ErrorName.init(checked:))
    }
    var signature: Signature {
        Signature(checked: Self.text(dbus_message_get_signature(pointer)) ?? "")
    }
    var replySerial: UInt32 { dbus_message_get_reply_serial(pointer) }
    var isReplyExpected: Bool { dbus_message_get_no_reply(pointer) == 0 }

    /// Whether it brings descriptors, which are open as long as the message is alive.
    var hasDescriptors: Bool { dbus_message_contains_unix_fds(pointer) != 0 }

    /// The bytes on the wire.
    ///
    /// libdbus tells them only of a copy that it makes; if it has no memory for one, the message
    /// counts as the largest.
    var size: Int {
        var copy: UnsafeMutablePointer<CChar>?
        var size: Int32 = 0
        guard dbus_message_marshal(pointer, &copy, &size) != 0 else {
            return MessageLimits.maximumMessage
        }
        dbus_free(copy)
        return Int(size)
    }

    func hasSignature(_ signature: Signature) -> Bool {
        dbus_message_has_signature(pointer, signature.string) != 0
    }

    /// Whether it is libdbus's own notice, which nobody can send, that the connection is gone.
    var isDisconnection: Bool {
        dbus_message_is_signal(pointer, DBUS_INTERFACE_LOCAL, "Disconnected") != 0
    }

    /// The name that the bus says we do not own any more; nil for another message.
    var lostName: BusName? { name(in: "NameLost") }

    /// The name that the bus says we own now; nil for another message.
    var acquiredName: BusName? { name(in: "NameAcquired") }

    private func name(in signal: String) -> BusName? {
        guard dbus_message_is_signal(pointer, DBUS_INTERFACE_DBUS, signal) != 0, sender == .bus
        else { return nil }
        var reader = MessageReader(self)
        return try? BusName(try reader.readString())
    }

    /// The error in an error message.
    var error: DBusError {
        var reader = MessageReader(self)
        // The text is a custom, not a rule: an error may come with anything, or nothing.
        let text = try? reader.readString()
        let details = text == nil ? nil : try? reader.readValues()
        return DBusError(errorName ?? .failed, text ?? "", details: details ?? [])
    }

    private static func text(_ string: UnsafePointer<CChar>?) -> String? {
        string.map { String(cString: $0) }
    }
}
