extension PropertyList {
    /// The value of an object of this property list.
    public func value(at index: ObjectIndex) -> Value {
        value(of: layout(of: index))
    }

    /// The object at an index.
    ///
    /// If it is a reference of a keyed archive, the result is the object in `objects` that it
    /// names.
    ///
    /// - Precondition: The reference is in range. Readers of archives check that first.
    package func resolve(
        _ index: ObjectIndex, in objects: References
    ) -> (index: ObjectIndex, uid: UInt64?, value: Value) {
        let layout = layout(of: index)
        guard layout.kind == .uid else { return (index, nil, value(of: layout)) }
        let uid = bytes.unsigned(at: layout.start, width: layout.count)
        let object = element(Int(uid), of: objects)
        return (object, uid, value(of: self.layout(of: object)))
    }

    /// Reads what an object is, and where its content is.
    ///
    /// All objects were checked when the property list was read, so nothing is checked here.
    @inline(__always)
    func layout(of index: ObjectIndex) -> Layout {
        let offset = byteOffset(of: index)
        let marker = bytes[offset]
        let size = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0:
            return Layout(kind: marker == 0x09 ? .yes : .no, start: offset + 1, count: 0, size: 0)
        case 0x1:
            return Layout(kind: .integer, start: offset + 1, count: 1 << size, size: 1 << size)
        case 0x2:
            let kind = marker == 0x22 ? Layout.Kind.singleReal : .real
            return Layout(kind: kind, start: offset + 1, count: 1 << size, size: 1 << size)
        case 0x3:
            return Layout(kind: .date, start: offset + 1, count: 8, size: 8)
        case 0x4:
            return knownLayout(of: .data, at: offset, unitWidth: 1)
        case 0x5:
            return knownLayout(of: .ascii, at: offset, unitWidth: 1)
        case 0x6:
            return knownLayout(of: .utf16, at: offset, unitWidth: 2)
        case 0x8:
            return Layout(kind: .uid, start: offset + 1, count: size + 1, size: size + 1)
        case 0xA:
            return knownLayout(of: .array, at: offset, unitWidth: trailer.referenceWidth)
        case 0xB:
            return knownLayout(of: .orderedSet, at: offset, unitWidth: trailer.referenceWidth)
        case 0xC:
            return knownLayout(of: .set, at: offset, unitWidth: trailer.referenceWidth)
        default:
            return knownLayout(of: .dictionary, at: offset, unitWidth: 2 * trailer.referenceWidth)
        }
    }

    @inline(__always)
    private func knownLayout(of kind: Layout.Kind, at offset: Int, unitWidth: Int) -> Layout {
        let count = Int(bytes[offset] & 0x0F)
        guard count == 0x0F else {
            return Layout(kind: kind, start: offset + 1, count: count, size: count * unitWidth)
        }
        let width = 1 << Int(bytes[offset + 1] & 0x0F)
        let separate = Int(bytes.unsigned(at: offset + 2, width: width))
        return Layout(
            kind: kind, start: offset + 2 + width, count: separate, size: separate * unitWidth)
    }

    /// Where the object begins in the bytes.
    public func byteOffset(of index: ObjectIndex) -> Int {
        Int(bytes.unsigned(at: offsetEntry(of: index), width: trailer.offsetWidth))
    }

    /// Where the entry of an object in the offset table begins.
    func offsetEntry(of index: ObjectIndex) -> Int {
        trailer.offsetTable + index.position * trailer.offsetWidth
    }

    /// The element at `position` of a collection.
    public func element(_ position: Int, of references: References) -> ObjectIndex {
        precondition((0..<references.count).contains(position), "There is no such element.")
        let width = trailer.referenceWidth
        let number = bytes.unsigned(at: references.start + position * width, width: width)
        return ObjectIndex(number: UInt32(truncatingIfNeeded: number))
    }

    /// The elements of a collection, in the order of the file.
    public func elements(of references: References) -> [ObjectIndex] {
        elements(of: references, upTo: references.count)
    }

    /// The first elements of a collection, at most `limit`.
    package func elements(of references: References, upTo limit: Int) -> [ObjectIndex] {
        (0..<min(references.count, limit)).map { element($0, of: references) }
    }

    /// The bytes of a data value, as a slice of the bytes of the property list.
    public func data(of range: DataRange) -> ArraySlice<UInt8> {
        bytes[range.start..<range.start + range.count]
    }

    /// The text of a string.
    public func text(of range: StringRange) -> Text {
        guard range.isUTF16 else {
            let bytes = bytes[range.start..<range.start + range.count]
            return Text(String(decoding: bytes, as: UTF8.self))
        }
        return Text(utf16: (0..<range.count).map { codeUnit($0, of: range) })
    }

    /// The first code units of a string, at most `count`.
    package func prefix(_ count: Int, of range: StringRange) -> StringRange {
        StringRange(
            start: range.start, count: min(count, range.count), isUTF16: range.isUTF16)
    }

    /// The string, or nil if it has an unpaired surrogate.
    package func wellFormedString(of range: StringRange) -> String? {
        guard !range.isUTF16 else { return text(of: range).string }
        return String(decoding: bytes[range.start..<range.start + range.count], as: UTF8.self)
    }

    /// The text of an object if it is a string, otherwise nil.
    public func text(at index: ObjectIndex) -> Text? {
        string(at: index).map(text(of:))
    }

    /// Where the code units of an object are if it is a string, otherwise nil.
    public func string(at index: ObjectIndex) -> StringRange? {
        let layout = layout(of: index)
        guard layout.kind == .ascii || layout.kind == .utf16 else { return nil }
        return StringRange(
            start: layout.start, count: layout.count, isUTF16: layout.kind == .utf16)
    }

    /// The value for a key of a dictionary, or nil.
    ///
    /// Allocates nothing.
    public func value(
        ofKey name: StaticString, keys: References, values: References
    ) -> ObjectIndex? {
        for position in 0..<keys.count {
            if let key = string(at: element(position, of: keys)), isEqual(key, to: name) {
                return element(position, of: values)
            }
        }
        return nil
    }
}

extension PropertyList {
    /// The position of an object in a collection, or nil if it is not an element.
    package func position(of index: ObjectIndex, in references: References) -> Int? {
        let width = trailer.referenceWidth
        for position in 0..<references.count
        where bytes.unsigned(at: references.start + position * width, width: width)
            == index.number
        {
            return position
        }
        return nil
    }
}

// MARK: Strings in place

extension PropertyList {
    /// Whether a string consists of these ASCII characters.
    ///
    /// Allocates nothing.
    public func isEqual(_ range: StringRange, to name: StaticString) -> Bool {
        guard range.count == name.utf8CodeUnitCount else { return false }
        // The literal is constant and lives as long as the program.
        let characters = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        guard range.isUTF16 else {
            let bytes = bytes.span
            for position in 0..<range.count
            where bytes[range.start + position] != characters[position] { return false }
            return true
        }
        for position in 0..<range.count
        where codeUnit(position, of: range) != UInt16(characters[position]) {
            return false
        }
        return true
    }

    /// Whether a string has the same code units as one of `other`.
    ///
    /// Allocates nothing.
    package func isEqual(
        _ range: StringRange, to otherRange: StringRange, in other: PropertyList
    ) -> Bool {
        guard range.count == otherRange.count else { return false }
        for position in 0..<range.count
        where codeUnit(position, of: range) != other.codeUnit(position, of: otherRange) {
            return false
        }
        return true
    }

    /// Whether a string has these UTF-16 code units.
    ///
    /// Allocates nothing.
    package func isEqual(_ range: StringRange, to codeUnits: [UInt16]) -> Bool {
        guard range.count == codeUnits.count else { return false }
        return codeUnits.indices.allSatisfy { codeUnit($0, of: range) == codeUnits[$0] }
    }

    /// Whether an object is a string with the same code units as `name`.
    ///
    /// Allocates nothing.
    package func isString(at index: ObjectIndex, _ name: String) -> Bool {
        guard let range = string(at: index) else { return false }
        guard !range.isUTF16 else {
            return range.count == name.utf16.count
                && zip(0..<range.count, name.utf16).allSatisfy { codeUnit($0, of: range) == $1 }
        }
        // ASCII text has as many bytes as code units. Any other differs in a byte or in the count.
        let (name, bytes) = (name.utf8, bytes.span)
        guard range.count == name.count else { return false }
        var offset = range.start
        for byte in name {
            guard bytes[offset] == byte else { return false }
            offset += 1
        }
        return true
    }

    /// Whether the keys of two dictionaries are the same objects in the same order.
    func areSame(_ one: References, _ other: References) -> Bool {
        guard one.count == other.count else { return false }
        let bytes = bytes.span
        for offset in 0..<one.count * trailer.referenceWidth
        where bytes[one.start + offset] != bytes[other.start + offset] {
            return false
        }
        return true
    }

    func codeUnit(_ position: Int, of range: StringRange) -> UInt16 {
        guard range.isUTF16 else { return UInt16(bytes[range.start + position]) }
        let start = range.start + 2 * position
        return UInt16(bytes[start]) << 8 | UInt16(bytes[start + 1])
    }
}
