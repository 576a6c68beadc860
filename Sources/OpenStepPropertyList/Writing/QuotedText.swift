internal import PropertyList

/// A string of a collection, in quotation marks unless it is only of ASCII letters and digits.
struct QuotedText {
    private let text: Text

    init(_ text: Text) {
        self.text = text
    }

    func append(to output: inout [UInt8]) {
        if let string = text.string, !string.isEmpty, string.utf8.allSatisfy(Self.isPlain) {
            output += string.utf8
            return
        }
        output.append(UInt8(ascii: "\""))
        for unit in text.codeUnits { Self.append(unit, to: &output) }
        output.append(UInt8(ascii: "\""))
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }

    private static func append(_ unit: UInt16, to output: inout [UInt8]) {
        switch unit {
        case 0x22: output += "\\\"".utf8
        case 0x5C: output += "\\\\".utf8
        case 0x07: output += "\\a".utf8
        case 0x08: output += "\\b".utf8
        case 0x09: output += "\\t".utf8
        case 0x0A: output += "\\n".utf8
        case 0x0B: output += "\\v".utf8
        case 0x0C: output += "\\f".utf8
        case 0x0D: output += "\\r".utf8
        case 0x20..<0x7F: output.append(UInt8(unit))
        case 0..<0x80: output += "\\\(digits(unit, radix: 8, count: 3))".utf8
        // With two, as macOS's tool prints it, though one is what its parser reads.
        default: output += "\\\\U\(digits(unit, radix: 16, count: 4))".utf8
        }
    }

    private static func digits(_ unit: UInt16, radix: Int, count: Int) -> String {
        let digits = String(unit, radix: radix)
        return String(repeating: "0", count: count - digits.utf8.count) + digits
    }
}
