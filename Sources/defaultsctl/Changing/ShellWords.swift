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
