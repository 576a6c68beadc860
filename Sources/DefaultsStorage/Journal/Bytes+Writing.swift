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
