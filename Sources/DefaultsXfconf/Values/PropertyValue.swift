package import DBus

/// A value of a property, with its exact type.
///
/// The type matters: a program that wants an `int` gets its default if the property is a `uint`.
package enum PropertyValue: Hashable, Sendable {
    case boolean(Bool)
    case byte(UInt8)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    /// An array of strings, `as`.
    case strings([String])
    /// An array of variants, `av`, which are not arrays themselves.
    case array([PropertyValue])

    /// The most elements of an array.
    static let mostElements = 1 << 16

    /// The D-Bus value.
    package var value: Value {
        switch self {
        case .boolean(let value): .boolean(value)
        case .byte(let value): .byte(value)
        case .int16(let value): .int16(value)
        case .uint16(let value): .uint16(value)
        case .int32(let value): .int32(value)
        case .uint32(let value): .uint32(value)
        case .int64(let value): .int64(value)
        case .uint64(let value): .uint64(value)
        case .double(let value): .double(value)
        case .string(let value): .string(value)
        case .strings(let values): .array(of: "s", values.map { .string($0) })
        case .array(let values): .array(of: "v", values.map { .variant($0.value) })
        }
    }

    /// Reads the variant that comes next in a message.
    ///
    /// - Throws: ``XfconfError`` if a property cannot have a value of this type.
    package static func read(from reader: inout MessageReader) throws -> PropertyValue {
        try reader.readVariant { content in
            guard content.nextType == .array else { return try readScalar(from: &content) }
            return try readArray(from: &content)
        }
    }

    private static func readArray(from reader: inout MessageReader) throws -> PropertyValue {
        var room = mostElements
        switch reader.nextElementType {
        case .string:
            return .strings(
                try reader.readArray { element in
                    try takeElement(&room)
                    return try element.readString()
                })
        case .variant:
            return .array(
                try reader.readArray { element in
                    try takeElement(&room)
                    return try element.readVariant { try readScalar(from: &$0) }
                })
        default: throw XfconfError.unsupported(type: reader.nextSignature?.string ?? "")
        }
    }

    private static func takeElement(_ room: inout Int) throws {
        room -= 1
        guard room >= 0 else { throw XfconfError.tooManyElements(limit: mostElements) }
    }

    private static func readScalar(from reader: inout MessageReader) throws -> PropertyValue {
        switch reader.nextType {
        case .boolean: .boolean(try reader.readBool())
        case .byte: .byte(try reader.readByte())
        case .int16: .int16(try reader.readInt16())
        case .uint16: .uint16(try reader.readUInt16())
        case .int32: .int32(try reader.readInt32())
        case .uint32: .uint32(try reader.readUInt32())
        case .int64: .int64(try reader.readInt64())
        case .uint64: .uint64(try reader.readUInt64())
        case .double: .double(try reader.readDouble())
        case .string: .string(try reader.readString())
        default: throw XfconfError.unsupported(type: reader.nextSignature?.string ?? "")
        }
    }
}
