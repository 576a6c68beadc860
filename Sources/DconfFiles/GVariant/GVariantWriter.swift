package import DefaultsProtocol
internal import DefaultsTerms

extension ExactValue {
    /// The value in GVariant's serialised form, little endian and normal.
    package func gvariant() throws(GVariantError) -> [UInt8] {
        var writer = GVariantWriter()
        try writer.write(self, GVariantLayout(of: type))
        return writer.bytes
    }
}

/// Writes one value.
///
/// The value is not trusted to fit its type: it may come from an archive.
struct GVariantWriter {
    private(set) var bytes: [UInt8] = []
    private var depth = 0
    private var variantDepth = 0
    private var count = 0

    /// Writes a value after the padding that its type needs.
    mutating func write(_ value: ExactValue, _ layout: GVariantLayout) throws(GVariantError) {
        guard value.type == layout.type else { throw .mismatch(layout.type) }
        count += 1
        guard count <= ContractLimits.maximumValueCount else { throw .count }
        pad(to: layout.alignment)
        switch (layout.type, value.content) {
        case (.boolean, .boolean(let flag)): bytes.append(flag ? 1 : 0)
        case (_, .integer(let number)): try write(number, layout)
        case (.double, .double(let number)): append(number.bitPattern, size: 8)
        case (.string, .string(let text)), (.objectPath, .string(let text)),
            (.signature, .string(let text)):
            guard layout.type.allows(text) else { throw .mismatch(layout.type) }
            bytes += text.utf8
            bytes.append(0)
        case (.array(.byte), .bytes(let content)): bytes += content
        default: try writeContainer(value, layout)
        }
        guard bytes.count <= ContractLimits.maximumValueSize else { throw .length(bytes.count) }
    }

    private mutating func write(
        _ number: Int128, _ layout: GVariantLayout
    ) throws(GVariantError) {
        guard let size = layout.fixedSize, let range = layout.type.integers,
            range.contains(number)
        else { throw .mismatch(layout.type) }
        append(UInt64(truncatingIfNeeded: number), size: size)
    }

    private mutating func writeContainer(
        _ value: ExactValue, _ layout: GVariantLayout
    ) throws(GVariantError) {
        depth += 1
        defer { depth -= 1 }
        guard depth <= GVariantLimits.maximumDepth else { throw .depth }
        switch (layout.type, value.content) {
        case (.variant, .variant(let content)): try write(variant: content)
        case (.maybe, .elements(let content)) where content.count <= 1:
            guard let content = content.first else { return }
            try write(content, layout.parts[0])
            if layout.parts[0].fixedSize == nil { bytes.append(0) }
        case (.array(let element), .elements(let elements)) where element != .byte:
            try write(elements, layout.parts[0])
        case (.tuple, .elements(let fields)), (.entry, .elements(let fields)):
            try write(fields: fields, layout)
        default: throw .mismatch(layout.type)
        }
    }

    private mutating func pad(to alignment: Int) {
        while !bytes.count.isMultiple(of: alignment) { bytes.append(0) }
    }

    private mutating func append(_ number: UInt64, size: Int) {
        for position in 0..<size {
            bytes.append(UInt8(truncatingIfNeeded: number >> (8 * position)))
        }
    }
}

extension GVariantWriter {
    private mutating func write(variant content: ExactValue) throws(GVariantError) {
        variantDepth += 1
        defer { variantDepth -= 1 }
        guard variantDepth <= GVariantLimits.maximumVariantDepth else { throw .depth }
        let text = content.type.description
        guard ExactType(text) == content.type else { throw .mismatch(.variant) }
        try write(content, GVariantLayout(of: content.type))
        bytes.append(0)
        bytes += text.utf8
    }

    private mutating func write(
        _ elements: [ExactValue], _ layout: GVariantLayout
    ) throws(GVariantError) {
        let start = bytes.count
        var ends: [Int] = []
        for element in elements {
            try write(element, layout)
            if layout.fixedSize == nil { ends.append(bytes.count - start) }
        }
        append(ends, from: start)
    }

    private mutating func write(
        fields: [ExactValue], _ layout: GVariantLayout
    ) throws(GVariantError) {
        guard fields.count == layout.parts.count else { throw .mismatch(layout.type) }
        let start = bytes.count
        var ends: [Int] = []
        for (field, part) in zip(fields, layout.parts) {
            try write(field, part)
            if part.fixedSize == nil { ends.append(bytes.count - start) }
        }
        guard let size = layout.fixedSize else {
            let needed = layout.parts.last?.fixedSize == nil ? ends.dropLast() : ends[...]
            append(needed.reversed(), from: start)
            return
        }
        bytes += Array(repeating: 0, count: size - (bytes.count - start))
    }

    /// Appends the offsets of a container that began at `start`.
    private mutating func append(_ offsets: [Int], from start: Int) {
        let size = FramingOffsets.size(for: offsets.count, afterPartsOf: bytes.count - start)
        for offset in offsets { append(UInt64(offset), size: size) }
    }
}
