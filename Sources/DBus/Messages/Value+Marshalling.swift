/// Dynamic values in messages.
extension MessageReader {
    /// Reads the next value, whatever it is.
    public mutating func readValue() throws -> Value {
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
    public mutating func readValues() throws -> [Value] {
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
    public mutating func writeValue(_ value: Value) throws {
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
    public mutating func writeValues(_ values: [Value]) throws {
        for value in values { try writeValue(value) }
    }
}
