/// A value of any type of D-Bus.
///
/// Where the types are known beforehand, ``MessageReader`` and ``MessageWriter`` are faster and say
/// more; this is for properties, signals, and whatever is not known until it arrives.
public indirect enum Value: Sendable, Equatable {
    case byte(UInt8)
    case boolean(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(ObjectPath)
    case signature(Signature)
    case unixFD(FileDescriptor)
    /// An array of bytes, `ay`, which is read and written in one piece.
    case bytes([UInt8])
    /// An array of any other type.
    case array(of: Signature, [Value])
    /// An array of entries, in the order of the message.
    case dictionary(key: Signature, value: Signature, [Entry])
    case structure([Value])
    case variant(Value)

    /// A key of a dictionary with what stands under it.
    public struct Entry: Sendable, Equatable {
        /// The key, which is not a container.
        public var key: Value
        /// What stands under it.
        public var value: Value

        /// Makes an entry.
        public init(_ key: Value, _ value: Value) {
            self.key = key
            self.value = value
        }
    }
}

extension Value {
    /// The one complete type of the value.
    ///
    /// - Throws: ``DBusError`` of the name `InvalidSignature` where D-Bus has no such type: one that
    ///   is too long or too deep, or a structure without fields.
    public var type: Signature {
        get throws(DBusError) {
            var types = ""
            try appendType(to: &types)
            return try Signature(types)
        }
    }

    /// Appends the type; a type that grows too long ends it, and with it the recursion.
    private func appendType(to types: inout String) throws(DBusError) {
        guard types.utf8.count <= Signature.maximumLength else { throw .badSignature(types) }
        switch self {
        case .byte: types += "y"
        case .boolean: types += "b"
        case .int16: types += "n"
        case .uint16: types += "q"
        case .int32: types += "i"
        case .uint32: types += "u"
        case .int64: types += "x"
        case .uint64: types += "t"
        case .double: types += "d"
        case .string: types += "s"
        case .objectPath: types += "o"
        case .signature: types += "g"
        case .unixFD: types += "h"
        case .bytes: types += "ay"
        case .variant: types += "v"
        case .array(let element, _): types += element.asArray.string
        case .dictionary(let key, let value, _): types += "a{\(key)\(value)}"
        case .structure(let fields):
            guard !fields.isEmpty else { throw .emptyStructure }
            types += "("
            for field in fields { try field.appendType(to: &types) }
            types += ")"
        }
    }
}
