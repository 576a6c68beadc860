@preconcurrency import Glibc

/// A question to the person at the terminal, before much is changed.
enum Confirmation {
    /// Whether standard input is a terminal, where somebody can answer.
    static var canBeAsked: Bool { isatty(STDIN_FILENO) == 1 }

    /// Asks whether to go on.
    static func isGiven(_ fact: String) -> Bool {
        fputs("\(fact) Continue? [y/N] ", stderr)
        let answer = readLine()?.lowercased() ?? ""
        return ["y", "yes"].contains(answer)
    }
}
