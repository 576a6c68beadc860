/// A question to the person at the terminal, before much is changed.
enum Confirmation {
    /// Whether standard input is a terminal, where somebody can answer.
    static var canBeAsked: Bool { Defaultsctl.console.isTerminal(.input) }

    /// Asks whether to go on.
    static func isGiven(_ fact: String) -> Bool {
        Defaultsctl.console.complain("\(fact) Continue? [y/N] ")
        let answer = Defaultsctl.console.readLine()?.lowercased() ?? ""
        return ["y", "yes"].contains(answer)
    }
}
