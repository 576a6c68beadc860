internal import PropertyList

/// An archive of one boolean, number or string of ASCII, in the form in which this module writes it.
///
/// Most settings are such archives. Their bytes are fixed but for those of the value and for the
/// offsets after it, so they are read and written without a walk over objects.
///
/// Invariants
///
/// 1. Only bytes of exactly this form are read; all others are nil. So the value is that which
///    ``KeyedArchive`` shows for the same bytes.
/// 2. The bytes that are written are those of ``ArchiveWriter``.
package struct ScalarArchive {
    /// Its value: a boolean, an integer of 64 bits, a real or a string of ASCII.
    package let value: Scalar

    /// The bytes before the value: the beginning of the root, and the object of UID 0.
    private static let head: [UInt8] =
        Array("bplist00".utf8) + [0xD4, 9, 10, 11, 12, 5, 6, 7, 8] + [0x55] + Array("$null".utf8)
    /// What follows the value if it ends at offset 0: the other objects, the table of offsets, and the
    /// trailer.
    private static let rest: [UInt8] =
        tail + firstOffsets + lastOffsets + [0, 0, 0, 0, 0, 0, 1, 1]
        + bigEndian(UInt64(firstOffsets.count + lastOffsets.count)) + bigEndian(UInt64(0))
        + bigEndian(UInt64(tail.count))
    /// Which of these bytes are offsets that grow with the end of the value: 1 if so, 0 if not.
    private static let growth: [UInt8] =
        Array(repeating: 0, count: tail.count + firstOffsets.count)
        + Array(repeating: 1, count: lastOffsets.count) + Array(repeating: 0, count: 31) + [1]
    /// The objects after the value.
    private static let tail: [UInt8] =
        [0x80, 1] + [0x54] + Array("root".utf8) + [0x12, 0, 1, 0x86, 0xA0]
        + [0x5F, 0x10, 15] + Array("NSKeyedArchiver".utf8) + [0xD1, 4, 3, 0xA2, 1, 2]
        + [0x58] + Array("$version".utf8) + [0x59] + Array("$archiver".utf8)
        + [0x54] + Array("$top".utf8) + [0x58] + Array("$objects".utf8)
    /// Where the objects before and with the value are, and those after it, as seen from its end.
    private static let firstOffsets: [UInt8] = [8, 17, 23]
    private static let lastOffsets: [UInt8] = [0, 2, 7, 12, 30, 33, 36, 45, 55, 60]
    /// The offsets have one byte, so the value ends before.
    private static let largestEnd = Int(UInt8.max) - tail.count

    /// What is written as another object of the form already, so that a value is no object of its own.
    private static let sharedStrings: Set<String> = [
        "$null", "root", "NSKeyedArchiver", "$version", "$archiver", "$top", "$objects",
    ]
    private static let sharedIntegers = [KeyedArchive.version]
}

// MARK: Reading

extension ScalarArchive {
    /// Reads an archive; nil if it does not have the form.
    package init?(_ bytes: [UInt8]) {
        let (head, rest, growth) = (Self.head, Self.rest, Self.growth)
        let end = bytes.count - rest.count
        guard end > head.count, end <= Self.largestEnd,
            head.indices.allSatisfy({ bytes[$0] == head[$0] }),
            rest.indices.allSatisfy({ bytes[end + $0] == rest[$0] &+ growth[$0] &* UInt8(end) }),
            let value = Self.value(of: bytes[head.count..<end])
        else { return nil }
        self.value = value
    }

    private static func value(of object: ArraySlice<UInt8>) -> Scalar? {
        let content = object.dropFirst()
        switch (object[object.startIndex], content.count) {
        case (0x08, 0): return .boolean(false)
        case (0x09, 0): return .boolean(true)
        case (0x10, 1), (0x11, 2), (0x12, 4): return .integer(Int128(number(content)))
        case (0x13, 8): return .integer(Int128(Int64(bitPattern: number(content))))
        case (0x23, 8): return .real(Double(bitPattern: number(content)))
        case (0x50...0x5E, _):
            return string(content, count: object[object.startIndex] & 0x0F)
        case (0x5F, 2...) where content.first == 0x10:
            return string(content.dropFirst(2), count: content[content.startIndex + 1])
        default: return nil
        }
    }

    /// The number of up to eight bytes.
    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func string(
        _ bytes: ArraySlice<UInt8>, count: UInt8
    ) -> Scalar? {
        guard bytes.count == Int(count), bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
        let string = String(decoding: bytes, as: UTF8.self)
        // A reference to this string is nil.
        return string == "$null" ? nil : .string(Text(string))
    }

    /// Passes the value to a sink, as ``KeyedArchive/render(into:limits:)`` does.
    package func render(into sink: inout some ValueFormSink) throws {
        switch value {
        case .boolean(let flag): try sink.boolean(flag)
        case .integer(let number): try sink.integer(number)
        case .real(let number): try sink.real(number)
        case .string(let text): try sink.string(text)
        case .null, .data, .date: preconditionFailure("This is no value of the form.")
        }
    }
}

// MARK: Writing

extension ScalarArchive {
    /// The archive of a value as bytes; nil if it is not of the form.
    static func bytes(of value: Scalar) -> [UInt8]? {
        guard let object = object(of: value) else { return nil }
        let end = head.count + object.count
        guard end <= largestEnd else { return nil }
        return head + object + zip(rest, growth).map { $0 &+ $1 &* UInt8(end) }
    }

    private static func object(of value: Scalar) -> [UInt8]? {
        switch value {
        case .boolean(let flag): return [flag ? 0x09 : 0x08]
        case .real(let number): return [0x23] + bigEndian(number.bitPattern)
        case .integer(let number) where !sharedIntegers.contains(number): return object(of: number)
        case .string(let text): return text.string.flatMap(object(of:))
        default: return nil
        }
    }

    private static func object(of number: Int128) -> [UInt8]? {
        switch number {
        case 0...0xFF: [0x10, UInt8(number)]
        case 0...0xFFFF: [0x11] + bigEndian(UInt16(number))
        case 0...0xFFFF_FFFF: [0x12] + bigEndian(UInt32(number))
        default: Int64(exactly: number).map { [0x13] + bigEndian($0) }
        }
    }

    private static func object(of string: String) -> [UInt8]? {
        let bytes = Array(string.utf8)
        guard bytes.count <= UInt8.max, bytes.allSatisfy({ $0 < 0x80 }),
            !sharedStrings.contains(string)
        else { return nil }
        let count = UInt8(bytes.count)
        return (count < 15 ? [0x50 | count] : [0x5F, 0x10, count]) + bytes
    }

    private static func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}
