package import PropertyList

extension PropertyList {
    /// The property list as XML in UTF-8.
    ///
    /// The same list gives the same bytes.
    ///
    /// It reads back as the same list, except that 32-bit reals become 64-bit reals, and a NaN
    /// loses its payload. A shared collection is written at each of its places.
    ///
    /// - Parameter limit: The approximate limit of the output, in bytes.
    /// - Throws: ``XMLWritingError`` if XML cannot spell a value: a set, control characters,
    ///   unpaired surrogates, a date with a fraction of a second, or a dictionary that would be
    ///   read as a reference. No value is changed to make it fit.
    package func xml(limit: Int = 256 << 20) throws(XMLWritingError) -> [UInt8] {
        var writer = XMLWriter(of: self, limit: limit)
        return try writer.write()
    }

    /// Whether XML can spell each object, so that ``xml(limit:)`` succeeds.
    package var isSpelledInXML: Bool {
        indices.allSatisfy { index in
            switch value(at: index) {
            case .string: text(at: index).map(XMLPropertyList.canHold) ?? false
            case .date(let seconds):
                CalendarDate(secondsSince2001: seconds)?.secondsSince2001 == seconds
            case .dictionary(let keys, let values):
                keys.count != 1 || self.value(ofKey: "CF$UID", keys: keys, values: values) == nil
            case .set, .orderedSet: false
            default: true
            }
        }
    }
}

extension XMLPropertyList {
    /// Whether a text has only characters that XML allows.
    package static func canHold(_ text: Text) -> Bool {
        text.string?.unicodeScalars.allSatisfy(XMLWriter.isCharacter) ?? false
    }
}

/// Writes a binary property list as XML, in the layout of Apple's tools.
///
/// The output depends only on the list. Entries keep their order, and a shared collection is
/// written at each of its places. A value that would be read back as a different one is refused.
private struct XMLWriter {
    private static let prologue = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
        "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">

        """
    /// The bytes of data on a line, which are 76 characters of base64.
    private static let dataLine = 57

    /// A collection that is being written.
    private struct Frame {
        let keys: PropertyList.References?
        let values: PropertyList.References
        var next = 0
    }

    private let list: PropertyList
    private let limit: Int
    private var stack: [Frame] = []
    private var output = Array(prologue.utf8)

    init(of list: PropertyList, limit: Int) {
        self.list = list
        self.limit = limit
    }

    mutating func write() throws(XMLWritingError) -> [UInt8] {
        try write(list.root)
        while var frame = stack.popLast() {
            guard frame.next < frame.values.count else {
                line(frame.keys == nil ? "</array>" : "</dict>")
                continue
            }
            let position = frame.next
            frame.next += 1
            stack.append(frame)
            if let keys = frame.keys { try write("key", list.element(position, of: keys)) }
            try write(list.element(position, of: frame.values))
        }
        line("</plist>")
        return output
    }

    /// Writes a scalar, or begins a collection and puts the rest of it on the stack.
    private mutating func write(_ index: ObjectIndex) throws(XMLWritingError) {
        guard output.count <= limit else {
            throw .outputTooLarge(limit: limit, at: list.byteOffset(of: index))
        }
        switch list.value(at: index) {
        case .boolean(let value): line(value ? "<true/>" : "<false/>")
        case .integer(let value): line("<integer>\(value)</integer>")
        case .real(let value): write(real: value)
        // XML has only one kind of real. The number stays the same.
        case .singleReal(let value): write(real: Double(value))
        case .date(let seconds): try write(date: seconds, at: index)
        case .data(let range): write(data: list.data(of: range))
        case .string: try write("string", index)
        case .uid(let uid): write(uid: uid)
        case .array(let elements): begin("array", keys: nil, values: elements)
        case .dictionary(let keys, let values):
            try checkNotReference(keys, values, at: index)
            begin("dict", keys: keys, values: values)
        case .set, .orderedSet: throw .cannotHold("a set", at: list.byteOffset(of: index))
        }
    }
}

// MARK: Collections

extension XMLWriter {
    private mutating func begin(
        _ name: String, keys: PropertyList.References?, values: PropertyList.References
    ) {
        guard values.count > 0 else { return line("<\(name)/>") }
        line("<\(name)>")
        stack.append(Frame(keys: keys, values: values))
    }

    /// Refuses a dictionary that would be read as a reference.
    private func checkNotReference(
        _ keys: PropertyList.References, _ values: PropertyList.References, at index: ObjectIndex
    ) throws(XMLWritingError) {
        guard keys.count == 1, list.value(ofKey: "CF$UID", keys: keys, values: values) != nil,
            case .integer = list.value(at: list.element(0, of: values))
        else { return }
        throw .cannotHold(
            "a dictionary with the single key CF$UID, which means a reference in XML",
            at: list.byteOffset(of: index))
    }
}

// MARK: Scalars

extension XMLWriter {
    private mutating func line(_ text: String) {
        indent()
        output += text.utf8
        output.append(UInt8(ascii: "\n"))
    }

    private mutating func indent() {
        output.append(contentsOf: repeatElement(UInt8(ascii: "\t"), count: stack.count))
    }

    /// The shortest digits that read back as the same number.
    private mutating func write(real: Double) {
        let infinity = real < 0 ? "-infinity" : "+infinity"
        let spelling = real.isInfinite ? infinity : real.isNaN ? "nan" : real.description
        line("<real>\(spelling)</real>")
    }

    private mutating func write(
        date seconds: Double, at index: ObjectIndex
    ) throws(XMLWritingError) {
        guard let date = CalendarDate(secondsSince2001: seconds),
            date.secondsSince2001 == seconds
        else {
            throw .cannotHold(
                "a date that is not a whole second of the calendar", at: list.byteOffset(of: index))
        }
        line("<date>\(date)</date>")
    }

    private mutating func write(data: ArraySlice<UInt8>) {
        line("<data>")
        var rest = data
        while !rest.isEmpty {
            indent()
            Base64.encode(rest.prefix(Self.dataLine), to: &output)
            output.append(UInt8(ascii: "\n"))
            rest = rest.dropFirst(Self.dataLine)
        }
        line("</data>")
    }

    private mutating func write(uid: UInt64) {
        for text in ["<dict>", "\t<key>CF$UID</key>", "\t<integer>\(uid)</integer>", "</dict>"] {
            line(text)
        }
    }

    /// Writes a string or a key.
    private mutating func write(
        _ element: String, _ index: ObjectIndex
    ) throws(XMLWritingError) {
        guard let string = list.text(at: index)?.string else {
            throw .cannotHold("an unpaired surrogate", at: list.byteOffset(of: index))
        }
        indent()
        output += "<\(element)>".utf8
        // Nearly all strings need no escape, and are copied unchanged.
        if string.utf8.allSatisfy(Self.isPlain) {
            output += string.utf8
        } else {
            guard string.unicodeScalars.allSatisfy(Self.isCharacter) else {
                throw .cannotHold(
                    "a character that XML does not allow in text", at: list.byteOffset(of: index))
            }
            for byte in string.utf8 { write(character: byte) }
        }
        output += "</\(element)>\n".utf8
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "&") && byte != UInt8(ascii: "<")
            && byte != UInt8(ascii: ">")
    }

    /// Whether it is a character of [XML 1.0](https://www.w3.org/TR/xml/#NT-Char).
    static func isCharacter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D: true
        case 0..<0x20, 0xFFFE, 0xFFFF: false
        default: true
        }
    }

    /// Writes a byte of UTF-8, as a reference if necessary.
    private mutating func write(character byte: UInt8) {
        switch byte {
        case UInt8(ascii: "&"): output += "&amp;".utf8
        case UInt8(ascii: "<"): output += "&lt;".utf8
        // "]]>" is not allowed in text.
        case UInt8(ascii: ">"): output += "&gt;".utf8
        // Readers would treat an unescaped one as the end of a line.
        case UInt8(ascii: "\r"): output += "&#13;".utf8
        default: output.append(byte)
        }
    }
}
