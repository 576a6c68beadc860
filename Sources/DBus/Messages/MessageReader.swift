import CDBus

// Invariants
//
// 1. A reader lives inside the closure that it is lent to, and the message outlives it: it can be
//    neither copied nor made elsewhere.
// 2. Nothing is read as another type than it is; libdbus would end the process.
// 3. What libdbus hands over, it has checked: sizes, UTF-8, names, and 64 levels of nesting.

/// Reads the values of a message, one after the other.
///
/// ```swift
/// let (name, ids) = try call.arguments { reader in
///     (try reader.readString(), try reader.readArray { try $0.readUInt32() })
/// }
/// ```
///
/// Every method throws a ``DBusError`` of the name `InvalidArgs` where the next value is of another
/// type, and stays where it is then.
public struct MessageReader: ~Copyable {
    var iterator = DBusMessageIter()
    /// How many values have been read, so that an element that reads nothing is noticed.
    private(set) var valuesRead = 0

    init(_ message: borrowing Message) {
        // FALSE says that there are no values; the iterator knows that too.
        _ = dbus_message_iter_init(message.pointer, &iterator)
    }

    /// Makes a reader of what is inside the next value of another one.
    init(inside outer: inout MessageReader) {
        dbus_message_iter_recurse(&outer.iterator, &iterator)
    }

    /// The type of the next value, or nil at the end of the message or the container.
    public var nextType: TypeCode? {
        mutating get { TypeCode(libdbus: dbus_message_iter_get_arg_type(&iterator)) }
    }

    /// The whole type of the next value, or nil at the end.
    public var nextSignature: Signature? {
        mutating get {
            guard nextType != nil, let text = dbus_message_iter_get_signature(&iterator) else {
                return nil
            }
            defer { dbus_free(text) }
            return Signature(checked: String(cString: text))
        }
    }

    /// Whether there is nothing left to read here.
    public var isAtEnd: Bool {
        mutating get { nextType == nil }
    }

    mutating func expect(_ type: TypeCode) throws(DBusError) {
        let next = nextType
        guard next == type else { throw .unexpectedType(next, expected: type) }
    }

    mutating func expectEnd() throws(DBusError) {
        if let left = nextType { throw .valuesLeft(left) }
    }

    mutating func advance() {
        dbus_message_iter_next(&iterator)
        valuesRead += 1
    }

    /// Reads a value that libdbus copies to where it is told.
    mutating func readBasic<T: BitwiseCopyable>(_ type: TypeCode, into value: inout T)
        throws(DBusError)
    {
        try expect(type)
        dbus_message_iter_get_basic(&iterator, &value)
        advance()
    }

    /// Reads a value of text, which libdbus lends.
    mutating func readText(_ type: TypeCode) throws(DBusError) -> String {
        var text: UnsafePointer<CChar>?
        try readBasic(type, into: &text)
        guard let text else { preconditionFailure("libdbus gave no text for a '\(type)'.") }
        return String(cString: text)
    }
}
