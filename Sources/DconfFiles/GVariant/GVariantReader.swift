internal import DBus
package import DefaultsProtocol
internal import DefaultsTerms

extension ExactValue {
    /// Reads a value in GVariant's serialised form, little endian.
    ///
    /// The bytes must be in normal form. GLib gives other bytes a value, too: the default value of
    /// each part that is wrong. Here they are an error, because every program writes the normal
    /// form, and because parts that overlap would make a small file a large value.
    ///
    /// See the [specification](https://people.gnome.org/~desrt/gvariant-serialisation.pdf).
    package init(gvariant bytes: ArraySlice<UInt8>, as type: ExactType) throws(GVariantError) {
        guard bytes.count <= ContractLimits.maximumValueSize else { throw .length(bytes.count) }
        var reader = GVariantReader(bytes)
        self = try reader.value(GVariantLayout(of: type), 0..<bytes.count)
    }
}

/// Reads the parts of one value.
///
/// Invariants
///
/// 1. Each range is within that of its container, and the ranges of parts do not overlap.
/// 2. A value has as many parts as bytes, at most: a part has a byte, or an offset that has one.
struct GVariantReader {
    private let bytes: ArraySlice<UInt8>
    private var depth = 0
    private var variantDepth = 0
    private var count = 0

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// Reads the value in a range, which begins at a multiple of its alignment.
    mutating func value(
        _ layout: GVariantLayout, _ range: Range<Int>
    ) throws(GVariantError) -> ExactValue {
        count += 1
        guard count <= ContractLimits.maximumValueCount else { throw .count }
        if let size = layout.fixedSize, range.count != size {
            throw .size(layout.type, at: range.lowerBound)
        }
        return ExactValue(layout.type, try content(layout, range))
    }

    private mutating func content(
        _ layout: GVariantLayout, _ range: Range<Int>
    ) throws(GVariantError) -> ExactValue.Content {
        switch layout.type {
        case .boolean: return .boolean(try boolean(range))
        case .byte, .uint16, .uint32, .uint64: return .integer(Int128(number(range)))
        case .int16, .int32, .int64: return .integer(signedNumber(range))
        case .double: return .double(Double(bitPattern: number(range)))
        case .string, .objectPath, .signature: return .string(try text(layout.type, range))
        case .array(.byte):
            return .bytes(Array(bytes[index(range.lowerBound)..<index(range.upperBound)]))
        default: break
        }
        depth += 1
        defer { depth -= 1 }
        guard depth <= GVariantLimits.maximumDepth else { throw .depth }
        return try container(layout, range)
    }

    private mutating func container(
        _ layout: GVariantLayout, _ range: Range<Int>
    ) throws(GVariantError) -> ExactValue.Content {
        switch layout.type {
        case .variant: return .variant(try variant(range))
        case .maybe: return .elements(try maybe(layout.parts[0], layout.type, range))
        case .array:
            let element = layout.parts[0]
            guard let size = element.fixedSize else {
                return .elements(try array(element, layout.type, range))
            }
            return .elements(try fixedArray(element, size, range))
        default: return .elements(try tuple(layout, range))
        }
    }

    private func index(_ offset: Int) -> Int { bytes.startIndex + offset }
    private func byte(_ offset: Int) -> UInt8 { bytes[index(offset)] }
}

// MARK: Numbers and texts

extension GVariantReader {
    /// A number of 8 bytes at most.
    private func number(_ range: Range<Int>) -> UInt64 {
        range.reversed().reduce(0) { $0 << 8 | UInt64(byte($1)) }
    }

    private func signedNumber(_ range: Range<Int>) -> Int128 {
        let unused = 64 - 8 * range.count
        return Int128(Int64(bitPattern: number(range) << UInt64(unused)) >> Int64(unused))
    }

    private func boolean(_ range: Range<Int>) throws(GVariantError) -> Bool {
        let value = byte(range.lowerBound)
        guard value <= 1 else { throw .boolean(at: range.lowerBound) }
        return value == 1
    }

    private func text(_ type: ExactType, _ range: Range<Int>) throws(GVariantError) -> String {
        guard let last = range.last, byte(last) == 0 else {
            throw .text(type, at: range.lowerBound)
        }
        let characters = bytes[index(range.lowerBound)..<index(last)]
        guard !characters.contains(0), let text = String(validating: characters, as: UTF8.self),
            type.allows(text)
        else { throw .text(type, at: range.lowerBound) }
        return text
    }
}

extension ExactType {
    /// Whether a text follows the rule of this type of texts.
    func allows(_ text: String) -> Bool {
        switch self {
        case .objectPath: (try? ObjectPath(text)) != nil
        case .signature: (try? Signature(text)) != nil
        default: !text.utf8.contains(0)
        }
    }
}

// MARK: Containers

extension GVariantReader {
    /// The content, a NUL, and its type.
    private mutating func variant(_ range: Range<Int>) throws(GVariantError) -> ExactValue {
        variantDepth += 1
        defer { variantDepth -= 1 }
        guard variantDepth <= GVariantLimits.maximumVariantDepth else { throw .depth }
        // A type is short, so the search is.
        let tail = range.suffix(ExactType.maximumLength + 1)
        guard let end = tail.last(where: { byte($0) == 0 }),
            let type = ExactType(
                String(
                    decoding: bytes[index(end + 1)..<index(range.upperBound)], as: UTF8.self))
        else { throw .variantType(at: range.lowerBound) }
        return try value(GVariantLayout(of: type), range.lowerBound..<end)
    }

    /// Nothing, or the content, which a zero follows if its size is not fixed.
    private mutating func maybe(
        _ part: GVariantLayout, _ type: ExactType, _ range: Range<Int>
    ) throws(GVariantError) -> [ExactValue] {
        guard let last = range.last else { return [] }
        if part.fixedSize != nil { return [try value(part, range)] }
        guard byte(last) == 0 else { throw .size(type, at: range.lowerBound) }
        return [try value(part, range.lowerBound..<last)]
    }

    private mutating func fixedArray(
        _ element: GVariantLayout, _ size: Int, _ range: Range<Int>
    ) throws(GVariantError) -> [ExactValue] {
        guard range.count.isMultiple(of: size) else {
            throw .size(.array(element.type), at: range.lowerBound)
        }
        var elements: [ExactValue] = []
        for start in stride(from: range.lowerBound, to: range.upperBound, by: size) {
            elements.append(try value(element, start..<(start + size)))
        }
        return elements
    }

    /// Elements of different sizes, and the end of each.
    ///
    /// The last end is where the ends begin.
    private mutating func array(
        _ element: GVariantLayout, _ type: ExactType, _ range: Range<Int>
    ) throws(GVariantError) -> [ExactValue] {
        guard !range.isEmpty else { return [] }
        let size = FramingOffsets.size(inContainerOf: range.count)
        let ends = try end(range.upperBound - size, size, type, range)
        let count = (range.upperBound - ends) / size
        guard (range.upperBound - ends).isMultiple(of: size),
            FramingOffsets.size(for: count, afterPartsOf: ends - range.lowerBound) == size
        else { throw .offsets(type, at: range.lowerBound) }
        var elements: [ExactValue] = []
        var start = range.lowerBound
        for place in stride(from: ends, to: range.upperBound, by: size) {
            let end = try end(place, size, type, range)
            start = try skipPadding(from: start, to: element.alignment, range)
            guard start <= end, end <= ends else { throw .offsets(type, at: range.lowerBound) }
            elements.append(try value(element, start..<end))
            start = end
        }
        return elements
    }

    /// Fields one after the other.
    ///
    /// The ends of those that have no fixed size follow, the last end first. The last field has no
    /// end of its own: it ends there.
    private mutating func tuple(
        _ layout: GVariantLayout, _ range: Range<Int>
    ) throws(GVariantError) -> [ExactValue] {
        let size = FramingOffsets.size(inContainerOf: range.count)
        let count = layout.parts.dropLast().count { $0.fixedSize == nil }
        let ends = range.upperBound - count * size
        var place = range.upperBound
        var fields: [ExactValue] = []
        var start = range.lowerBound
        guard ends >= start else { throw .offsets(layout.type, at: start) }
        for (number, part) in layout.parts.enumerated() {
            start = try skipPadding(from: start, to: part.alignment, range)
            var fieldEnd = ends
            if let fixed = part.fixedSize {
                fieldEnd = start + fixed
            } else if number < layout.parts.count - 1 {
                place -= size
                fieldEnd = try end(place, size, layout.type, range)
            }
            guard start <= fieldEnd, fieldEnd <= ends else {
                throw .offsets(layout.type, at: range.lowerBound)
            }
            fields.append(try value(part, start..<fieldEnd))
            start = fieldEnd
        }
        try checkEnd(of: layout, at: start, before: ends, range, offsets: count, size)
        return fields
    }

    /// Checks what follows the fields: the padding of a tuple of fixed size, or the ends at once,
    /// which have the smallest size.
    private func checkEnd(
        of layout: GVariantLayout, at start: Int, before ends: Int, _ range: Range<Int>,
        offsets count: Int, _ size: Int
    ) throws(GVariantError) {
        if layout.fixedSize != nil {
            guard (start..<ends).allSatisfy({ byte($0) == 0 }) else { throw .padding(at: start) }
            return
        }
        let smallest = FramingOffsets.size(for: count, afterPartsOf: ends - range.lowerBound)
        guard start == ends, count == 0 || smallest == size else {
            throw .offsets(layout.type, at: range.lowerBound)
        }
    }

    /// The position that an offset in a container leads to, which is within the container.
    private func end(
        _ place: Int, _ size: Int, _ type: ExactType, _ range: Range<Int>
    ) throws(GVariantError) -> Int {
        guard let offset = Int(exactly: number(place..<(place + size))), offset <= range.count
        else { throw .offsets(type, at: range.lowerBound) }
        return range.lowerBound + offset
    }

    private func skipPadding(
        from start: Int, to alignment: Int, _ range: Range<Int>
    ) throws(GVariantError) -> Int {
        let next = start.aligned(to: alignment)
        for offset in start..<next {
            guard offset < range.upperBound, byte(offset) == 0 else { throw .padding(at: offset) }
        }
        return next
    }
}
