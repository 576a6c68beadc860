import CDBus
package import SystemCalls

// Invariants
//
// 1. A writer exists only in the closure that gets it. It cannot be copied or made elsewhere, and
//    the message outlives it.
// 2. Every value is checked by the layout before libdbus gets it.
// 3. Every opened container is closed or abandoned, even if its closure throws.

/// Writes the values of a message, one after the other.
///
/// ```swift
/// try connection.emit("/org/example", "org.example.Clock", "Ticked") { writer in
///     try writer.writeUInt64(count)
///     try writer.writeArray(of: "s") { for name in names { try $0.writeString(name) } }
/// }
/// ```
///
/// Every method throws a ``DBusError`` if D-Bus or the container cannot carry the value. Its name
/// is `LimitsExceeded` if the value is too large (an array above 64 MiB, a message above 128 MiB,
/// more than 64 nested containers), and `InvalidArgs` or `InvalidSignature` otherwise. After such
/// an error the message is not sent, even if the error is caught.
package struct MessageWriter: ~Copyable {
    private var iterator = DBusMessageIter()
    private var layout: MessageLayout

    private init(_ message: borrowing Message, path: ObjectPath?) {
        dbus_message_iter_init_append(message.pointer, &iterator)
        layout = MessageLayout(path: path)
    }

    /// How many bytes have been written so far, without the header.
    package var size: Int { layout.size }

    /// Lets a closure write to an empty message.
    ///
    /// - Parameter path: The object path that the message will have.
    /// - Throws: The closure's error, or ``DBusError`` if the message cannot be sent.
    @discardableResult
    static func write(
        to message: borrowing Message, at path: ObjectPath? = nil,
        _ body: (inout MessageWriter) throws -> Void
    ) throws -> Written {
        var writer = MessageWriter(message, path: path)
        try body(&writer)
        return Written(
            signature: try writer.layout.finish(), size: writer.size, weight: writer.layout.weight)
    }

    /// The size of the contents.
    struct Written {
        let signature: Signature
        /// How many bytes it has, without the header.
        let size: Int
        /// How many bytes the message counts when messages are limited.
        let weight: Int
    }

    /// Writes a value that libdbus copies.
    private mutating func writeBasic<T: BitwiseCopyable>(_ type: TypeCode, _ value: T, size: Int)
        throws(DBusError)
    {
        try layout.step { (layout) throws(DBusError) in try layout.value(type, size: size) }
        var value = value
        try checkMemory(
            dbus_message_iter_append_basic(&iterator, Int32(type.rawValue), &value))
    }

    /// Writes text whose length field has this many bytes.
    private mutating func writeText(
        _ type: TypeCode, _ text: String, lengthSize: Int
    ) throws(DBusError) {
        let size = lengthSize + text.utf8.count + 1
        try layout.step { (layout) throws(DBusError) in
            // A Swift string is valid UTF-8, but may contain a NUL, which ends a C string.
            guard !text.utf8.contains(0) else { throw .nulInString }
            try layout.value(type, size: size)
        }
        let result = text.withCString { pointer in
            var pointer = pointer
            return dbus_message_iter_append_basic(&iterator, Int32(type.rawValue), &pointer)
        }
        try checkMemory(result)
    }

    /// Writes an `ay` in one step.
    package mutating func writeBytes(_ bytes: Span<UInt8>) throws(DBusError) {
        try layout.step { (layout) throws(DBusError) in try layout.bytes(count: bytes.count) }
        var inner = DBusMessageIter()
        try checkMemory(
            dbus_message_iter_open_container(
                &iterator, Int32(TypeCode.array.rawValue), "y", &inner))
        // An empty span has no address, and libdbus ends the process for NULL even with no bytes.
        let result: dbus_bool_t =
            bytes.isEmpty
            ? 1
            : bytes.withUnsafeBufferPointer { buffer in
                var start = buffer.baseAddress
                return dbus_message_iter_append_fixed_array(
                    &inner, Int32(TypeCode.byte.rawValue), &start, Int32(buffer.count))
            }
        guard result != 0, dbus_message_iter_close_container(&iterator, &inner) != 0 else {
            dbus_message_iter_abandon_container_if_open(&iterator, &inner)
            throw .noMemory
        }
    }

    /// Writes an `ay` in one step.
    package mutating func writeBytes(_ bytes: [UInt8]) throws(DBusError) {
        try writeBytes(bytes.span)
    }
}

// MARK: Containers

extension MessageWriter {
    /// Writes an array.
    ///
    /// The closure writes its elements.
    ///
    /// - Parameter element: The one complete type of the elements.
    package mutating func writeArray(
        of element: Signature, _ body: (inout MessageWriter) throws -> Void
    ) throws {
        try layout.step { (layout) throws(DBusError) in try layout.openArray(of: element) }
        try write(inside: .array, of: element, body) { (layout) throws(DBusError) in
            try layout.closeArray(of: element)
        }
    }

    /// Writes a dictionary.
    ///
    /// The closure writes its entries with ``writeEntry(_:)``.
    ///
    /// - Parameters:
    ///   - key: The type of the keys, which is not a container.
    ///   - value: The one complete type of the values.
    package mutating func writeDictionary(
        key: Signature, value: Signature, _ body: (inout MessageWriter) throws -> Void
    ) throws {
        try writeArray(of: .entry(key: key, value: value), body)
    }

    /// Writes an entry of a dictionary.
    ///
    /// The closure writes a key and a value.
    package mutating func writeEntry(_ body: (inout MessageWriter) throws -> Void) throws {
        try layout.step { (layout) throws(DBusError) in try layout.openEntry() }
        try write(inside: .dictionaryEntry, body) { (layout) throws(DBusError) in
            try layout.closeEntry()
        }
    }

    /// Writes a structure.
    ///
    /// The closure writes its fields.
    package mutating func writeStructure(_ body: (inout MessageWriter) throws -> Void) throws {
        try layout.step { (layout) throws(DBusError) in try layout.openStructure() }
        try write(inside: .structure, body) { (layout) throws(DBusError) in
            try layout.closeStructure()
        }
    }

    /// Writes a variant.
    ///
    /// The closure writes its one value.
    package mutating func writeVariant(
        of type: Signature, _ body: (inout MessageWriter) throws -> Void
    ) throws {
        try layout.step { (layout) throws(DBusError) in try layout.openVariant(of: type) }
        try write(inside: .variant, of: type, body) { (layout) throws(DBusError) in
            try layout.closeVariant()
        }
    }

    /// Opens a container in libdbus, fills it, and closes it.
    private mutating func write(
        inside type: TypeCode, of contents: Signature? = nil,
        _ body: (inout MessageWriter) throws -> Void,
        close: (inout MessageLayout) throws(DBusError) -> Void
    ) throws {
        var outer = iterator
        dbus_message_iter_init_closed(&iterator)
        do {
            try checkMemory(
                dbus_message_iter_open_container(
                    &outer, Int32(type.rawValue), contents?.string, &iterator))
            try body(&self)
            try layout.step(close)
            try checkMemory(dbus_message_iter_close_container(&outer, &iterator))
            iterator = outer
        } catch {
            dbus_message_iter_abandon_container_if_open(&outer, &iterator)
            iterator = outer
            layout.spoil(error)
            throw error
        }
    }
}

/// Values that contain no others.
extension MessageWriter {
    /// Writes a `y`.
    package mutating func writeByte(_ value: UInt8) throws(DBusError) {
        try writeBasic(.byte, value, size: 1)
    }

    /// Writes a `b`.
    package mutating func writeBool(_ value: Bool) throws(DBusError) {
        // A boolean has four bytes, in libdbus as in the message.
        try writeBasic(.boolean, dbus_bool_t(value ? 1 : 0), size: 4)
    }

    /// Writes an `n`.
    package mutating func writeInt16(_ value: Int16) throws(DBusError) {
        try writeBasic(.int16, value, size: 2)
    }

    /// Writes a `q`.
    package mutating func writeUInt16(_ value: UInt16) throws(DBusError) {
        try writeBasic(.uint16, value, size: 2)
    }

    /// Writes an `i`.
    package mutating func writeInt32(_ value: Int32) throws(DBusError) {
        try writeBasic(.int32, value, size: 4)
    }

    /// Writes a `u`.
    package mutating func writeUInt32(_ value: UInt32) throws(DBusError) {
        try writeBasic(.uint32, value, size: 4)
    }

    /// Writes an `x`.
    package mutating func writeInt64(_ value: Int64) throws(DBusError) {
        try writeBasic(.int64, value, size: 8)
    }

    /// Writes a `t`.
    package mutating func writeUInt64(_ value: UInt64) throws(DBusError) {
        try writeBasic(.uint64, value, size: 8)
    }

    /// Writes a `d`.
    package mutating func writeDouble(_ value: Double) throws(DBusError) {
        try writeBasic(.double, value, size: 8)
    }

    /// Writes an `s`, which may contain every character except NUL.
    package mutating func writeString(_ value: String) throws(DBusError) {
        try writeText(.string, value, lengthSize: 4)
    }

    /// Writes an `o`.
    package mutating func writeObjectPath(_ value: ObjectPath) throws(DBusError) {
        try writeText(.objectPath, value.string, lengthSize: 4)
    }

    /// Writes a `g`.
    package mutating func writeSignature(_ value: Signature) throws(DBusError) {
        try writeText(.signature, value.string, lengthSize: 1)
    }

    /// Writes an `h`.
    ///
    /// The message gets a duplicate; the caller still owns the descriptor.
    ///
    /// - Throws: ``DBusError`` with the name `NoMemory` if the process has no free descriptor for
    ///   the duplicate, or `LimitsExceeded` if the message already has 16.
    package mutating func writeUnixFD(_ value: FileDescriptor) throws(DBusError) {
        try writeBasic(.unixFD, value.number, size: 4)
    }
}
