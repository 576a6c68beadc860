import CDBus
package import SystemCalls

// Invariants
//
// 1. A reader is valid only inside the closure that gets it, and the message lives longer. It
//    cannot be copied or made elsewhere.
// 2. Nothing is read as another type than it is; libdbus would end the process.
// 3. libdbus has checked what it gives: sizes, UTF-8, names, and 64 levels of nesting.

/// Reads the values of a message, one after the other.
///
/// ```swift
/// let (name, ids) = try call.arguments { reader in
///     (try reader.readString(), try reader.readArray { try $0.readUInt32() })
/// }
/// ```
///
/// Every method throws a ``DBusError`` of the name `InvalidArgs` if the next value is of another
/// type. Then the value is not consumed.
package struct MessageReader: ~Copyable {
    var iterator = DBusMessageIter()
    /// How many values have been read, so that an element that reads nothing is noticed.
    private(set) var valuesRead = 0

    init(_ message: borrowing Message) {
        // FALSE means that there are no values. The iterator knows that, too.
        _ = dbus_message_iter_init(message.pointer, &iterator)
    }

    /// Makes a reader for the inside of the next value of another reader.
    init(inside outer: inout MessageReader) {
        dbus_message_iter_recurse(&outer.iterator, &iterator)
    }

    /// The type of the next value, or nil at the end of the message or the container.
    package var nextType: TypeCode? {
        mutating get { TypeCode(libdbus: dbus_message_iter_get_arg_type(&iterator)) }
    }

    /// The whole type of the next value, or nil at the end.
    package var nextSignature: Signature? {
        mutating get {
            guard nextType != nil, let text = dbus_message_iter_get_signature(&iterator) else {
                return nil
            }
            defer { dbus_free(text) }
            return Signature(checked: String(cString: text))
        }
    }

    /// Whether there is nothing left to read here.
    package var isAtEnd: Bool {
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

    /// Reads a value that libdbus copies to an address.
    private mutating func readBasic<T: BitwiseCopyable>(_ type: TypeCode, into value: inout T)
        throws(DBusError)
    {
        try expect(type)
        dbus_message_iter_get_basic(&iterator, &value)
        advance()
    }

    /// Reads text, which belongs to libdbus.
    mutating func readText(_ type: TypeCode) throws(DBusError) -> String {
        var text: UnsafePointer<CChar>?
        try readBasic(type, into: &text)
        guard let text else { preconditionFailure("libdbus gave no text for a '\(type)'.") }
        return String(cString: text)
    }
}

/// Values without other values inside.
extension MessageReader {
    /// Reads a `y`.
    package mutating func readByte() throws(DBusError) -> UInt8 { try readNumber(.byte) }
    /// Reads an `n`.
    package mutating func readInt16() throws(DBusError) -> Int16 { try readNumber(.int16) }
    /// Reads a `q`.
    package mutating func readUInt16() throws(DBusError) -> UInt16 { try readNumber(.uint16) }
    /// Reads an `i`.
    package mutating func readInt32() throws(DBusError) -> Int32 { try readNumber(.int32) }
    /// Reads a `u`.
    package mutating func readUInt32() throws(DBusError) -> UInt32 { try readNumber(.uint32) }
    /// Reads an `x`.
    package mutating func readInt64() throws(DBusError) -> Int64 { try readNumber(.int64) }
    /// Reads a `t`.
    package mutating func readUInt64() throws(DBusError) -> UInt64 { try readNumber(.uint64) }

    /// Reads a `d`.
    package mutating func readDouble() throws(DBusError) -> Double {
        var value = 0.0
        try readBasic(.double, into: &value)
        return value
    }

    /// Reads a `b`.
    package mutating func readBool() throws(DBusError) -> Bool {
        var value: dbus_bool_t = 0
        try readBasic(.boolean, into: &value)
        return value != 0
    }

    /// Reads an `s`.
    package mutating func readString() throws(DBusError) -> String {
        try readText(.string)
    }

    /// Reads an `o`.
    package mutating func readObjectPath() throws(DBusError) -> ObjectPath {
        ObjectPath(checked: try readText(.objectPath))
    }

    /// Reads a `g`.
    package mutating func readSignature() throws(DBusError) -> Signature {
        Signature(checked: try readText(.signature))
    }

    /// Reads an `h`: a new descriptor, closed with the last reference to it.
    ///
    /// - Throws: ``DBusError``, of the name `InvalidArgs`, too, if the message has no descriptor at
    ///   the index that its sender wrote, or if this process has no descriptor left. libdbus does
    ///   not say which.
    package mutating func readUnixFD() throws(DBusError) -> FileDescriptor {
        var number: Int32 = -1
        // libdbus duplicates it, close-on-exec set.
        try readBasic(.unixFD, into: &number)
        guard number >= 0 else { throw .missingDescriptor }
        return FileDescriptor(owning: number)
    }

    private mutating func readNumber<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: TypeCode
    ) throws(DBusError) -> Number {
        var value: Number = 0
        try readBasic(type, into: &value)
        return value
    }
}

/// Values with other values inside. The closure gets a reader for these.
extension MessageReader {
    /// Reads an array: calls the closure for each element, which it must read.
    ///
    /// - Returns: The results of the closure, in the order of the elements.
    package mutating func readArray<Element>(
        _ element: (inout MessageReader) throws -> Element
    ) throws -> [Element] {
        try expect(.array)
        return try readInside { inner in
            var elements: [Element] = []
            while !inner.isAtEnd {
                let before = inner.valuesRead
                elements.append(try element(&inner))
                precondition(inner.valuesRead != before, "An element of an array was not read.")
            }
            return elements
        }
    }

    /// Reads a dictionary: calls the closure for each entry.
    ///
    /// It must read key and value.
    ///
    /// - Returns: The entries in the order of the message. A key may be there twice: D-Bus forbids
    ///   it, but nobody checks.
    package mutating func readDictionary<Key, Content>(
        _ entry: (inout MessageReader) throws -> (Key, Content)
    ) throws -> [(Key, Content)] {
        try expect(.array)
        guard nextElementType == .dictionaryEntry else {
            throw DBusError.unexpectedType(nextElementType, expected: .dictionaryEntry)
        }
        return try readArray { try $0.readWhole(.dictionaryEntry, entry) }
    }

    /// Reads a structure: the closure must read all of its fields.
    package mutating func readStructure<Content>(
        _ fields: (inout MessageReader) throws -> Content
    ) throws -> Content {
        try readWhole(.structure, fields)
    }

    /// Reads a variant: the closure must read its one value, which has the type ``nextSignature``.
    package mutating func readVariant<Content>(
        _ value: (inout MessageReader) throws -> Content
    ) throws -> Content {
        try readWhole(.variant, value)
    }

    /// Reads some entries of an `a{sv}`: the closure gets each value with its key and its type, and
    /// need not read unknown ones.
    mutating func readEntries(
        _ body: (_ key: String, _ type: Signature, _ value: inout MessageReader) throws -> Void
    ) throws {
        _ = try readDictionary { entry in
            let key = try entry.readString()
            try entry.readVariant { value in
                guard let type = value.nextSignature else { throw DBusError.noValue }
                try body(key, type, &value)
                if !value.isAtEnd { value.advance() }
            }
            return (key, ())
        }
    }

    /// Reads an `ay` in one piece.
    package mutating func readBytes() throws -> [UInt8] {
        try withBytes { bytes in
            bytes.withUnsafeBufferPointer { Array($0) }
        }
    }

    /// Gives the bytes of an `ay` to a closure, without a copy.
    package mutating func withBytes<Result>(
        _ body: (Span<UInt8>) throws -> Result
    ) throws -> Result {
        try expect(.array)
        guard nextElementType == .byte else {
            throw DBusError.unexpectedType(nextElementType, expected: .byte)
        }
        return try readInside { inner in
            var start: UnsafePointer<UInt8>?
            var count: Int32 = 0
            dbus_message_iter_get_fixed_array(&inner.iterator, &start, &count)
            // The pointer is into the message, which outlives this reader; nil if there is no byte.
            let buffer = UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(count))
            return try body(buffer.span)
        }
    }

    /// The type of the elements if an array comes next, or nil.
    package var nextElementType: TypeCode? {
        mutating get {
            // libdbus ends the process if it is asked about another type.
            guard nextType == .array else { return nil }
            return TypeCode(libdbus: dbus_message_iter_get_element_type(&iterator))
        }
    }

    private mutating func readWhole<Content>(
        _ type: TypeCode, _ body: (inout MessageReader) throws -> Content
    ) throws -> Content {
        try expect(type)
        return try readInside { inner in
            let content = try body(&inner)
            try inner.expectEnd()
            return content
        }
    }

    private mutating func readInside<Content>(
        _ body: (inout MessageReader) throws -> Content
    ) throws -> Content {
        var inner = MessageReader(inside: &self)
        let content = try body(&inner)
        advance()
        return content
    }
}
