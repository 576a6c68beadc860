/// Reads what `[UInt8].append(littleEndian:)` and its like wrote, bounds checked: past the end
/// every read gives nil.
struct ByteReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    /// Whether everything has been read.
    var isAtEnd: Bool { rest.isEmpty }

    /// An integer, lowest byte first.
    mutating func integer<Integer: FixedWidthInteger>(_: Integer.Type) -> Integer? {
        guard let bytes = take(MemoryLayout<Integer>.size) else { return nil }
        return bytes.reversed().reduce(0) { $0 << 8 | Integer(truncatingIfNeeded: $1) }
    }

    /// A number of bytes.
    mutating func bytes(_ count: Int) -> [UInt8]? {
        take(count).map(Array.init)
    }

    /// Bytes after their count.
    mutating func counted<Length: FixedWidthInteger & UnsignedInteger>(
        lengthAs: Length.Type
    ) -> [UInt8]? {
        guard let length = integer(Length.self), let count = Int(exactly: length) else {
            return nil
        }
        return bytes(count)
    }

    /// Text after its length in bytes; nil also if it is not UTF-8.
    mutating func text<Length: FixedWidthInteger & UnsignedInteger>(
        lengthAs: Length.Type
    ) -> String? {
        counted(lengthAs: Length.self).flatMap { String(validating: $0, as: UTF8.self) }
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}

extension [UInt8] {
    /// Appends an integer, lowest byte first.
    mutating func append(littleEndian value: some FixedWidthInteger) {
        // The bytes of an integer, read during the call only.
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }

    /// Appends bytes after their count.
    mutating func append<Length: FixedWidthInteger>(
        counted bytes: [UInt8], lengthAs: Length.Type
    ) {
        append(littleEndian: Length(bytes.count))
        append(contentsOf: bytes)
    }

    /// Appends text in UTF-8 after its length in bytes.
    mutating func append<Length: FixedWidthInteger>(text: String, lengthAs: Length.Type) {
        append(littleEndian: Length(text.utf8.count))
        append(contentsOf: text.utf8)
    }
}
