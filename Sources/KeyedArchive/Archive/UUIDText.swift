/// The text of a UUID, `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`, and its sixteen bytes.
package enum UUIDText {
    private static let digits = Array("0123456789ABCDEF".utf8)
    /// The bytes that follow a hyphen.
    private static let groupStarts: Set<Int> = [4, 6, 8, 10]

    /// The bytes that a text spells, or nil if it is not a UUID.
    static func bytes(_ text: some Sequence<UInt8>) -> [UInt8]? {
        let digits = text.filter { $0 != UInt8(ascii: "-") }.map {
            Character(Unicode.Scalar($0)).hexDigitValue
        }
        guard digits.count == 32 else { return nil }
        var bytes: [UInt8] = []
        for position in stride(from: 0, to: 32, by: 2) {
            guard let high = digits[position], let low = digits[position + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }

    /// The text of sixteen bytes, or nil for any other number of bytes.
    package static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        guard bytes.count == 16 else { return nil }
        var text: [UInt8] = []
        for (position, byte) in bytes.enumerated() {
            if groupStarts.contains(position) { text.append(UInt8(ascii: "-")) }
            text += [digits[Int(byte >> 4)], digits[Int(byte & 0x0F)]]
        }
        return String(decoding: text, as: UTF8.self)
    }
}
