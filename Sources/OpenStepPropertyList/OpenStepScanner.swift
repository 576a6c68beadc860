internal import PropertyList

/// Reads the tokens of a property list in the old style.
struct OpenStepScanner {
    /// The content between `<*` and `>`.
    enum TypedValue {
        case integer(Int128)
        case real(Double)
        case boolean(Bool)
        case date(Double)
    }

    private let text: [UInt8]
    private(set) var offset = 0

    init(_ text: [UInt8]) {
        self.text = text
    }

    var isAtEnd: Bool { offset == text.count }

    /// The next byte.
    var next: UInt8? { offset < text.count ? text[offset] : nil }

    /// Skips `character` if it comes next.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    /// Returns to an earlier position.
    mutating func rewind(to offset: Int) {
        self.offset = offset
    }

    /// Skips white space and comments.
    mutating func skipSpace() throws(OpenStepFault) {
        while let byte = next {
            if byte.isSpace {
                offset += 1
            } else if text[offset...].starts(with: "//".utf8) {
                while let byte = next, byte != UInt8(ascii: "\n") { offset += 1 }
            } else if text[offset...].starts(with: "/*".utf8) {
                try skipComment()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(OpenStepFault) {
        let start = offset
        offset += 2
        while offset + 1 < text.count {
            if text[offset...].starts(with: "*/".utf8) {
                offset += 2
                return
            }
            offset += 1
        }
        throw .openComment(at: start)
    }
}

// MARK: Strings

extension OpenStepScanner {
    /// Whether a string comes next, with or without quotation marks.
    var isAtString: Bool {
        next.map { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") || $0.isBare } ?? false
    }

    /// Reads a string.
    mutating func string() throws(OpenStepFault) -> Text {
        guard let mark = next, !mark.isBare else {
            let start = offset
            while let byte = next, byte.isBare { offset += 1 }
            return Text(String(decoding: text[start..<offset], as: UTF8.self))
        }
        return try quotedString(mark)
    }

    private mutating func quotedString(_ mark: UInt8) throws(OpenStepFault) -> Text {
        let start = offset
        offset += 1
        let plain = try plainPart(upTo: mark)
        if skip(Unicode.Scalar(mark)) { return Text(plain) }
        // Escapes are code units, and two of them may be one character.
        var units = Array(plain.utf16)
        while let byte = next {
            if byte == mark {
                offset += 1
                return Text(utf16: units)
            } else if byte == UInt8(ascii: "\\") {
                offset += 1
                if let unit = escape() { units.append(unit) }
            } else {
                units += try plainPart(upTo: mark).utf16
            }
        }
        throw .openString(at: start)
    }

    /// Reads up to the next escape or the end of the string.
    private mutating func plainPart(upTo mark: UInt8) throws(OpenStepFault) -> String {
        let start = offset
        while let byte = next, byte != mark, byte != UInt8(ascii: "\\") { offset += 1 }
        guard let part = String(validating: text[start..<offset], as: UTF8.self) else {
            throw .notUTF8(at: start)
        }
        return part
    }

    /// Reads an escape after its backslash; nil if the next character is read literally: a
    /// character of several bytes, or the end of the text.
    private mutating func escape() -> UInt16? {
        guard let byte = next, byte < 0x80 else { return nil }
        if byte.octalValue != nil {
            let number = number(digits: 3, radix: 8) { $0.octalValue }
            return NextStepCharacters.unit(of: UInt8(truncatingIfNeeded: number))
        }
        offset += 1
        switch byte {
        case UInt8(ascii: "a"): return 0x07
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "v"): return 0x0B
        case UInt8(ascii: "U") where next?.hexadecimalValue != nil,
            UInt8(ascii: "u") where next?.hexadecimalValue != nil:
            return number(digits: 4, radix: 16) { $0.hexadecimalValue }
        default: return UInt16(byte)
        }
    }

    /// Reads up to a given number of digits.
    private mutating func number(
        digits: Int, radix: UInt16, _ value: (UInt8) -> UInt16?
    ) -> UInt16 {
        var number: UInt16 = 0
        for _ in 0..<digits {
            guard let digit = next.flatMap(value) else { break }
            number = number &* radix &+ digit
            offset += 1
        }
        return number
    }
}

// MARK: Data and typed values

extension OpenStepScanner {
    /// Reads hexadecimal digits and `>`.
    ///
    /// The scanner is after `<`.
    mutating func data() throws(OpenStepFault) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            try skipSpace()
            if skip(">") { return bytes }
            guard let high = next?.hexadecimalValue else { throw .badData(at: offset) }
            offset += 1
            guard let low = next?.hexadecimalValue else { throw .badData(at: offset) }
            offset += 1
            bytes.append(UInt8(high << 4 | low))
        }
    }

    /// Reads a value of GNUstep's extension: its type and its text up to `>`.
    ///
    /// The scanner is after `<*`.
    ///
    /// See [NSPropertyListSerialization]
    /// (https://gnustep.github.io/resources/documentation/Developer/Base/Reference/).
    mutating func typedValue() throws(OpenStepFault) -> TypedValue {
        let start = offset - 2
        guard let type = next, let end = text[offset...].firstIndex(of: UInt8(ascii: ">")) else {
            throw .badTyped(at: start)
        }
        var content = text[(offset + 1)..<max(end, offset + 1)]
        // Newer versions write the content in quotation marks.
        if content.count >= 2, content.first == UInt8(ascii: "\""), content.last == content.first {
            content = content.dropFirst().dropLast()
        }
        guard let value = Self.typed(type, String(decoding: content, as: UTF8.self)) else {
            throw .badTyped(at: start)
        }
        offset = end + 1
        return value
    }

    private static func typed(_ type: UInt8, _ content: String) -> TypedValue? {
        switch type {
        case UInt8(ascii: "I"): return Int128(content).map(TypedValue.integer)
        case UInt8(ascii: "R"): return Double(content).map(TypedValue.real)
        case UInt8(ascii: "B"):
            return content == "Y" || content == "N" ? .boolean(content == "Y") : nil
        case UInt8(ascii: "D"):
            // 2001-01-01 00:00:00 +0000
            let parts = content.split(separator: " ")
            guard parts.count == 3, let offset = secondsEast(parts[2]),
                let date = CalendarDate("\(parts[0])T\(parts[1])Z")
            else { return nil }
            return .date(date.secondsSince2001 - Double(offset))
        default: return nil
        }
    }

    /// The seconds of a time zone such as `+0130`.
    private static func secondsEast(_ zone: Substring) -> Int? {
        guard zone.utf8.count == 5, let sign = zone.first, sign == "+" || sign == "-",
            zone.dropFirst().utf8.allSatisfy({ $0.octalValue != nil || $0 == 0x38 || $0 == 0x39 }),
            let number = Int(zone.dropFirst())
        else { return nil }
        let seconds = (number / 100 * 60 + number % 100) * 60
        return sign == "-" ? -seconds : seconds
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }

    /// Whether a string with the character needs no quotation marks, as in CoreFoundation.
    fileprivate var isBare: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default:
            "_$/:.-".utf8.contains(self)
        }
    }

    fileprivate var octalValue: UInt16? {
        (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(self) ? UInt16(self & 7) : nil
    }

    fileprivate var hexadecimalValue: UInt16? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(self & 0x0F)
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
            UInt16(self & 0x0F) + 9
        default: nil
        }
    }
}
