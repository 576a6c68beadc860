import DBus
import KeyedArchive
import PropertyList

/// Passes a D-Bus value to a sink of the value form while it reads the value from the message.
///
/// The functions recurse as deep as the value is nested. The bus limits this to 64 containers
/// inside each other. The sink limits the size of the value.
enum VariantReader {
    /// Reads one value of any type.
    static func read(
        from reader: inout MessageReader, into sink: inout some ValueFormSink
    ) throws {
        switch reader.nextType {
        case .boolean: try sink.boolean(reader.readBool())
        case .byte: try sink.integer(Int128(reader.readByte()))
        case .int16: try sink.integer(Int128(reader.readInt16()))
        case .uint16: try sink.integer(Int128(reader.readUInt16()))
        case .int32: try sink.integer(Int128(reader.readInt32()))
        case .uint32: try sink.integer(Int128(reader.readUInt32()))
        case .int64: try sink.integer(Int128(reader.readInt64()))
        case .uint64: try sink.integer(Int128(reader.readUInt64()))
        case .double: try sink.real(reader.readDouble())
        case .string, .objectPath, .signature: try sink.string(readText(from: &reader))
        case .array: try readArray(from: &reader, into: &sink)
        case .structure: try readStructure(from: &reader, into: &sink)
        case .variant: try reader.readVariant { try read(from: &$0, into: &sink) }
        // The type alone is the reason, so the descriptor is not read.
        case .unixFD: throw descriptor
        case .dictionaryEntry, nil: preconditionFailure("there is no value to read")
        }
    }

    private static func readArray(
        from reader: inout MessageReader, into sink: inout some ValueFormSink
    ) throws {
        switch reader.nextElementType {
        case .byte:
            try sink.data(reader.readBytes()[...])
        case .dictionaryEntry:
            try sink.beginDictionary()
            _ = try reader.readDictionary { entry in
                (
                    try sink.key(readKey(from: &entry)),
                    try read(from: &entry, into: &sink)
                )
            }
            try sink.endDictionary()
        default:
            try sink.beginArray()
            _ = try reader.readArray { try read(from: &$0, into: &sink) }
            try sink.endArray()
        }
    }

    private static func readStructure(
        from reader: inout MessageReader, into sink: inout some ValueFormSink
    ) throws {
        try sink.beginArray()
        try reader.readStructure { fields in
            while !fields.isAtEnd { try read(from: &fields, into: &sink) }
        }
        try sink.endArray()
    }

    /// Reads a key of a dictionary: a string, or another type that is read as a string.
    private static func readKey(from reader: inout MessageReader) throws -> Text {
        switch reader.nextType {
        case .string, .objectPath, .signature: try readText(from: &reader)
        default: throw otherKeys
        }
    }

    private static func readText(from reader: inout MessageReader) throws -> Text {
        switch reader.nextType {
        case .objectPath: Text(try reader.readObjectPath().string)
        case .signature: Text(try reader.readSignature().string)
        default: Text(try reader.readString())
        }
    }

    /// Passes on a value that is in memory.
    static func read(_ value: Value, into sink: inout some ValueFormSink) throws {
        switch value {
        case .boolean(let flag): try sink.boolean(flag)
        case .byte(let number): try sink.integer(Int128(number))
        case .int16(let number): try sink.integer(Int128(number))
        case .uint16(let number): try sink.integer(Int128(number))
        case .int32(let number): try sink.integer(Int128(number))
        case .uint32(let number): try sink.integer(Int128(number))
        case .int64(let number): try sink.integer(Int128(number))
        case .uint64(let number): try sink.integer(Int128(number))
        case .double(let number): try sink.real(number)
        case .string(let text): try sink.string(Text(text))
        case .objectPath(let path): try sink.string(Text(path.string))
        case .signature(let signature): try sink.string(Text(signature.string))
        case .bytes(let bytes): try sink.data(bytes[...])
        case .variant(let content): try read(content, into: &sink)
        case .array(_, let elements), .structure(let elements):
            try sink.beginArray()
            for element in elements { try read(element, into: &sink) }
            try sink.endArray()
        case .dictionary(_, _, let entries): try read(entries, into: &sink)
        case .unixFD: throw descriptor
        }
    }

    private static func read(
        _ entries: [Value.Entry], into sink: inout some ValueFormSink
    ) throws {
        try sink.beginDictionary()
        for entry in entries {
            guard case .string(let key) = entry.key else { throw otherKeys }
            try sink.key(Text(key))
            try read(entry.value, into: &sink)
        }
        try sink.endDictionary()
    }

    private static let descriptor = ContractError(
        .invalidArguments,
        "The value contains a file descriptor, which cannot be stored. Store the name of the file "
            + "or its contents.")

    private static let otherKeys = ContractError(
        .invalidArguments,
        "The value contains a dictionary whose keys are not strings. Send a dictionary of $class, "
            + "NS.keys and NS.objects instead.")
}
