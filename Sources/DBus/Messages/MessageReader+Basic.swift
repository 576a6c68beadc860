import CDBus

/// Values that hold no others.
extension MessageReader {
    /// Reads a `y`.
    public mutating func readByte() throws(DBusError) -> UInt8 { try readNumber(.byte) }
    /// Reads an `n`.
    public mutating func readInt16() throws(DBusError) -> Int16 { try readNumber(.int16) }
    /// Reads a `q`.
    public mutating func readUInt16() throws(DBusError) -> UInt16 { try readNumber(.uint16) }
    /// Reads an `i`.
    public mutating func readInt32() throws(DBusError) -> Int32 { try readNumber(.int32) }
    /// Reads a `u`.
    public mutating func readUInt32() throws(DBusError) -> UInt32 { try readNumber(.uint32) }
    /// Reads an `x`.
    public mutating func readInt64() throws(DBusError) -> Int64 { try readNumber(.int64) }
    /// Reads a `t`.
    public mutating func readUInt64() throws(DBusError) -> UInt64 { try readNumber(.uint64) }

    /// Reads a `d`.
    public mutating func readDouble() throws(DBusError) -> Double {
        var value = 0.0
        try readBasic(.double, into: &value)
        return value
    }

    /// Reads a `b`.
    public mutating func readBool() throws(DBusError) -> Bool {
        var value: dbus_bool_t = 0
        try readBasic(.boolean, into: &value)
        return value != 0
    }

    /// Reads an `s`.
    public mutating func readString() throws(DBusError) -> String {
        try readText(.string)
    }

    /// Reads an `o`.
    public mutating func readObjectPath() throws(DBusError) -> ObjectPath {
        ObjectPath(checked: try readText(.objectPath))
    }

    /// Reads a `g`.
    public mutating func readSignature() throws(DBusError) -> Signature {
        Signature(checked: try readText(.signature))
    }

    /// Reads an `h`: a descriptor of the reader's own, closed with the last reference to it.
    ///
    /// - Throws: ``DBusError``, of the name `InvalidArgs`, too, where the message has no descriptor at
    ///   the index that its sender wrote, or this process no number left; libdbus does not tell which.
    public mutating func readUnixFD() throws(DBusError) -> FileDescriptor {
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
