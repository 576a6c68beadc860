import KeyedArchive

/// Archives of booleans and numbers, which are written often, made without an encoder.
///
/// Archives of numbers of one width differ in the number's bytes alone. The bytes around them are
/// those of the encoder, which is asked once for each width.
enum ScalarArchives {
    /// The bytes of an archive in which a number is put.
    private struct Template {
        let bytes: [UInt8]
        /// Where the number's bytes are.
        let place: Range<Int>

        /// Finds the place by the archives of two numbers that have no byte in common.
        init?<Number: Encodable>(_ first: Number, _ second: Number) {
            let encoder = KeyedArchiveEncoder()
            guard let first = try? encoder.encode(first).bytes,
                let second = try? encoder.encode(second).bytes, first.count == second.count
            else { return nil }
            let different = first.indices.filter { first[$0] != second[$0] }
            guard let start = different.first, let end = different.last else { return nil }
            bytes = first
            place = start..<end + 1
        }

        /// The archive of a number; nil where that has another width.
        func archive(of number: UInt64, width: Int) -> [UInt8]? {
            guard place.count == width else { return nil }
            var bytes = bytes
            for (position, index) in place.enumerated() {
                bytes[index] = UInt8(
                    truncatingIfNeeded: number >> (8 * UInt64(width - 1 - position)))
            }
            return bytes
        }
    }

    private static let yes = try? KeyedArchiveEncoder().encode(true).bytes
    private static let no = try? KeyedArchiveEncoder().encode(false).bytes
    private static let oneByte = Template(0x11, 0x22)
    private static let twoBytes = Template(0x1111, 0x2222)
    private static let fourBytes = Template(0x1111_1111, 0x2222_2222)
    private static let eightBytes = Template(0x1111_1111_1111_1111, 0x2222_2222_2222_2222)
    private static let real = Template(
        Double(bitPattern: 0x1111_1111_1111_1111), Double(bitPattern: 0x2222_2222_2222_2222))

    /// The archive of a value that is a boolean or a number; nil for any other, which the encoder
    /// encodes.
    static func bytes<Value>(of value: Value) -> [UInt8]? {
        if Value.self == Bool.self, let value = value as? Bool { return value ? yes : no }
        if Value.self == Int.self, let value = value as? Int { return bytes(of: value) }
        if Value.self == Double.self, let value = value as? Double {
            return real?.archive(of: value.bitPattern, width: 8)
        }
        return nil
    }

    private static func bytes(of value: Int) -> [UInt8]? {
        let number = UInt64(bitPattern: Int64(value))
        return switch number {
        case 0...0xff: oneByte?.archive(of: number, width: 1)
        case 0...0xffff: twoBytes?.archive(of: number, width: 2)
        case 0...0xffff_ffff: fourBytes?.archive(of: number, width: 4)
        default: eightBytes?.archive(of: number, width: 8)
        }
    }
}
