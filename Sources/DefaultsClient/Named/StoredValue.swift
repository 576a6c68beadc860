package import KeyedArchive

/// A value whose kind is known only when it is read, for libraries of other languages.
package enum StoredValue: Hashable, Sendable {
    case bool(Bool)
    case integer(Int)
    case real(Double)
    case text(String)
    case data([UInt8])
    /// A word of the command line, as the kinds that it may be.
    case word([StoredValue])
    /// Anything else: an array, a dictionary, an object, or a number that does not fit.
    case other
}

// MARK: Reading

extension StoredValue {
    /// The boolean, if it is one.
    package var boolValue: Bool? {
        switch self {
        case .bool(let value): value
        case .word(let kinds): kinds.firstValue(\.boolValue)
        default: nil
        }
    }

    /// The integer, or the real if it is whole and in range.
    package var integerValue: Int? {
        switch self {
        case .integer(let value): value
        case .real(let value): Int(exactly: value)
        case .word(let kinds): kinds.firstValue(\.integerValue)
        default: nil
        }
    }

    /// The real, or the integer if that is exact.
    package var realValue: Double? {
        switch self {
        case .real(let value): value
        case .integer(let value): Double(exactly: value)
        case .word(let kinds): kinds.firstValue(\.realValue)
        default: nil
        }
    }

    /// The text, if it is text.
    package var textValue: String? {
        switch self {
        case .text(let value): value
        case .word(let kinds): kinds.firstValue(\.textValue)
        default: nil
        }
    }

    /// The bytes, if it is data.
    package var dataValue: [UInt8]? {
        switch self {
        case .data(let value): value
        case .word(let kinds): kinds.firstValue(\.dataValue)
        default: nil
        }
    }
}

extension [StoredValue] {
    fileprivate func firstValue<Value>(_ value: (StoredValue) -> Value?) -> Value? {
        for kind in self { if let found = value(kind) { return found } }
        return nil
    }
}

extension StoredValue: Decodable {
    /// The value of an archive, which is `other` if it is none of the simple kinds.
    package init(of archive: KeyedArchive) {
        self = (try? KeyedArchiveDecoder().decode(StoredValue.self, from: archive)) ?? .other
    }

    /// Decodes a value of any kind.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        switch (decoder as? any KindDecoder)?.kind {
        case .boolean: self = .bool(try container.decode(Bool.self))
        case .integer: self = .integer(try container.decode(Int.self))
        case .real: self = .real(try container.decode(Double.self))
        case .string: self = .text(try container.decode(String.self))
        case .data: self = .data(try container.decode([UInt8].self))
        default: self = .other
        }
    }
}

// MARK: Writing

extension StoredValue {
    /// The bytes of the archive of the value.
    ///
    /// - Precondition: It is not `word` or `other`, which have none.
    func archiveBytes() throws -> [UInt8] {
        let encoder = KeyedArchiveEncoder()
        switch self {
        case .bool(let value):
            return try ScalarArchives.bytes(of: value) ?? encoder.encode(value).bytes
        case .integer(let value):
            return try ScalarArchives.bytes(of: value) ?? encoder.encode(value).bytes
        case .real(let value):
            return try ScalarArchives.bytes(of: value) ?? encoder.encode(value).bytes
        case .text(let value): return try encoder.encode(value).bytes
        case .data(let value): return try encoder.encode(value).bytes
        case .word, .other: throw NoArchive()
        }
    }
}

/// A value that was read, and of which the archive is not known.
private struct NoArchive: LoggableError {
    var description: String { "It is not of a simple kind." }
}
