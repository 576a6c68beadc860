internal import PropertyList

/// The elements without child elements, by their names.
enum ScalarElement: String {
    case key, string, integer, real, date, data
    case yes = "true"
    case no = "false"
}

/// Parses the texts of elements, with or without white space around them.
extension ScalarElement {
    /// An integer, decimal or hexadecimal with `0x`, as in CoreFoundation, up to 128 bits.
    static func integer(_ text: [UInt8]) -> Int128? {
        var digits = trimmed(text)
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
        let isHexadecimal = ["0x", "0X"].contains { digits.starts(with: $0.utf8) }
        if isHexadecimal { digits.removeFirst(2) }
        // Int128 would accept another sign.
        guard let first = digits.first, first != UInt8(ascii: "-"), first != UInt8(ascii: "+")
        else { return nil }
        let spelling = (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self)
        return Int128(spelling, radix: isHexadecimal ? 16 : 10)
    }

    /// A real in decimal digits, or one of the words of CoreFoundation.
    static func real(_ text: [UInt8]) -> Double? {
        let spelling = String(decoding: trimmed(text), as: UTF8.self)
        switch spelling.lowercased() {
        case "nan": return .nan
        case "inf", "+inf", "infinity", "+infinity": return .infinity
        case "-inf", "-infinity": return -.infinity
        default: break
        }
        let isDecimal = spelling.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.eE".utf8.contains(byte)
        }
        // Digits that are too large for a real must not become infinity.
        guard isDecimal, let real = Double(spelling), real.isFinite else { return nil }
        return real
    }

    /// A date, in seconds since 2001-01-01 00:00:00 UTC.
    static func date(_ text: [UInt8]) -> Double? {
        CalendarDate(String(decoding: trimmed(text), as: UTF8.self))?.secondsSince2001
    }

    /// Bytes in base64, with white space anywhere in it.
    static func data(_ text: [UInt8]) -> [UInt8]? {
        Base64.decode(String(decoding: text.lazy.filter { !$0.isSpace }, as: UTF8.self))
    }

    private static func trimmed(_ text: [UInt8]) -> ArraySlice<UInt8> {
        let start = text.drop { $0.isSpace }
        return start.dropLast(start.reversed().prefix { $0.isSpace }.count)
    }
}

extension UInt8 {
    /// Whether it is white space of [XML](https://www.w3.org/TR/xml/#NT-S).
    var isSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == .carriageReturn }

    static let carriageReturn: UInt8 = 0x0D
}
