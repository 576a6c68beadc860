import DBus
import KeyedArchive
import PropertyList

/// Hands a D-Bus value to a sink of the value form.
///
/// The functions call each other as deep as the value is nested, which the bus bounds: a message
/// that reaches us has 64 containers in each other at most.
enum VariantReader {
    static func read(_ value: Value, into sink: inout some ValueFormSink) throws {
        switch value {
        case .boolean(let value): try sink.boolean(value)
        case .byte(let value): try sink.integer(Int128(value))
        case .int16(let value): try sink.integer(Int128(value))
        case .uint16(let value): try sink.integer(Int128(value))
        case .int32(let value): try sink.integer(Int128(value))
        case .uint32(let value): try sink.integer(Int128(value))
        case .int64(let value): try sink.integer(Int128(value))
        case .uint64(let value): try sink.integer(Int128(value))
        case .double(let value): try sink.real(value)
        case .string(let value): try sink.string(Text(value))
        case .objectPath(let value): try sink.string(Text(value.description))
        case .signature(let value): try sink.string(Text(value.description))
        case .bytes(let value): try sink.data(value[...])
        case .variant(let value): try read(value, into: &sink)
        case .array(_, let elements), .structure(let elements):
            try read(elements: elements, into: &sink)
        case .dictionary(_, _, let entries): try read(entries: entries, into: &sink)
        case .unixFD:
            throw DefaultsError(
                .invalidArguments,
                "The value holds a file descriptor, which cannot be stored. "
                    + "Store what is in the file, or its name.")
        }
    }

    private static func read(elements: [Value], into sink: inout some ValueFormSink) throws {
        try sink.beginArray()
        for element in elements { try read(element, into: &sink) }
        try sink.endArray()
    }

    private static func read(
        entries: [Value.Entry], into sink: inout some ValueFormSink
    ) throws {
        try sink.beginDictionary()
        for entry in entries {
            guard let key = text(of: entry.key) else {
                throw DefaultsError(
                    .invalidArguments,
                    "The value holds a dictionary whose keys are no strings. Send "
                        + "$class, NS.keys and NS.objects for it.")
            }
            try sink.key(Text(key))
            try read(entry.value, into: &sink)
        }
        try sink.endDictionary()
    }

    /// The keys that are strings to D-Bus or, like object paths, would be as values.
    private static func text(of key: Value) -> String? {
        switch key {
        case .string(let string): string
        case .objectPath(let path): path.description
        case .signature(let signature): signature.description
        default: nil
        }
    }
}
