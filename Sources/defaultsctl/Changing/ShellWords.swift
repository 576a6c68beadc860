/// The words of a command as a POSIX shell splits it, where it needs to expand nothing.
///
/// See [Quoting](https://pubs.opengroup.org/onlinepubs/9699919799/utilities/V3_chap02.html#tag_18_02).
struct ShellWords {
    struct Failure: Error {
        let message: String
    }

    private var rest: Substring
    private var words: [String] = []
    private var word: String?

    /// Takes the first command off a text: all up to the first line break that is not quoted.
    static func popCommand(of text: inout Substring) throws(Failure) -> [String] {
        var shell = ShellWords(rest: text)
        defer { text = shell.rest }
        try shell.read()
        return shell.words
    }

    private init(rest: Substring) {
        self.rest = rest
    }

    private mutating func read() throws(Failure) {
        while let character = rest.popFirst() {
            switch character {
            case "\n", "\r\n": return end()
            case " ", "\t", "\r": end()
            case "#" where word == nil: rest = rest.drop { !$0.isNewline }
            case "'": try readSingleQuoted()
            case "\"": try readDoubleQuoted()
            case "\\": try readEscaped()
            case "$" where rest.first == "'": try readDollarQuoted()
            case _ where "$`;&|<>()*?[]~".contains(character): try readSpecial(character)
            default: append(character)
            }
        }
        end()
    }

    private mutating func end() {
        if let word { words.append(word) }
        word = nil
    }

    private mutating func append(_ character: Character) {
        word = (word ?? "") + String(character)
    }

    private mutating func readSingleQuoted() throws(Failure) {
        guard let end = rest.firstIndex(of: "'") else {
            throw Failure(message: "a single quote is not closed")
        }
        word = (word ?? "") + rest[..<end]
        rest = rest[rest.index(after: end)...]
    }

    /// Reads a word with the escapes of C, behind the dollar sign.
    private mutating func readDollarQuoted() throws(Failure) {
        rest.removeFirst()
        var bytes: [UInt8] = []
        while let character = rest.popFirst() {
            switch character {
            case "'":
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw Failure(message: "the bytes in $'...' are no text in UTF-8")
                }
                word = (word ?? "") + text
                return
            case "\\": bytes.append(try readEscape())
            default: bytes += Array(character.utf8)
            }
        }
        throw Failure(message: "a $'...' is not closed")
    }

    /// Reads an escape behind its backslash: a letter for a control character, or an octal number.
    private mutating func readEscape() throws(Failure) -> UInt8 {
        let digits = rest.prefix(3).prefix { ("0"..."7").contains($0) }
        if let byte = UInt8(digits, radix: 8) {
            rest = rest[digits.endIndex...]
            return byte
        }
        let letter = rest.popFirst()
        guard let byte = letter.flatMap({ Self.escapes[$0] }) else {
            throw Failure(
                message: "there is no escape '\\\(letter.map(String.init) ?? "")' in $'...'")
        }
        return byte
    }

    private static let escapes: [Character: UInt8] = [
        "n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "e": 27, "f": 12, "v": 11,
        "\\": 92, "'": 39, "\"": 34,
    ]

    private mutating func readDoubleQuoted() throws(Failure) {
        word = word ?? ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return
            case "$", "`": throw expansion(character)
            case "\\":
                // Within double quotes it stays before all that needs none.
                guard let next = rest.popFirst() else { break }
                if next.isNewline { continue }
                if !"\\\"$`".contains(next) { append("\\") }
                append(next)
            default: append(character)
            }
        }
        throw Failure(message: "a double quote is not closed")
    }

    private mutating func readEscaped() throws(Failure) {
        guard let next = rest.popFirst() else {
            throw Failure(message: "there is nothing behind the last backslash")
        }
        if !next.isNewline { append(next) }
    }

    /// Takes what a shell would leave as it is in this place, and refuses what it would not.
    private mutating func readSpecial(_ character: Character) throws(Failure) {
        guard character == "~" ? word != nil : "[]".contains(character) else {
            throw expansion(character)
        }
        append(character)
    }

    private func expansion(_ character: Character) -> Failure {
        Failure(
            message: "'\(character)' means something to a shell, which does not read this; "
                + "quote it with single quotes")
    }
}
