/// Splits a command into words as a POSIX shell does, if nothing needs to be expanded.
///
/// It reads bytes, because all characters with a meaning to a shell are ASCII, even before a
/// combining character.
///
/// See [Quoting](https://pubs.opengroup.org/onlinepubs/9699919799/utilities/V3_chap02.html#tag_18_02).
struct ShellWords {
    struct Failure: Error {
        let message: String
    }

    private var rest: ArraySlice<UInt8>
    private var words: [String] = []
    private var word: [UInt8]?

    private static let newline = UInt8(ascii: "\n")
    private static let backslash = UInt8(ascii: "\\")

    /// Takes the first command off a text: everything up to the first line break that is not
    /// quoted.
    static func popCommand(of text: inout ArraySlice<UInt8>) throws(Failure) -> [String] {
        var shell = ShellWords(rest: text)
        defer { text = shell.rest }
        try shell.read()
        return shell.words
    }

    private init(rest: ArraySlice<UInt8>) {
        self.rest = rest
    }

    private mutating func read() throws(Failure) {
        while let byte = rest.popFirst() {
            switch byte {
            case Self.newline: return try end()
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): try end()
            case UInt8(ascii: "#") where word == nil: rest = rest.drop { $0 != Self.newline }
            case UInt8(ascii: "'"): try readSingleQuoted()
            case UInt8(ascii: "\""): try readDoubleQuoted()
            case Self.backslash: try readEscaped()
            case UInt8(ascii: "$") where rest.first == UInt8(ascii: "'"): try readDollarQuoted()
            case _ where Self.special.contains(byte): try readSpecial(byte)
            default: append(byte)
            }
        }
        try end()
    }

    private mutating func end() throws(Failure) {
        guard let bytes = word else { return }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(message: "the bytes in $'...' are not UTF-8")
        }
        words.append(text)
        word = nil
    }

    private mutating func append(_ byte: UInt8) {
        word = word ?? []
        word?.append(byte)
    }

    private mutating func readSingleQuoted() throws(Failure) {
        guard let end = rest.firstIndex(of: UInt8(ascii: "'")) else {
            throw Failure(message: "a single quote is not closed")
        }
        word = (word ?? []) + rest[..<end]
        rest = rest[(end + 1)...]
    }

    private mutating func readDoubleQuoted() throws(Failure) {
        word = word ?? []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return
            case UInt8(ascii: "$"), UInt8(ascii: "`"): throw expansion(byte)
            case Self.backslash:
                // Inside double quotes, the backslash stays before a character that needs none.
                guard let next = rest.popFirst() else { break }
                if next == Self.newline { continue }
                if !"\\\"$`".utf8.contains(next) { append(byte) }
                append(next)
            default: append(byte)
            }
        }
        throw Failure(message: "a double quote is not closed")
    }

    /// Reads a word with the escapes of C, after the dollar sign.
    private mutating func readDollarQuoted() throws(Failure) {
        rest.removeFirst()
        word = word ?? []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "'"): return
            case Self.backslash: append(try readEscape())
            default: append(byte)
            }
        }
        throw Failure(message: "a $'...' is not closed")
    }

    /// Reads an escape after its backslash: a letter for a control character, or an octal number.
    private mutating func readEscape() throws(Failure) -> UInt8 {
        let digits = rest.prefix(3).prefix { (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }
        if let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 8) {
            rest = rest[digits.endIndex...]
            return byte
        }
        let letter = rest.popFirst()
        guard let byte = letter.flatMap({ Self.escapes[$0] }) else {
            let shown = letter.map { String(decoding: [$0], as: UTF8.self) } ?? ""
            throw Failure(message: "there is no escape '\\\(shown)' in $'...'")
        }
        return byte
    }

    private mutating func readEscaped() throws(Failure) {
        guard let next = rest.popFirst() else {
            throw Failure(message: "there is nothing after the last backslash")
        }
        if next != Self.newline { append(next) }
    }

    /// Takes a character that a shell would leave as it is here, and refuses others.
    private mutating func readSpecial(_ byte: UInt8) throws(Failure) {
        guard byte == UInt8(ascii: "~") ? word != nil : "[]".utf8.contains(byte) else {
            throw expansion(byte)
        }
        append(byte)
    }

    private func expansion(_ byte: UInt8) -> Failure {
        Failure(
            message:
                "'\(Character(Unicode.Scalar(byte)))' is special to a shell, but not supported "
                + "here; put it in single quotes")
    }

    private static let special = Set("$`;&|<>()*?[]~".utf8)

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "n"): 10, UInt8(ascii: "t"): 9, UInt8(ascii: "r"): 13, UInt8(ascii: "a"): 7,
        UInt8(ascii: "b"): 8, UInt8(ascii: "e"): 27, UInt8(ascii: "f"): 12, UInt8(ascii: "v"): 11,
        UInt8(ascii: "\\"): 92, UInt8(ascii: "'"): 39, UInt8(ascii: "\""): 34,
    ]
}
