public import DBus

extension MessageWriter {
    /// Writes an `as`.
    public mutating func writeStrings(_ strings: [String]) throws {
        try writeArray(of: "s") { for string in strings { try $0.writeString(string) } }
    }
}

extension MessageReader {
    /// Reads an `as`.
    public mutating func readStrings() throws -> [String] {
        try readArray { try $0.readString() }
    }
}
