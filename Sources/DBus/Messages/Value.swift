package import SystemCalls

/// A value of any type of D-Bus.
///
/// If the types are known beforehand, ``MessageReader`` and ``MessageWriter`` are faster and say
/// more; this is for properties, signals, and whatever is not known until it arrives.
package indirect enum Value: Sendable, Equatable {
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

    /// A key of a dictionary with its value.
    package struct Entry: Sendable, Equatable {
        /// The key, which is not a container.
        package var key: Value
        /// The value of the key.
        package var value: Value

        /// Makes an entry.
        package init(_ key: Value, _ value: Value) {
            self.key = key
            self.value = value
        }
    }
}

extension Value {
    /// The one complete type of the value.
    ///
    /// - Throws: ``DBusError`` of the name `InvalidSignature` if D-Bus has no such type: one that
    ///   is too long or too deep, or a structure without fields.
    package var type: Signature {
        get throws(DBusError) {
            if let basicType { return Signature(checked: basicType) }
            var types = ""
            try appendType(to: &types)
            return try Signature(types)
        }
    }

    /// The type, if it is not one of a container.
    private var basicType: String? {
        switch self {
        case .byte: "y"
        case .boolean: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .unixFD: "h"
        case .bytes, .variant, .array, .dictionary, .structure: nil
        }
    }

    /// Appends the type; a type that grows too long ends it, and with it the recursion.
    private func appendType(to types: inout String) throws(DBusError) {
        guard types.utf8.count <= Signature.maximumLength else { throw .badSignature(types) }
        switch self {
        case .bytes: types += "ay"
        case .variant: types += "v"
        case .array(let element, _): types += element.asArray.string
        case .dictionary(let key, let value, _): types += "a{\(key)\(value)}"
        case .structure(let fields):
            guard !fields.isEmpty else { throw .emptyStructure }
            types += "("
            for field in fields { try field.appendType(to: &types) }
            types += ")"
        default: types += basicType ?? ""
        }
    }
}

/// Dynamic values in messages.
extension MessageReader {
    /// Reads the next value, whatever it is.
    package mutating func readValue() throws -> Value {
        switch nextType {
        case .byte: .byte(try readByte())
        case .boolean: .boolean(try readBool())
        case .int16: .int16(try readInt16())
        case .uint16: .uint16(try readUInt16())
        case .int32: .int32(try readInt32())
        case .uint32: .uint32(try readUInt32())
        case .int64: .int64(try readInt64())
        case .uint64: .uint64(try readUInt64())
        case .double: .double(try readDouble())
        case .string: .string(try readString())
        case .objectPath: .objectPath(try readObjectPath())
        case .signature: .signature(try readSignature())
        case .unixFD: .unixFD(try readUnixFD())
        case .array: try readArrayValue()
        case .structure: .structure(try readStructure { try $0.readValues() })
        case .variant: .variant(try readVariant { try $0.readValue() })
        case nil, .dictionaryEntry: throw DBusError.noValue
        }
    }

    /// Reads all values that are left in the message or the container.
    package mutating func readValues() throws -> [Value] {
        var values: [Value] = []
        while !isAtEnd { values.append(try readValue()) }
        return values
    }

    private mutating func readArrayValue() throws -> Value {
        guard let type = nextSignature else { throw DBusError.noValue }
        switch nextElementType {
        case .byte:
            return .bytes(try readBytes())
        case .dictionaryEntry:
            // Between "a{" and "}" stand the key, which is one character, and the value.
            let types = type.string.dropFirst(2).dropLast()
            let entries = try readDictionary { (try $0.readValue(), try $0.readValue()) }
            return .dictionary(
                key: Signature(checked: String(types.prefix(1))),
                value: Signature(checked: String(types.dropFirst())),
                entries.map { Value.Entry($0, $1) })
        default:
            let element = Signature(checked: String(type.string.dropFirst()))
            return .array(of: element, try readArray { try $0.readValue() })
        }
    }
}

extension MessageWriter {
    /// Writes a value by its own type.
    ///
    /// - Throws: ``DBusError`` as the typed methods do. The layout bounds the recursion: it refuses
    ///   what is nested deeper than a bus takes.
    package mutating func writeValue(_ value: Value) throws {
        switch value {
        case .byte(let value): try writeByte(value)
        case .boolean(let value): try writeBool(value)
        case .int16(let value): try writeInt16(value)
        case .uint16(let value): try writeUInt16(value)
        case .int32(let value): try writeInt32(value)
        case .uint32(let value): try writeUInt32(value)
        case .int64(let value): try writeInt64(value)
        case .uint64(let value): try writeUInt64(value)
        case .double(let value): try writeDouble(value)
        case .string(let value): try writeString(value)
        case .objectPath(let value): try writeObjectPath(value)
        case .signature(let value): try writeSignature(value)
        case .unixFD(let value): try writeUnixFD(value)
        case .bytes(let value): try writeBytes(value)
        case .array(let element, let values):
            try writeArray(of: element) { try $0.writeValues(values) }
        case .dictionary(let key, let value, let entries):
            try writeDictionary(key: key, value: value) { writer in
                for entry in entries {
                    try writer.writeEntry { try $0.writeValues([entry.key, entry.value]) }
                }
            }
        case .structure(let fields):
            try writeStructure { try $0.writeValues(fields) }
        case .variant(let value):
            try writeVariant(of: value.type) { try $0.writeValue(value) }
        }
    }

    /// Writes several values, each by its own type.
    package mutating func writeValues(_ values: [Value]) throws {
        for value in values { try writeValue(value) }
    }
}
