internal import DBus

/// The types in channels' files, besides `array` and `empty`.
enum ScalarType: String {
    case string, uchar, char, uint16, int16, uint, int, uint64, int64, float, double, bool

    /// Reads a value; nil if the text is not one of this type.
    func value(_ text: String) -> Value? {
        switch self {
        case .string: .string(text)
        case .bool: text == "true" ? .boolean(true) : text == "false" ? .boolean(false) : nil
        case .float, .double: Double(text).map { .double($0) }
        case .uchar: integer(text).map { .byte($0) }
        case .char: (integer(text) as Int8?).map { .int16(Int16($0)) }
        case .uint16: integer(text).map { .uint16($0) }
        case .int16: integer(text).map { .int16($0) }
        case .uint: integer(text).map { .uint32($0) }
        case .int: integer(text).map { .int32($0) }
        case .uint64: integer(text).map { .uint64($0) }
        case .int64: integer(text).map { .int64($0) }
        }
    }

    /// Reads an integer as C does: `0x` means hexadecimal, and another leading 0 octal.
    private func integer<Number: FixedWidthInteger>(_ text: String) -> Number? {
        let isNegative = text.hasPrefix("-")
        let digits = isNegative || text.hasPrefix("+") ? text.dropFirst() : text[...]
        let (rest, radix) =
            if digits.lowercased().hasPrefix("0x") {
                (digits.dropFirst(2), 16)
            } else if digits.hasPrefix("0"), digits.utf8.count > 1 {
                (digits.dropFirst(), 8)
            } else {
                (digits, 10)
            }
        // A second sign is no digit.
        guard rest.first?.isHexDigit == true else { return nil }
        return Number((isNegative ? "-" : "") + rest, radix: radix)
    }
}
