@preconcurrency import Glibc

/// Standard output for text that comes from outside: as it is into a pipe or a file, and on a
/// terminal without anything that would steer it.
enum SafeOutput {
    /// Prints a text and ends the line.
    static func print(_ text: String) throws(ToolError) { try write("\(text)\n".utf8) }

    /// Prints JSON, which stays JSON on a terminal, and ends the line.
    static func print(json: String) throws(ToolError) { try write(json: "\(json)\n".utf8) }

    /// Writes bytes, which are text where the output is a terminal, and sends them on their way.
    static func write(_ bytes: some Collection<UInt8>) throws(ToolError) {
        try write(bytes) { $0.withoutControls }
    }

    /// Writes the bytes of JSON, and sends them on their way.
    static func write(json bytes: some Collection<UInt8>) throws(ToolError) {
        try write(bytes, shownAs: ShownJSON.text)
    }

    private static func write(
        _ bytes: some Collection<UInt8>, shownAs shown: (String) -> String
    ) throws(ToolError) {
        if isatty(STDOUT_FILENO) == 1 {
            try StandardOutput.write(shown(String(decoding: bytes, as: UTF8.self)).utf8)
        } else {
            try StandardOutput.write(bytes)
        }
        try StandardOutput.flush()
    }
}

extension String {
    /// Escapes in the place of control characters; lines and tabs stay.
    var withoutControls: String {
        guard unicodeScalars.contains(where: Self.steers) else { return self }
        return unicodeScalars.map { Self.steers($0) ? $0.escape : String($0) }.joined()
    }

    private static func steers(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isUnseen && scalar != "\n" && scalar != "\t"
    }
}
