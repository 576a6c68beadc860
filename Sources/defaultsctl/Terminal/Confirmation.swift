/// A question to the person at the terminal, before much is changed.
enum Confirmation {
    /// Whether standard input is a terminal, where somebody can answer.
    static var canBeAsked: Bool { Defaultsctl.console.isTerminal(.input) }

    /// Says what is about to happen, and asks whether to go on.
    static func isGiven(_ fact: String) -> Bool { isGiven(to: "\(fact) Continue?") }

    /// Asks a question that is answered by yes or no.
    static func isGiven(to question: String) -> Bool {
        Defaultsctl.console.complain("\(question) [y/N] ")
        let answer = Defaultsctl.console.readLine()?.lowercased() ?? ""
        return ["y", "yes"].contains(answer)
    }
}
