/// Base64 with the standard alphabet and padding
/// ([RFC 4648](https://www.rfc-editor.org/rfc/rfc4648#section-4)).
package enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    /// Appends `bytes` in base64 to `output`.
    package static func encode(_ bytes: ArraySlice<UInt8>, to output: inout [UInt8]) {
        var rest = bytes
        while !rest.isEmpty {
            let group = rest.prefix(3)
            rest = rest.dropFirst(3)
            var bits: UInt32 = 0
            for byte in group { bits = bits << 8 | UInt32(byte) }
            bits <<= 8 * UInt32(3 - group.count)
            for position in 0..<4 {
                let digit = Int(bits >> (18 - 6 * UInt32(position)) & 0x3F)
                output.append(position <= group.count ? alphabet[digit] : padding)
            }
        }
    }

    /// The bytes that `string` encodes.
    ///
    /// Nil if it is not base64: it has another character or a wrong length, or the unused bits are
    /// not zero.
    package static func decode(_ string: String) -> [UInt8]? {
        let digits = Array(string.utf8)
        guard digits.count % 4 == 0 else { return nil }
        let content = digits.suffix(2).reversed().prefix { $0 == padding }.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3)
        var bits: UInt32 = 0
        var bitCount = 0
        for digit in digits.dropLast(content) {
            guard let value = value(of: digit) else { return nil }
            bits = (bits << 6 | value) & 0xFFFF
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
            }
        }
        let isExact = bits & (1 << UInt32(bitCount) - 1) == 0
        return isExact ? bytes : nil
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
