package import DBus
internal import DefaultsProtocol
package import KeyedArchive

/// A value that a property may have: a boolean, a number or a string, an array of strings, or an
/// array of variants of these.
///
/// Its exact type matters: a program that wants an `i` gets its default if the property is a `u`.
/// In an archive, an integer without a marker is an `i` if it fits, so that people and other programs
/// can set one as they set any integer.
package struct PropertyValue: Sendable, Equatable {
    /// The D-Bus value.
    package let value: Value

    /// The types that are no arrays.
    private static let scalars: Set<String> = ["b", "y", "n", "q", "i", "u", "x", "t", "d", "s"]
    /// The most elements of an array.
    private static let mostElements = 1 << 16

    /// Takes a value; nil if no property has one of its type.
    package init?(_ value: Value) {
        guard Self.isProperty(value) else { return nil }
        self.value = value
    }

    private init(checked value: Value) {
        self.value = value
    }

    private static func isScalar(_ value: Value) -> Bool {
        switch value {
        case .boolean, .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string:
            true
        case .objectPath, .signature, .unixFD, .bytes, .variant, .array, .dictionary, .structure:
            false
        }
    }

    private static func isProperty(_ value: Value) -> Bool {
        switch value {
        case .array(of: "s", _): true
        case .array(of: "v", let elements):
            elements.allSatisfy { element in
                if case .variant(let content) = element { isScalar(content) } else { false }
            }
        default: isScalar(value)
        }
    }
}

/// Property values and messages.
extension PropertyValue {
    /// Reads the variant that comes next in a message.
    ///
    /// - Throws: ``XfconfError`` if a property cannot have a value of this type.
    package static func read(from reader: inout MessageReader) throws -> PropertyValue {
        try reader.readVariant { content in
            guard content.nextType == .array else {
                return PropertyValue(checked: try readScalar(from: &content))
            }
            return PropertyValue(checked: try readArray(from: &content))
        }
    }

    private static func readArray(from reader: inout MessageReader) throws -> Value {
        var room = mostElements
        func take(_ read: () throws -> Value) throws -> Value {
            room -= 1
            guard room >= 0 else { throw XfconfError.tooManyElements(limit: mostElements) }
            return try read()
        }
        switch reader.nextElementType {
        case .string:
            return .array(
                of: "s",
                try reader.readArray { reader in try take { try readScalar(from: &reader) } })
        case .variant:
            return .array(
                of: "v",
                try reader.readArray { reader in
                    try take { .variant(try reader.readVariant { try readScalar(from: &$0) }) }
                })
        default: throw XfconfError.unsupported(type: reader.nextSignature?.string ?? "")
        }
    }

    private static func readScalar(from reader: inout MessageReader) throws -> Value {
        let type = reader.nextSignature?.string ?? ""
        guard scalars.contains(type) else { throw XfconfError.unsupported(type: type) }
        return try reader.readValue()
    }
}

/// Property values and archives.
extension PropertyValue {
    /// The archive to store, which keeps the exact type.
    ///
    /// - Throws: ``ContractError`` with code `tooLarge`.
    package func archive() throws -> KeyedArchive {
        guard let value = ExactValue(value) else {
            throw XfconfError.unsupported(type: (try? value.type.string) ?? "")
        }
        return try value.archive(plainInteger: .int32)
    }

    /// Reads an archive; nil if programs see no value in it, because it is none or no property has one of
    /// its type.
    package init?(archive bytes: [UInt8]) {
        guard let value = (try? ExactValue(validating: bytes, plainInteger: .int32))?.dbusValue
        else { return nil }
        self.init(value)
    }

    /// The same for an archive that is validated.
    package init?(_ archive: KeyedArchive) {
        self.init(archive: archive.bytes)
    }
}
