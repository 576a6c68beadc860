import CDBus

/// Values that hold no others.
extension MessageWriter {
    /// Writes a `y`.
    public mutating func writeByte(_ value: UInt8) throws(DBusError) {
        try writeBasic(.byte, value, size: 1)
    }

    /// Writes a `b`.
    public mutating func writeBool(_ value: Bool) throws(DBusError) {
        // A boolean is four bytes, in libdbus as on the wire.
        try writeBasic(.boolean, dbus_bool_t(value ? 1 : 0), size: 4)
    }

    /// Writes an `n`.
    public mutating func writeInt16(_ value: Int16) throws(DBusError) {
        try writeBasic(.int16, value, size: 2)
    }

    /// Writes a `q`.
    public mutating func writeUInt16(_ value: UInt16) throws(DBusError) {
        try writeBasic(.uint16, value, size: 2)
    }

    /// Writes an `i`.
    public mutating func writeInt32(_ value: Int32) throws(DBusError) {
        try writeBasic(.int32, value, size: 4)
    }

    /// Writes a `u`.
    public mutating func writeUInt32(_ value: UInt32) throws(DBusError) {
        try writeBasic(.uint32, value, size: 4)
    }

    /// Writes an `x`.
    public mutating func writeInt64(_ value: Int64) throws(DBusError) {
        try writeBasic(.int64, value, size: 8)
    }

    /// Writes a `t`.
    public mutating func writeUInt64(_ value: UInt64) throws(DBusError) {
        try writeBasic(.uint64, value, size: 8)
    }

    /// Writes a `d`.
    public mutating func writeDouble(_ value: Double) throws(DBusError) {
        try writeBasic(.double, value, size: 8)
    }

    /// Writes an `s`, which may hold everything but a NUL character.
    public mutating func writeString(_ value: String) throws(DBusError) {
        try writeText(.string, value, lengthSize: 4)
    }

    /// Writes an `o`.
    public mutating func writeObjectPath(_ value: ObjectPath) throws(DBusError) {
        try writeText(.objectPath, value.string, lengthSize: 4)
    }

    /// Writes a `g`.
    public mutating func writeSignature(_ value: Signature) throws(DBusError) {
        try writeText(.signature, value.string, lengthSize: 1)
    }

    /// Writes an `h`.
    ///
    /// The message carries a duplicate; the descriptor stays the caller's.
    ///
    /// - Throws: ``DBusError``, of the name `NoMemory` where the process has no number left for the
    ///   duplicate, of the name `LimitsExceeded` where the message has 16 of them already.
    public mutating func writeUnixFD(_ value: FileDescriptor) throws(DBusError) {
        try writeBasic(.unixFD, value.number, size: 4)
    }
}
