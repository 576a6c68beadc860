/// What the first bytes of an object say: its type, and where its content is.
struct Layout {
    enum Kind {
        case no, yes
        case integer
        case real, singleReal
        case date
        case data
        case ascii, utf16
        case uid
        case array, orderedSet, set, dictionary

        var isCollection: Bool {
            switch self {
            case .array, .orderedSet, .set, .dictionary: true
            case .no, .yes, .integer, .real, .singleReal, .date, .data, .ascii, .utf16, .uid: false
            }
        }
    }

    let kind: Kind
    /// Where the content begins.
    let start: Int
    /// How many bytes, code units or elements the content has.
    let count: Int
    /// How many bytes the content takes.
    let size: Int
}

/// The objects of a binary property list, as CoreFoundation's
/// [CFBinaryPList.c](https://github.com/apple-oss-distributions/CF/blob/main/CFBinaryPList.c)
/// describes them: a byte with the type in its upper half and a size in its lower, then the
/// content.
extension PropertyList {
    /// What the object at an offset before the offset table is; its content is not looked at.
    func layout(at offset: Int) throws(PropertyListError) -> Layout {
        let marker = bytes[offset]
        let size = Int(marker & 0x0F)
        switch marker {
        case 0x08: return Layout(kind: .no, start: offset + 1, count: 0, size: 0)
        case 0x09: return Layout(kind: .yes, start: offset + 1, count: 0, size: 0)
        case 0x10...0x14: return try layout(of: .integer, at: offset, size: 1 << size)
        case 0x22: return try layout(of: .singleReal, at: offset, size: 4)
        case 0x23: return try layout(of: .real, at: offset, size: 8)
        case 0x33: return try layout(of: .date, at: offset, size: 8)
        case 0x40...0x4F: return try layout(of: .data, at: offset, unitWidth: 1)
        case 0x50...0x5F: return try layout(of: .ascii, at: offset, unitWidth: 1)
        case 0x60...0x6F: return try layout(of: .utf16, at: offset, unitWidth: 2)
        // The format allows sixteen bytes; readers accept at most eight.
        case 0x80...0x87: return try layout(of: .uid, at: offset, size: size + 1)
        case 0xA0...0xAF:
            return try layout(of: .array, at: offset, unitWidth: trailer.referenceWidth)
        case 0xB0...0xBF:
            return try layout(of: .orderedSet, at: offset, unitWidth: trailer.referenceWidth)
        case 0xC0...0xCF:
            return try layout(of: .set, at: offset, unitWidth: trailer.referenceWidth)
        case 0xD0...0xDF:
            return try layout(of: .dictionary, at: offset, unitWidth: 2 * trailer.referenceWidth)
        default: throw .unknownType(marker, at: offset)
        }
    }

    /// The layout of what has the size in its marker.
    private func layout(
        of kind: Layout.Kind, at offset: Int, size: Int
    ) throws(PropertyListError) -> Layout {
        try check(size: size, at: offset + 1)
        return Layout(kind: kind, start: offset + 1, count: size, size: size)
    }

    /// The layout of what carries a count, in its marker or after it.
    private func layout(
        of kind: Layout.Kind, at offset: Int, unitWidth: Int
    ) throws(PropertyListError) -> Layout {
        var (start, count) = (offset + 1, Int(bytes[offset] & 0x0F))
        if count == 0x0F { (start, count) = try separateCount(ofObjectAt: offset) }
        let (size, overflow) = count.multipliedReportingOverflow(by: unitWidth)
        try check(size: overflow ? .max : size, at: start)
        return Layout(kind: kind, start: start, count: count, size: size)
    }

    /// The count that does not fit the marker and follows it as an integer, and where that ends.
    private func separateCount(
        ofObjectAt offset: Int
    ) throws(PropertyListError) -> (start: Int, count: Int) {
        try check(size: 1, at: offset + 1)
        let size = bytes[offset + 1]
        guard size >> 4 == 0x1, size & 0x0F <= 3 else { throw .badCount(at: offset) }
        let width = 1 << Int(size & 0x0F)
        try check(size: width, at: offset + 2)
        let integer = integer(at: offset + 2, width: width)
        guard let count = Int(exactly: integer), count >= 0 else { throw .badCount(at: offset) }
        return (offset + 2 + width, count)
    }

    /// Checks that `size` bytes fit between `start` and the offset table.
    private func check(size: Int, at start: Int) throws(PropertyListError) {
        guard start <= trailer.offsetTable, size <= trailer.offsetTable - start else {
            throw .cutShort(at: min(start, trailer.offsetTable))
        }
    }
}

// MARK: Values

extension PropertyList {
    /// The value of an object with this layout.
    func value(of layout: Layout) -> Value {
        let (start, count) = (layout.start, layout.count)
        let references = References(start: start, count: count)
        return switch layout.kind {
        case .no: .boolean(false)
        case .yes: .boolean(true)
        case .integer: .integer(integer(at: start, width: count))
        case .real: .real(Double(bitPattern: bytes.unsigned(at: start, width: 8)))
        case .singleReal:
            .singleReal(Float(bitPattern: UInt32(bytes.unsigned(at: start, width: 4))))
        case .date: .date(Double(bitPattern: bytes.unsigned(at: start, width: 8)))
        case .data: .data(DataRange(start: start, count: count))
        case .ascii: .string(StringRange(start: start, count: count, isUTF16: false))
        case .utf16: .string(StringRange(start: start, count: count, isUTF16: true))
        case .uid: .uid(bytes.unsigned(at: start, width: count))
        case .array: .array(references)
        case .orderedSet: .orderedSet(references)
        case .set: .set(references)
        case .dictionary: .dictionary(keys: references, values: valueReferences(of: layout))
        }
    }

    /// The references of a dictionary to its values, which come after those to its keys.
    func valueReferences(of dictionary: Layout) -> References {
        References(start: dictionary.start + dictionary.size / 2, count: dictionary.count)
    }

    /// An integer: one, two and four bytes are unsigned, eight and sixteen signed.
    private func integer(at offset: Int, width: Int) -> Int128 {
        guard width < 16 else {
            let high = Int64(bitPattern: bytes.unsigned(at: offset, width: 8))
            let low = bytes.unsigned(at: offset + 8, width: 8)
            return Int128(high) << 64 | Int128(low)
        }
        let magnitude = bytes.unsigned(at: offset, width: width)
        return width < 8 ? Int128(magnitude) : Int128(Int64(bitPattern: magnitude))
    }
}
