@preconcurrency import Glibc

/// Standard output for text that comes from outside: as it is into a pipe or a file, and on a
/// terminal without anything that would steer it.
enum SafeOutput {
    /// Prints a text and ends the line.
    static func print(_ text: String) {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        Swift.print(isTerminal ? text.withoutControls : text)
    }

    /// Writes bytes, which are text where the output is a terminal, and sends them on their way.
    static func write(_ bytes: [UInt8]) throws(ToolError) {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let bytes =
            isTerminal
            ? Array(String(decoding: bytes, as: UTF8.self).withoutControls.utf8) : bytes
        guard fwrite(bytes, 1, bytes.count, stdout) == bytes.count, fflush(stdout) == 0 else {
            throw .output(errno)
        }
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
