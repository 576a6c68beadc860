package import PropertyList

/// Reads the tokens of JSON.
package struct JSONScanner {
    enum Number {
        case integer(Int128)
        case real(Double)
    }

    private let text: [UInt8]
    package private(set) var offset = 0

    package init(_ text: [UInt8]) {
        self.text = text
    }

    package var isAtEnd: Bool { offset == text.count }

    /// The next byte.
    package var next: UInt8? { offset < text.count ? text[offset] : nil }

    func fault(_ message: String) -> JSONFault {
        JSONFault(.syntax, at: offset, message)
    }

    mutating func skipSpace() {
        while let byte = next, [0x20, 0x0A, 0x0D, 0x09].contains(byte) { offset += 1 }
    }

    /// Skips `byte` if it comes next.
    package mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        offset += 1
        return true
    }

    /// Skips the letters that come next.
    mutating func word() -> String {
        let start = offset
        while let byte = next, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) {
            offset += 1
        }
        return String(decoding: text[start..<offset], as: UTF8.self)
    }
}

// MARK: Numbers

extension JSONScanner {
    /// Reads a number: an integer if it has neither fraction nor exponent.
    mutating func number() throws(JSONFault) -> Number {
        let start = offset
        _ = skip(UInt8(ascii: "-"))
        if !skip(UInt8(ascii: "0")) {
            try digits()
        } else if isDigit {
            throw fault("A number has no leading zeros.")
        }
        var isInteger = true
        if skip(UInt8(ascii: ".")) {
            isInteger = false
            try digits()
        }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            isInteger = false
            if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
            try digits()
        }
        let spelling = String(decoding: text[start..<offset], as: UTF8.self)
        if isInteger {
            guard let value = Int128(spelling) else {
                throw JSONFault(
                    .numberOutOfRange, at: start, "An integer does not fit in 128 bits with a sign."
                )
            }
            return .integer(value)
        }
        guard let value = Double(spelling), value.isFinite else {
            throw JSONFault(.numberOutOfRange, at: start, "A real is too large for 64 bits.")
        }
        return .real(value)
    }

    private var isDigit: Bool {
        next.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
    }

    private mutating func digits() throws(JSONFault) {
        guard isDigit else { throw fault("A digit is expected here.") }
        while isDigit { offset += 1 }
    }
}

// MARK: Strings

extension JSONScanner {
    /// Reads a string from its first quotation mark past its last.
    package mutating func string() throws(JSONFault) -> Text {
        offset += 1
        let start = offset
        while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
            try checkCharacter(byte)
        }
        // Nearly all strings have no escape, and are used unchanged.
        let plain = try utf8(text[start..<offset], at: start)
        guard next == UInt8(ascii: "\\") else {
            try endOfString()
            return Text(plain)
        }
        return try escapedString(after: plain)
    }

    /// Continues with a string at its first escape.
    private mutating func escapedString(after plain: String) throws(JSONFault) -> Text {
        var units = Array(plain.utf16)
        while let byte = next, byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\") {
                units.append(try escape())
                continue
            }
            let start = offset
            while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                try checkCharacter(byte)
            }
            units += try utf8(text[start..<offset], at: start).utf16
        }
        try endOfString()
        return Text(utf16: units)
    }

    private mutating func checkCharacter(_ byte: UInt8) throws(JSONFault) {
        guard byte >= 0x20 else {
            throw fault("A control character in a string must be escaped.")
        }
        offset += 1
    }

    private mutating func endOfString() throws(JSONFault) {
        guard skip(UInt8(ascii: "\"")) else { throw fault("The text ends inside a string.") }
    }

    private func utf8(_ bytes: ArraySlice<UInt8>, at start: Int) throws(JSONFault) -> String {
        guard let string = String(validating: bytes, as: UTF8.self) else {
            throw JSONFault(.syntax, at: start, "A string is not UTF-8.")
        }
        return string
    }

    /// Reads an escape, which is one UTF-16 code unit.
    private mutating func escape() throws(JSONFault) -> UInt16 {
        offset += 1
        guard let byte = next else { throw fault("The text ends inside a string.") }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return UInt16(byte)
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "u"): return try hexadecimal()
        default:
            throw JSONFault(.syntax, at: offset - 2, "JSON does not have this escape.")
        }
    }

    private mutating func hexadecimal() throws(JSONFault) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap(Self.hexadecimalValue) else {
                throw fault("\\u needs four hexadecimal digits.")
            }
            unit = unit << 4 | digit
            offset += 1
        }
        return unit
    }

    private static func hexadecimalValue(of byte: UInt8) -> UInt16? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(byte - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(byte - UInt8(ascii: "A")) + 10
        default: nil
        }
    }
}
