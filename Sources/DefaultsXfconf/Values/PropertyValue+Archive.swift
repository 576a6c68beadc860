package import KeyedArchive
internal import PropertyList

// Invariants
//
// 1. What is read from the archive of a value is the value, with its exact type.
// 2. An `i` is an integer without a marker, so that people and other programs can set one as they
//    set any integer. An integer without a marker that does not fit is an `x`, or a `t`.

extension PropertyValue {
    /// The archive to store.
    ///
    /// - Throws: `ValueFormError` if it would be too large.
    package func archive() throws -> KeyedArchive {
        var builder = ValueFormBuilder()
        try write(to: &builder)
        return builder.finish()
    }

    private func write(to sink: inout some ValueFormSink) throws {
        switch self {
        case .boolean(let value): try sink.boolean(value)
        case .byte(let value): try write(Int128(value), as: .byte, to: &sink)
        case .int16(let value): try write(Int128(value), as: .int16, to: &sink)
        case .uint16(let value): try write(Int128(value), as: .uint16, to: &sink)
        case .int32(let value): try sink.integer(Int128(value))
        case .uint32(let value): try write(Int128(value), as: .uint32, to: &sink)
        case .int64(let value): try write(Int128(value), as: .int64, to: &sink)
        case .uint64(let value): try write(Int128(value), as: .uint64, to: &sink)
        case .double(let value): try sink.real(value)
        case .string(let value): try sink.string(Text(value))
        case .strings(let values):
            try Self.mark(.strings, in: &sink) { sink in
                try sink.beginArray()
                for value in values { try sink.string(Text(value)) }
                try sink.endArray()
            }
        case .array(let values):
            try sink.beginArray()
            for value in values { try value.write(to: &sink) }
            try sink.endArray()
        }
    }

    /// Writes an integer, without a marker if it is read as the same type without one.
    private func write(
        _ integer: Int128, as type: ExactType, to sink: inout some ValueFormSink
    ) throws {
        if Self(unmarked: integer) == self { return try sink.integer(integer) }
        try Self.mark(type, in: &sink) { try $0.integer(integer) }
    }

    private static func mark<Sink: ValueFormSink>(
        _ type: ExactType, in sink: inout Sink, _ write: (inout Sink) throws -> Void
    ) throws {
        try sink.beginDictionary()
        try sink.key(ExactType.classKey)
        try sink.string(Text(ExactType.className))
        try sink.key(ExactType.typeKey)
        try sink.string(Text(type.rawValue))
        try sink.key(ExactType.valueKey)
        try write(&sink)
        try sink.endDictionary()
    }

    /// Reads an archive; nil if programs see no value in it, because it has a type that Xfconf does
    /// not have.
    package init?(_ archive: KeyedArchive) {
        var reader = StoredForm()
        guard (try? archive.render(into: &reader)) != nil, let form = reader.root,
            let value = Self(form, isElement: false)
        else { return nil }
        self = value
    }

    private init?(_ form: StoredForm.Node, isElement: Bool) {
        switch form {
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self.init(unmarked: value)
        case .real(let value): self = .double(value)
        case .string(let value): self = .string(value)
        case .array(let nodes):
            guard !isElement else { return nil }
            self.init(elements: nodes)
        case .marker(let type, let content):
            self.init(content, as: type, isElement: isElement)
        }
    }

    private init?(unmarked integer: Int128) {
        if let value = Int32(exactly: integer) {
            self = .int32(value)
        } else if let value = Int64(exactly: integer) {
            self = .int64(value)
        } else if let value = UInt64(exactly: integer) {
            self = .uint64(value)
        } else {
            return nil
        }
    }

    private init?(elements: [StoredForm.Node]) {
        var values: [PropertyValue] = []
        for element in elements {
            guard let value = Self(element, isElement: true) else { return nil }
            values.append(value)
        }
        self = .array(values)
    }

    /// Reads the content of a marker.
    private init?(_ content: StoredForm.Node, as type: ExactType, isElement: Bool) {
        switch (type, content) {
        case (.boolean, .boolean(let value)): self = .boolean(value)
        case (.double, .real(let value)): self = .double(value)
        case (.double, .integer(let value)): self = .double(Double(value))
        case (.string, .string(let value)): self = .string(value)
        case (.strings, .array(let nodes)) where !isElement: self.init(strings: nodes)
        case (.array, .array(let nodes)) where !isElement: self.init(elements: nodes)
        case (_, .integer(let value)): self.init(value, as: type)
        default: return nil
        }
    }

    private init?(strings nodes: [StoredForm.Node]) {
        var strings: [String] = []
        for case .string(let string) in nodes { strings.append(string) }
        guard strings.count == nodes.count else { return nil }
        self = .strings(strings)
    }

    private init?(_ integer: Int128, as type: ExactType) {
        let value: PropertyValue? =
            switch type {
            case .byte: UInt8(exactly: integer).map { .byte($0) }
            case .int16: Int16(exactly: integer).map { .int16($0) }
            case .uint16: UInt16(exactly: integer).map { .uint16($0) }
            case .int32: Int32(exactly: integer).map { .int32($0) }
            case .uint32: UInt32(exactly: integer).map { .uint32($0) }
            case .int64: Int64(exactly: integer).map { .int64($0) }
            case .uint64: UInt64(exactly: integer).map { .uint64($0) }
            case .boolean, .double, .string, .strings, .array: nil
            }
        guard let value else { return nil }
        self = value
    }
}
