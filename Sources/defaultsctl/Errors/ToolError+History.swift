import DefaultsClient
import DefaultsProtocol
import DefaultsTerms
import Wording

/// Messages about the history, and about taking actions back.
extension ToolError {
    static let noHistory = ToolError(
        "The service that runs has no history: it is of an earlier version. Restart it: 'systemctl --user restart "
            + "defaultsd'.", refused)

    static let historyIsOff = ToolError(
        "The history is switched off: \(HistoryOption.days.rawValue) of \(HistoryTerms.domain) is 0, so what "
            + "changes replace is not kept. 'defaultsctl explain \(HistoryTerms.domain) "
            + "\(HistoryOption.days.rawValue)' says who has set that.", refused)

    static func noActions(
        _ scope: HistoryScope, with text: String? = nil, by program: String? = nil,
        _ knownFrom: Int64
    ) -> ToolError {
        let having = text.map { " with '\($0.inBrief)' in a domain, key or value" } ?? ""
        let author = program.map { " by a program '\($0.inBrief)'" } ?? ""
        let advice = text == nil ? scope.domain.map { " \(searching(for: $0))" } ?? "" : ""
        return ToolError(
            "The history has no such change\(scope.words)\(author)\(having). "
                + HistoryWords.complete(from: knownFrom) + advice, refused)
    }

    private static func searching(for text: String) -> String {
        "'defaultsctl history --find \(text.inBrief)' looks for it in all domains, keys and values."
    }

    static func noActionNumber(_ word: String) -> ToolError {
        ToolError(
            "'\(word.inBrief)' is not the number of an action, which 'defaultsctl history' shows.",
            wrongLine)
    }

    static func noAction(_ number: UInt64) -> ToolError {
        ToolError(
            "The history has no action \(number). 'defaultsctl history' shows those that it has.",
            refused)
    }

    static func severalNumbers(_ numbers: [String]) -> ToolError {
        let lines = numbers.map { "'defaultsctl undo \($0)'" }.joined(separator: " and ")
        return ToolError("A command takes one action back. Run \(lines).", wrongLine)
    }

    static func onlyByPrograms(_ actions: [HistoryAction]) -> ToolError {
        let programs = Set(actions.map(\.who)).sorted().prefix(3).joined(separator: ", ")
        return ToolError(
            """
            There is nothing to undo that a person has changed since then. Programs have changed \
            something (\(programs)): to take that back, give a number, a domain or --program.
            """, refused)
    }

    static func keyOfAction(_ number: String) -> ToolError {
        ToolError(
            "\(number) is the number of an action, which takes no key. For one key, give its domain and the "
                + "key.", wrongLine)
    }

    static func optionOfList(_ option: String, _ number: String) -> ToolError {
        ToolError(
            "\(number) is the number of one action, for which \(option) means nothing. Omit one of them.",
            wrongLine)
    }

    static let timesInWrongOrder = ToolError(
        "The time of --until is before that of --since, so nothing is between them.", wrongLine)

    static let programWithoutTime = ToolError(
        "--program needs a time, such as --since 10m: what the program has changed since then is taken back.",
        wrongLine)

    // MARK: Taking back

    static func nothingKnown(
        _ scope: HistoryScope, by program: String?, _ knownFrom: Int64
    ) -> ToolError {
        let author = program.map { " by a program '\($0.inBrief)'" } ?? ""
        let advice = scope.domain.map { " \(searching(for: $0))" } ?? ""
        return ToolError(
            "There is nothing to undo: the history has no change\(scope.words)\(author) at all. "
                + HistoryWords.complete(from: knownFrom) + advice, refused)
    }

    static func nothingToUndo(_ scope: HistoryScope, _ knownFrom: Int64) -> ToolError {
        ToolError(
            "There is nothing to undo: the history has no change\(scope.words) that is not taken back. "
                + HistoryWords.complete(from: knownFrom), refused)
    }

    static let nothingByHand = ToolError(
        "There is nothing to undo: all that was changed by hand is taken back already. 'defaultsctl "
            + "history' shows all changes, and 'defaultsctl undo NUMBER' takes one of them back.",
        refused)

    static let nothingToRedo = ToolError(
        "There is nothing to redo: all that was taken back is made again already.", refused)

    static func changedAfterUndo(_ undo: HistoryAction, by other: HistoryAction) -> ToolError {
        ToolError(
            "Action \(other.title) came after the undo \(undo.number), so it is not clear what is meant. To make "
                + "again what that undo has taken back: 'defaultsctl redo \(undo.number)'.",
            refused,
            remark: .nothingChanged)
    }

    static func isAnUndo(_ action: HistoryAction) -> ToolError {
        ToolError(
            "Action \(action.number) is itself an undo. To make again what it has taken back: 'defaultsctl redo "
                + "\(action.number)'.", refused, remark: .nothingChanged)
    }

    static func isNoUndo(_ action: HistoryAction, takenBackBy undo: HistoryAction?) -> ToolError {
        let advice =
            undo.map { "It was taken back by \($0.number): 'defaultsctl redo \($0.number)'." }
            ?? "'defaultsctl history' shows those that are."
        return ToolError(
            "Action \(action.number) is not an undo. \(advice)", refused, remark: .nothingChanged)
    }

    static func alreadyTakenBack(_ action: HistoryAction) -> ToolError {
        ToolError("Action \(action.title) is taken back already.", refused, remark: .nothingChanged)
    }

    static func alreadyRedone(_ action: HistoryAction) -> ToolError {
        ToolError(
            "What the undo \(action.number) had taken back is made again already.", refused,
            remark: .nothingChanged)
    }

    static func nothingLeft(_ action: HistoryAction) -> ToolError {
        ToolError(
            "Nothing is left of action \(action.title) that could be taken back: its keys have their values of "
                + "before.", refused, remark: .nothingChanged)
    }

    static let nothingSince = ToolError(
        "There is nothing to take back: these keys have the values that they had then.", refused,
        remark: .nothingChanged)

    static func tooManyActions(_ count: Int, most: Int) -> ToolError {
        ToolError(
            "These are \(count) actions, but at most \(most) can be taken back at once. Restore a backup to go back "
                + "further: 'defaultsctl backup list'.", refused, remark: .nothingChanged)
    }

    /// Keys that stand in the way.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - others: How many could be changed.
    ///   - canBeForced: Whether some of them were changed since.
    static func inTheWay(
        _ count: Int, others: Int, canBeForced: Bool, isRedo: Bool
    ) -> ToolError {
        let verb = isRedo ? "made again" : "taken back"
        let partial =
            others > 0
            ? " --partial leaves \(agreeing(count, "it", "them")) as \(agreeing(count, "it is", "they are"))."
            : ""
        let force = canBeForced ? " --force also replaces newer changes." : ""
        return ToolError(
            "\(counted(count, "key")) cannot be \(verb).\(partial)\(force)", refused,
            remark: .nothingChanged)
    }

    static func notAskedTo(_ verb: String) -> ToolError {
        ToolError(
            "'\(verb)' asks before it changes something, but standard input is not a terminal. Give --yes to make "
                + "this change without being asked.", wrongLine, remark: .nothingChanged)
    }
}

/// Sentences about the history.
enum HistoryWords {
    /// From when on it is complete.
    ///
    /// - Parameter subject: What the sentence begins with.
    static func complete(from moment: Int64, of subject: String = "It") -> String {
        "\(subject) is complete from \(LocalTime(UInt64(clamping: moment)).text) on."
    }
}
