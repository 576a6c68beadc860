internal import PropertyList

/// A string in a collection.
///
/// It is in quotation marks unless it has only ASCII letters and digits.
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
        // With two backslashes, as macOS's tool prints it, although its parser reads one.
        default: output += "\\\\U\(digits(unit, radix: 16, count: 4))".utf8
        }
    }

    private static func digits(_ unit: UInt16, radix: Int, count: Int) -> String {
        let digits = String(unit, radix: radix)
        return String(repeating: "0", count: count - digits.utf8.count) + digits
    }
}

/// A real number as NSNumber describes it: the shortest digits that read back as the same number,
/// in the layout of `%.17g`.
struct DescribedReal {
    private let value: Double

    init(_ value: Double) {
        self.value = value
    }

    var text: String {
        guard value.isFinite else { return value.isNaN ? "nan" : value < 0 ? "-inf" : "inf" }
        guard value != 0 else { return value.sign == .minus ? "-0" : "0" }
        let (digits, exponent) = significand
        let sign = value < 0 ? "-" : ""
        guard (-4..<17).contains(exponent) else {
            let rest = digits.dropFirst()
            let magnitude = String(abs(exponent))
            return sign + digits.prefix(1) + (rest.isEmpty ? "" : "." + rest) + "e"
                + (exponent < 0 ? "-" : "+") + (magnitude.utf8.count < 2 ? "0" : "") + magnitude
        }
        if exponent < 0 { return sign + "0." + zeros(-exponent - 1) + digits }
        let whole = digits.prefix(exponent + 1)
        let fraction = digits.dropFirst(exponent + 1)
        return sign + whole + zeros(exponent + 1 - whole.utf8.count)
            + (fraction.isEmpty ? "" : "." + fraction)
    }

    private func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }

    /// The significant digits, of which the first is not zero, and the power of ten of the first
    /// digit.
    private var significand: (digits: String, exponent: Int) {
        let parts = value.magnitude.description.split(separator: "e")
        let number = parts[0].split(separator: ".")
        let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        let whole = number[0]
        let all = (whole + (number.count > 1 ? number[1] : "")).utf8.map { $0 }
        let leading = all.prefix { $0 == UInt8(ascii: "0") }.count
        let trailing = all.reversed().prefix { $0 == UInt8(ascii: "0") }.count
        let digits = String(decoding: all.dropFirst(leading).dropLast(trailing), as: UTF8.self)
        return (digits, exponent + whole.utf8.count - 1 - leading)
    }
}

/// Data as NSData describes itself: its length and its bytes.
///
/// If there are many, the first 16 and the last 8.
struct DescribedData {
    private static let mostBytes = 24
    private static let firstBytes = 16
    private static let lastBytes = 8
    private static let group = 4

    private let data: ArraySlice<UInt8>

    init(_ data: ArraySlice<UInt8>) {
        self.data = data
    }

    var text: String {
        guard data.count > Self.mostBytes else {
            return "{length = \(data.count), bytes = 0x\(Self.digits(data))}"
        }
        let (first, last) = (data.prefix(Self.firstBytes), data.suffix(Self.lastBytes))
        return "{length = \(data.count), bytes = 0x\(Self.groups(first)) ... "
            + "\(Self.groups(last)) }"
    }

    private static func groups(_ bytes: ArraySlice<UInt8>) -> String {
        stride(from: bytes.startIndex, to: bytes.endIndex, by: group).map {
            digits(bytes[$0..<min($0 + group, bytes.endIndex)])
        }.joined(separator: " ")
    }

    private static func digits(_ bytes: ArraySlice<UInt8>) -> String {
        bytes.map { ($0 < 0x10 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
