import DefaultsClient

/// Which of the actions of a listing, and which of their keys, are shown.
struct HistoryChoice {
    /// Whether keys are shown, too, that an action has left as they were, and what documents own.
    var hasAll = false
    /// Whether only what a person has done is shown.
    var isByHand = false
    /// The text that a key has in its domain, its name or its values; nil for all keys.
    var text: String?

    /// Whether only some keys of an action with many are shown.
    var isShort = false

    /// Whether an action is shown.
    func includes(_ action: HistoryAction) -> Bool { !isByHand || action.isByHand }

    /// Whether a key of an action is shown.
    func includes(_ change: HistoryChange, in scope: HistoryScope) -> Bool {
        let isMeant =
            hasAll
            ? scope.includes(change.key, in: change.domain)
            : change.standing != .void && scope.shows(change.key, in: change.domain)
        return isMeant && hasText(change)
    }

    private func hasText(_ change: HistoryChange) -> Bool {
        guard let text = text?.lowercased() else { return true }
        return [change.domain, change.key, change.was.words, change.became.words]
            .contains { $0.lowercased().contains(text) }
    }
}
