@preconcurrency import Glibc

/// A word as a shell takes it.
enum ShellWord {
    /// The word bare if every shell takes it for itself, else in quotes.
    ///
    /// On a terminal, characters that are not shown, or that change how others are, stand as escapes
    /// in the quotes `$'…'` of
    /// [POSIX.1-2024](https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html).
    /// Elsewhere they stand for themselves, as not every shell has those quotes.
    static func quoted(_ word: String) -> String {
        if !word.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
        if isatty(STDOUT_FILENO) == 0 || !word.unicodeScalars.contains(where: \.isUnseen) {
            // By its scalars: a quotation mark under a combining character is one to a shell.
            let parts = word.unicodeScalars.split(separator: "'", omittingEmptySubsequences: false)
            return "'" + parts.map { String($0) }.joined(separator: "'\\''") + "'"
        }
        return "$'" + word.unicodeScalars.map(escaped).joined() + "'"
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "'": "\\'"
        case "\\": "\\\\"
        case "\n": "\\n"
        case "\t": "\\t"
        case "\r": "\\r"
        // By its bytes, which all shells with these quotes know.
        case _ where scalar.isUnseen:
            String(scalar).utf8.map { byte in
                let digits = String(byte, radix: 8)
                return "\\" + String(repeating: "0", count: 3 - digits.utf8.count) + digits
            }.joined()
        default: String(scalar)
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "_-./:@%+,".utf8.contains(byte)
        }
    }
}
