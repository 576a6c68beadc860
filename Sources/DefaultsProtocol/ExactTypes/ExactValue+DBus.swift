package import DBus
package import KeyedArchive

/// Exact values and D-Bus.
extension ExactValue {
    /// A value that came by D-Bus; nil if it contains a file descriptor.
    package init?(_ value: Value) {
        switch value {
        case .boolean(let flag): self.init(.boolean, .boolean(flag))
        case .byte(let number): self.init(.byte, .integer(Int128(number)))
        case .int16(let number): self.init(.int16, .integer(Int128(number)))
        case .uint16(let number): self.init(.uint16, .integer(Int128(number)))
        case .int32(let number): self.init(.int32, .integer(Int128(number)))
        case .uint32(let number): self.init(.uint32, .integer(Int128(number)))
        case .int64(let number): self.init(.int64, .integer(Int128(number)))
        case .uint64(let number): self.init(.uint64, .integer(Int128(number)))
        case .double(let number): self.init(.double, .double(number))
        case .string(let text): self.init(.string, .string(text))
        case .objectPath(let path): self.init(.objectPath, .string(path.string))
        case .signature(let signature): self.init(.signature, .string(signature.string))
        case .bytes(let bytes): self.init(.array(.byte), .bytes(bytes))
        case .variant(let content):
            guard let content = ExactValue(content) else { return nil }
            self.init(.variant, .variant(content))
        case .array(let element, let elements):
            guard let type = ExactType(element.string) else { return nil }
            self.init(.array(type), elements)
        case .structure(let fields):
            let read = fields.compactMap { ExactValue($0) }
            self.init(.tuple(read.map(\.type)), fields)
        case .dictionary(let key, let value, let entries): self.init(key, value, entries)
        case .unixFD: return nil
        }
    }

    private init?(_ type: ExactType, _ elements: [Value]) {
        let read = elements.compactMap { ExactValue($0) }
        guard read.count == elements.count else { return nil }
        self.init(type, .elements(read))
    }

    private init?(_ key: Signature, _ value: Signature, _ entries: [Value.Entry]) {
        guard let key = ExactType(key.string), let value = ExactType(value.string) else {
            return nil
        }
        let type = ExactType.entry(key: key, value: value)
        let read = entries.compactMap { ExactValue(type, [$0.key, $0.value]) }
        guard read.count == entries.count else { return nil }
        self.init(.array(type), .elements(read))
    }

    /// The value as D-Bus carries it; nil if D-Bus does not have its type.
    package var dbusValue: Value? {
        switch content {
        case .boolean(let flag): .boolean(flag)
        case .integer(let number): integer(number)
        case .double(let number): .double(number)
        case .string(let text): string(text)
        case .bytes(let bytes): .bytes(bytes)
        case .variant(let value): value.dbusValue.map(Value.variant)
        case .elements(let elements): type.isOfDBus ? container(of: elements) : nil
        }
    }

    private func integer(_ number: Int128) -> Value? {
        switch type {
        case .byte: .byte(UInt8(clamping: number))
        case .int16: .int16(Int16(clamping: number))
        case .uint16: .uint16(UInt16(clamping: number))
        case .int32: .int32(Int32(clamping: number))
        case .uint32: .uint32(UInt32(clamping: number))
        case .int64: .int64(Int64(clamping: number))
        case .uint64: .uint64(UInt64(clamping: number))
        default: nil
        }
    }

    private func string(_ text: String) -> Value? {
        switch type {
        case .objectPath: (try? ObjectPath(text)).map(Value.objectPath)
        case .signature: (try? Signature(text)).map(Value.signature)
        default: .string(text)
        }
    }

    private func container(of elements: [ExactValue]) -> Value? {
        if case .array(.entry(let key, let value)) = type {
            return dictionary(of: elements, key, value)
        }
        let values = elements.compactMap(\.dbusValue)
        guard values.count == elements.count else { return nil }
        guard case .array(let element) = type else { return .structure(values) }
        return (try? Signature(element.description)).map { .array(of: $0, values) }
    }

    private func dictionary(
        of entries: [ExactValue], _ key: ExactType, _ value: ExactType
    ) -> Value? {
        let read = entries.compactMap { entry -> Value.Entry? in
            guard case .elements(let pair) = entry.content, pair.count == 2,
                let key = pair[0].dbusValue, let value = pair[1].dbusValue
            else { return nil }
            return Value.Entry(key, value)
        }
        guard read.count == entries.count, let key = try? Signature(key.description),
            let value = try? Signature(value.description)
        else { return nil }
        return .dictionary(key: key, value: value, read)
    }
}

/// Exact values and archives.
extension ExactValue {
    /// The value of an archive, with the type of its marker, or else the type that the archive
    /// itself has; nil if it is no GVariant.
    ///
    /// - Throws: ``ContractError`` if D-Bus cannot carry what the archive contains.
    package init?(_ archive: KeyedArchive, plainInteger: PlainInteger = .int64) throws {
        self.init(try VariantForm.value(of: archive), plainInteger: plainInteger)
    }

    /// The same for the archive that bytes are.
    ///
    /// - Throws: `ArchiveError` if they are none, and the same errors.
    package init?(validating bytes: [UInt8], plainInteger: PlainInteger = .int64) throws {
        self.init(try VariantForm.value(validating: bytes), plainInteger: plainInteger)
    }

    /// The archive, with a marker if the type needs one.
    ///
    /// - Throws: ``ContractError`` with code `tooLarge`.
    package func archive(plainInteger: PlainInteger = .int64) throws -> KeyedArchive {
        try VariantForm.archive(of: formWithType(plainInteger: plainInteger))
    }
}
