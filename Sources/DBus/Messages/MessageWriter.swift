import CDBus
package import SystemCalls

// Invariants
//
// 1. A writer lives inside the closure that it is lent to: it can be neither copied nor made
//    elsewhere, and the message outlives it.
// 2. Nothing is given to libdbus that the layout has not let through.
// 3. A container that was opened is closed or given up, even if its closure throws.

/// Writes the values of a message, one after the other.
///
/// ```swift
/// try connection.emit("/org/example", "org.example.Clock", "Ticked") { writer in
///     try writer.writeUInt64(count)
///     try writer.writeArray(of: "s") { for name in names { try $0.writeString(name) } }
/// }
/// ```
///
/// Every method throws a ``DBusError`` if D-Bus or the container cannot carry the value: of the
/// name `LimitsExceeded` for a size (an array of 64 MiB, a message of 128 MiB, 64 containers inside
/// each other), of the names `InvalidArgs` and `InvalidSignature` for the rest. A message that one
/// of them has failed for is spoiled: it is not sent, even if the error is caught on the way.
package struct MessageWriter: ~Copyable {
    private var iterator = DBusMessageIter()
    private var layout: MessageLayout

    private init(_ message: borrowing Message) {
        dbus_message_iter_init_append(message.pointer, &iterator)
        layout = MessageLayout(path: message.path)
    }

    /// How many bytes have been written so far, the header not counted.
    package var size: Int { layout.size }

    /// Writes what a closure writes to a message that is empty so far.
    ///
    /// - Throws: The closure's error, or ``DBusError`` if the message cannot be sent.
    @discardableResult
    static func write(
        to message: borrowing Message, _ body: (inout MessageWriter) throws -> Void
    ) throws -> Written {
        var writer = MessageWriter(message)
        try body(&writer)
        return Written(signature: try writer.layout.finish(), weight: writer.layout.weight)
    }

    /// What was written to a message.
    struct Written {
        let signature: Signature
        /// What the message counts as in an account of bytes.
        let weight: Int
    }

    /// Writes a value that libdbus copies from where it stands.
    private mutating func writeBasic<T: BitwiseCopyable>(_ type: TypeCode, _ value: T, size: Int)
        throws(DBusError)
    {
        try layout.step { (layout) throws(DBusError) in try layout.value(type, size: size) }
        var value = value
        try checkMemory(
            dbus_message_iter_append_basic(&iterator, Int32(type.rawValue), &value))
    }

    /// Writes a value of text, whose length field has so many bytes.
    private mutating func writeText(
        _ type: TypeCode, _ text: String, lengthSize: Int
    ) throws(DBusError) {
        let size = lengthSize + text.utf8.count + 1
        try layout.step { (layout) throws(DBusError) in
            // A Swift string is valid UTF-8, but may hold what ends a C string.
            guard !text.utf8.contains(0) else { throw .nulInString }
            try layout.value(type, size: size)
        }
        let result = text.withCString { pointer in
            var pointer = pointer
            return dbus_message_iter_append_basic(&iterator, Int32(type.rawValue), &pointer)
        }
        try checkMemory(result)
    }

    /// Writes an `ay` in one piece.
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

    /// Writes an `ay` in one piece.
    package mutating func writeBytes(_ bytes: [UInt8]) throws(DBusError) {
        try writeBytes(bytes.span)
    }
}

// MARK: Containers

extension MessageWriter {
    /// Writes an array, whose elements the closure writes.
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

    /// Writes a dictionary, whose entries the closure writes with ``writeEntry(_:)``.
    ///
    /// - Parameters:
    ///   - key: The type of the keys, which is not a container.
    ///   - value: The one complete type of the values.
    package mutating func writeDictionary(
        key: Signature, value: Signature, _ body: (inout MessageWriter) throws -> Void
    ) throws {
        try writeArray(of: .entry(key: key, value: value), body)
    }

    /// Writes an entry of a dictionary: the closure writes a key and a value.
    package mutating func writeEntry(_ body: (inout MessageWriter) throws -> Void) throws {
        try layout.step { (layout) throws(DBusError) in try layout.openEntry() }
        try write(inside: .dictionaryEntry, body) { (layout) throws(DBusError) in
            try layout.closeEntry()
        }
    }

    /// Writes a structure, whose fields the closure writes.
    package mutating func writeStructure(_ body: (inout MessageWriter) throws -> Void) throws {
        try layout.step { (layout) throws(DBusError) in try layout.openStructure() }
        try write(inside: .structure, body) { (layout) throws(DBusError) in
            try layout.closeStructure()
        }
    }

    /// Writes a variant, whose one value the closure writes.
    package mutating func writeVariant(
        of type: Signature, _ body: (inout MessageWriter) throws -> Void
    ) throws {
        try layout.step { (layout) throws(DBusError) in try layout.openVariant(of: type) }
        try write(inside: .variant, of: type, body) { (layout) throws(DBusError) in
            try layout.closeVariant()
        }
    }

    /// Opens a container in libdbus, has it filled, and closes it.
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

/// Values that hold no others.
extension MessageWriter {
    /// Writes a `y`.
    package mutating func writeByte(_ value: UInt8) throws(DBusError) {
        try writeBasic(.byte, value, size: 1)
    }

    /// Writes a `b`.
    package mutating func writeBool(_ value: Bool) throws(DBusError) {
        // A boolean is four bytes, in libdbus as on the wire.
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

    /// Writes an `s`, which may hold everything but a NUL character.
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
    /// The message carries a duplicate; the descriptor stays the caller's.
    ///
    /// - Throws: ``DBusError``, of the name `NoMemory` if the process has no number left for the
    ///   duplicate, of the name `LimitsExceeded` if the message has 16 of them already.
    package mutating func writeUnixFD(_ value: FileDescriptor) throws(DBusError) {
        try writeBasic(.unixFD, value.number, size: 4)
    }
}
