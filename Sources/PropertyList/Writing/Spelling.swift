/// Writes objects in the form of a binary property list.
extension [UInt8] {
    /// Appends the last `width` bytes of a number, the highest first.
    mutating func append(bigEndian value: some FixedWidthInteger, width: Int) {
        // Nearly all numbers take one byte.
        guard width > 1 else { return append(UInt8(truncatingIfNeeded: value)) }
        for position in (0..<width).reversed() {
            append(UInt8(truncatingIfNeeded: value >> (8 * position)))
        }
    }

    /// Appends a marker and eight bytes.
    mutating func append(marker: UInt8, bits: UInt64) {
        append(marker)
        append(bigEndian: bits, width: 8)
    }

    /// Appends the marker of a type, with the count in it or after it.
    mutating func append(type: UInt8, count: Int) {
        append(type << 4 | UInt8(Swift.min(count, 15)))
        if count >= 15 { append(integer: Int128(count)) }
    }

    /// Appends an integer: in 1, 2 or 4 bytes if it is not negative and fits, otherwise in 8 or 16.
    mutating func append(integer: Int128) {
        let size: UInt8 =
            switch integer {
            case 0...0xFF: 0
            case 0...0xFFFF: 1
            case 0...0xFFFF_FFFF: 2
            case Int128(Int64.min)...Int128(Int64.max): 3
            default: 4
            }
        append(0x10 | size)
        append(bigEndian: integer, width: 1 << Int(size))
    }

    /// Appends a string: one byte for each character if all are ASCII, otherwise UTF-16.
    mutating func append(text: Text) {
        if var string = text.string, string.withUTF8({ appendASCII($0) }) {
            return
        } else {
            let codeUnits = text.codeUnits
            append(type: 0x6, count: codeUnits.count)
            for unit in codeUnits { append(bigEndian: unit, width: 2) }
        }
    }
}

extension [UInt8] {
    /// Appends a string that is given as well-formed UTF-8.
    mutating func append(utf8: ArraySlice<UInt8>) {
        // The pointer stays in the closure.
        guard !utf8.withUnsafeBufferPointer({ appendASCII($0) }) else { return }
        append(text: Text(String(decoding: utf8, as: UTF8.self)))
    }

    /// Appends a string if it is ASCII, and returns whether it is.
    private mutating func appendASCII(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        // The bits of all bytes are combined first, which handles many bytes at a time.
        var bits: UInt8 = 0
        for byte in utf8 { bits |= byte }
        guard bits < 0x80 else { return false }
        append(type: 0x5, count: utf8.count)
        append(contentsOf: utf8)
        return true
    }
}

extension UInt64 {
    /// The smallest width that can hold numbers up to this one: 1, 2, 4 or 8 bytes.
    var byteWidth: Int {
        switch self {
        case 0...0xFF: 1
        case 0...0xFFFF: 2
        case 0...0xFFFF_FFFF: 4
        default: 8
        }
    }
}
