/// A word as a shell takes it.
enum ShellWord {
    /// The word bare where every shell takes it for itself, else in quotes.
    ///
    /// Characters that are not shown, or that change how others are, stand as escapes, in the quotes
    /// `$'…'` of [POSIX.1-2024](https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html),
    /// so that a line is a command and a terminal shows all of it.
    static func quoted(_ word: String) -> String {
        if !word.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
        if word.unicodeScalars.allSatisfy({ !$0.isUnseen }) {
            return "'"
                + word.split(separator: "'", omittingEmptySubsequences: false)
                .joined(separator: "'\\''") + "'"
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

extension Unicode.Scalar {
    /// Whether a terminal would obey the character, or not show it.
    var isUnseen: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
