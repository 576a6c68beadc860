/// The objects of a binary property list: a byte with the type in its upper half and a size in its
/// lower, then the content.
extension PropertyList {
    /// What the object at an offset before the offset table is; its content is not looked at.
    func layout(at offset: Int) throws(PropertyListError) -> Layout {
        let marker = bytes[offset]
        guard let kind = Layout.Kind(marker: marker) else {
            throw .unknownType(marker, at: offset)
        }
        var (start, count) = (offset + 1, Int(marker & 0x0F))
        switch kind {
        case .no, .yes: count = 0
        case .integer, .real, .singleReal, .date: count = 1 << count
        case .uid: count += 1
        case .data, .ascii, .utf16, .array, .orderedSet, .set, .dictionary:
            if count == 0x0F { (start, count) = try separateCount(ofObjectAt: offset) }
        }
        try check(count: count, width: unitWidth(of: kind), at: start)
        return Layout(kind: kind, start: start, count: count)
    }

    /// How many bytes each byte, code unit or element of an object's content takes.
    func unitWidth(of kind: Layout.Kind) -> Int {
        switch kind {
        case .no, .yes, .integer, .real, .singleReal, .date, .data, .ascii, .uid: 1
        case .utf16: 2
        case .array, .orderedSet, .set: trailer.referenceWidth
        case .dictionary: 2 * trailer.referenceWidth
        }
    }

    /// The count that does not fit the marker and follows it as an integer, and where that ends.
    private func separateCount(
        ofObjectAt offset: Int
    ) throws(PropertyListError) -> (start: Int, count: Int) {
        try check(count: 1, width: 1, at: offset + 1)
        let size = bytes[offset + 1]
        guard size >> 4 == 0x1, size & 0x0F <= 3 else { throw .badCount(at: offset) }
        let width = 1 << Int(size & 0x0F)
        try check(count: width, width: 1, at: offset + 2)
        let integer = integer(at: offset + 2, width: width)
        guard let count = Int(exactly: integer), count >= 0 else { throw .badCount(at: offset) }
        return (offset + 2 + width, count)
    }

    /// Checks that `count` things of `width` bytes fit between `start` and the offset table.
    private func check(count: Int, width: Int, at start: Int) throws(PropertyListError) {
        let (size, overflow) = count.multipliedReportingOverflow(by: width)
        guard !overflow, start <= trailer.offsetTable, size <= trailer.offsetTable - start else {
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

    /// Where the references of a dictionary to its values are: behind those to its keys.
    func valueReferences(of dictionary: Layout) -> References {
        let keysSize = dictionary.count * trailer.referenceWidth
        return References(start: dictionary.start + keysSize, count: dictionary.count)
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
