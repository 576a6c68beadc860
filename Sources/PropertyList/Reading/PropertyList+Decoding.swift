/// The objects of a binary property list, as CoreFoundation's
/// [CFBinaryPList.c](https://github.com/apple-oss-distributions/CF/blob/main/CFBinaryPList.c)
/// describes them: a byte with the type in its upper half and a size in its lower, then the content.
extension PropertyList {
    /// Decodes every object of the table once (invariants 1, 2 and 3).
    func checkObjects() throws(PropertyListError) {
        var room = trailer.offsetTable - Trailer.header.count
        for index in indices {
            let offset = bytes.unsigned(at: offsetEntry(of: index), width: trailer.offsetWidth)
            guard offset >= Trailer.header.count, offset < trailer.offsetTable else {
                throw .offsetOutOfRange(at: offsetEntry(of: index), of: index.position)
            }
            let value = try decode(at: Int(offset))
            room -= 1 + contentSize(of: value)
            guard room >= 0 else { throw .overlap(at: Int(offset)) }
            try checkContent(of: value)
        }
    }

    /// Decodes the object at an offset before the offset table.
    func decode(at offset: Int) throws(PropertyListError) -> Value {
        let marker = bytes[offset]
        let size = marker & 0x0F
        switch marker >> 4 {
        case 0x0:
            guard marker == 0x08 || marker == 0x09 else { break }
            return .boolean(marker == 0x09)
        case 0x1:
            guard size <= 4 else { break }
            return .integer(try integer(at: offset + 1, width: 1 << Int(size)))
        case 0x2, 0x3:
            return try real(marker, at: offset)
        case 0x8:
            // Sixteen bytes can be spelled; no reader takes more than eight.
            guard size < 8 else { break }
            let width = Int(size) + 1
            try check(count: width, width: 1, at: offset + 1)
            return .uid(bytes.unsigned(at: offset + 1, width: width))
        case 0x4, 0x5, 0x6, 0xA, 0xB, 0xC, 0xD:
            return try sized(marker, at: offset)
        default:
            break
        }
        throw .unknownType(marker, at: offset)
    }

    /// Decodes what carries a count: data, strings and collections.
    private func sized(_ marker: UInt8, at offset: Int) throws(PropertyListError) -> Value {
        let (start, count) = try self.count(marker, at: offset)
        switch marker >> 4 {
        case 0x4:
            try check(count: count, width: 1, at: start)
            return .data(DataRange(start: start, count: count))
        case 0x5:
            try check(count: count, width: 1, at: start)
            return .string(StringRange(start: start, count: count, isUTF16: false))
        case 0x6:
            try check(count: count, width: 2, at: start)
            return .string(StringRange(start: start, count: count, isUTF16: true))
        default:
            break
        }
        let width = trailer.referenceWidth
        let isDictionary = marker >> 4 == 0xD
        try check(count: count, width: isDictionary ? 2 * width : width, at: start)
        let references = References(start: start, count: count)
        switch marker >> 4 {
        case 0xA: return .array(references)
        case 0xB: return .orderedSet(references)
        case 0xC: return .set(references)
        default:
            let values = References(start: start + count * width, count: count)
            return .dictionary(keys: references, values: values)
        }
    }

    /// The count of an object, and where its content begins: the lower half of the marker is the
    /// count, or 15 and an integer follows.
    private func count(
        _ marker: UInt8, at offset: Int
    ) throws(PropertyListError) -> (start: Int, count: Int) {
        guard marker & 0x0F == 0x0F else { return (offset + 1, Int(marker & 0x0F)) }
        try check(count: 1, width: 1, at: offset + 1)
        let size = bytes[offset + 1]
        guard size >> 4 == 0x1, size & 0x0F <= 3 else { throw .badCount(at: offset) }
        let width = 1 << Int(size & 0x0F)
        let integer = try integer(at: offset + 2, width: width)
        guard let count = Int(exactly: integer), count >= 0 else { throw .badCount(at: offset) }
        return (offset + 2 + width, count)
    }

    /// An integer: one, two and four bytes are unsigned, eight and sixteen signed.
    private func integer(at offset: Int, width: Int) throws(PropertyListError) -> Int128 {
        try check(count: width, width: 1, at: offset)
        guard width < 16 else {
            let high = Int64(bitPattern: bytes.unsigned(at: offset, width: 8))
            let low = bytes.unsigned(at: offset + 8, width: 8)
            return Int128(high) << 64 | Int128(low)
        }
        let magnitude = bytes.unsigned(at: offset, width: width)
        return width < 8 ? Int128(magnitude) : Int128(Int64(bitPattern: magnitude))
    }

    /// A real of four or eight bytes, or a date of eight.
    private func real(_ marker: UInt8, at offset: Int) throws(PropertyListError) -> Value {
        guard marker == 0x22 || marker == 0x23 || marker == 0x33 else {
            throw .unknownType(marker, at: offset)
        }
        let width = marker == 0x22 ? 4 : 8
        try check(count: width, width: 1, at: offset + 1)
        let bits = bytes.unsigned(at: offset + 1, width: width)
        switch marker {
        case 0x22: return .singleReal(Float(bitPattern: UInt32(bits)))
        case 0x23: return .real(Double(bitPattern: bits))
        default: return .date(Double(bitPattern: bits))
        }
    }

    /// Checks that `count` things of `width` bytes fit between `start` and the offset table.
    private func check(count: Int, width: Int, at start: Int) throws(PropertyListError) {
        guard start <= trailer.offsetTable, count <= (trailer.offsetTable - start) / width else {
            throw .cutShort(at: min(start, trailer.offsetTable))
        }
    }

    /// How many bytes the content of a value takes after its marker, a separate count left out.
    private func contentSize(of value: Value) -> Int {
        switch value {
        case .data(let range): range.count
        case .string(let range): range.isUTF16 ? 2 * range.count : range.count
        case .array(let references), .orderedSet(let references), .set(let references):
            references.count * trailer.referenceWidth
        case .dictionary(let keys, _): 2 * keys.count * trailer.referenceWidth
        case .boolean, .integer, .real, .singleReal, .date, .uid: 0
        }
    }

    /// Checks what an object says beyond its extent: that ASCII is ASCII, and its references.
    private func checkContent(of value: Value) throws(PropertyListError) {
        switch value {
        case .string(let range) where !range.isUTF16:
            for offset in range.start..<range.start + range.count where bytes[offset] >= 0x80 {
                throw .notASCII(at: offset)
            }
        case .array(let references), .orderedSet(let references), .set(let references):
            try checkReferences(references)
        case .dictionary(let keys, let values):
            try checkReferences(keys)
            try checkReferences(values)
        case .boolean, .integer, .real, .singleReal, .date, .uid, .data, .string:
            break
        }
    }

    private func checkReferences(_ references: References) throws(PropertyListError) {
        let width = trailer.referenceWidth
        for position in 0..<references.count {
            let offset = references.start + position * width
            let reference = bytes.unsigned(at: offset, width: width)
            guard reference < trailer.objectCount else {
                throw .referenceOutOfRange(reference, count: trailer.objectCount, at: offset)
            }
        }
    }
}
