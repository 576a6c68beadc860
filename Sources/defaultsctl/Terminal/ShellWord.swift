/// Words for a shell's command line.
enum ShellWord {
    /// The word without quotes if every shell accepts that, otherwise in quotes.
    ///
    /// On a terminal, characters that are invisible or change how others are shown become escapes
    /// in `$'…'` quotes, as in
    /// [POSIX.1-2024](https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html).
    /// Elsewhere they stay as they are, because not every shell knows these quotes.
    static func quoted(_ word: String) -> String {
        if !word.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
        if !Defaultsctl.console.isTerminal(.output)
            || !word.unicodeScalars.contains(where: \.isUnseen)
        {
            // Split by scalars: to a shell, a quotation mark before a combining character is still
            // one.
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
        // Escaped byte by byte, which all shells with these quotes support.
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
