extension PropertyList {
    /// The value of an object of this property list.
    public func value(at index: ObjectIndex) -> Value {
        value(of: layout(of: index))
    }

    /// What an object of this property list is, and where its content is.
    func layout(of index: ObjectIndex) -> Layout {
        do {
            return try layout(at: byteOffset(of: index))
        } catch {
            // Every object was looked at once when the property list was read.
            preconditionFailure("The index is of another property list.")
        }
    }

    /// Where an object begins in the bytes.
    public func byteOffset(of index: ObjectIndex) -> Int {
        Int(bytes.unsigned(at: offsetEntry(of: index), width: trailer.offsetWidth))
    }

    /// Where the offset table says where an object begins.
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
        (0..<references.count).map { element($0, of: references) }
    }

    /// The bytes of a data value, a slice of those that were read.
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

    /// The text of the object where it is a string, else nil.
    public func text(at index: ObjectIndex) -> Text? {
        string(at: index).map(text(of:))
    }

    /// Where the code units of the object are, where it is a string, else nil.
    public func string(at index: ObjectIndex) -> StringRange? {
        let layout = layout(of: index)
        guard layout.kind == .ascii || layout.kind == .utf16 else { return nil }
        return StringRange(
            start: layout.start, count: layout.count, isUTF16: layout.kind == .utf16)
    }

    /// The value of a dictionary's key, where it has that; nothing is allocated.
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

// MARK: Strings in place

extension PropertyList {
    /// Whether a string is these ASCII characters; nothing is allocated.
    public func isEqual(_ range: StringRange, to name: StaticString) -> Bool {
        guard range.count == name.utf8CodeUnitCount else { return false }
        // The literal's characters are constant and live as long as the program.
        let characters = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        for position in 0..<range.count
        where codeUnit(position, of: range) != UInt16(characters[position]) {
            return false
        }
        return true
    }

    /// Whether a string and one of `other` have the same code units; nothing is allocated.
    public func isEqual(
        _ range: StringRange, to otherRange: StringRange, in other: PropertyList
    ) -> Bool {
        guard range.count == otherRange.count else { return false }
        for position in 0..<range.count
        where codeUnit(position, of: range) != other.codeUnit(position, of: otherRange) {
            return false
        }
        return true
    }

    /// Whether a string has these UTF-16 code units; nothing is allocated.
    package func isEqual(_ range: StringRange, to codeUnits: [UInt16]) -> Bool {
        guard range.count == codeUnits.count else { return false }
        return codeUnits.indices.allSatisfy { codeUnit($0, of: range) == codeUnits[$0] }
    }

    /// Whether the object is a string of the same code units as `name`; nothing is allocated.
    package func isString(at index: ObjectIndex, _ name: String) -> Bool {
        guard let range = string(at: index) else { return false }
        guard !range.isUTF16 else {
            return range.count == name.utf16.count
                && zip(0..<range.count, name.utf16).allSatisfy { codeUnit($0, of: range) == $1 }
        }
        // What is ASCII has as many bytes as code units; all else differs in a byte or the count.
        guard range.count == name.utf8.count else { return false }
        var offset = range.start
        for byte in name.utf8 {
            guard bytes[offset] == byte else { return false }
            offset += 1
        }
        return true
    }

    func codeUnit(_ position: Int, of range: StringRange) -> UInt16 {
        guard range.isUTF16 else { return UInt16(bytes[range.start + position]) }
        let start = range.start + 2 * position
        return UInt16(bytes[start]) << 8 | UInt16(bytes[start + 1])
    }
}
