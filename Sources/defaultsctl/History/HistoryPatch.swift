import DefaultsClient

/// The commands that make the same changes as actions.
struct HistoryPatch {
    /// The commands, a line for each key.
    ///
    /// `apply` makes them as one change, and a shell one after the other. A change that no command makes
    /// is a comment.
    let lines: [String]

    /// - Parameter actions: The newest first: what a key had after its last one counts.
    init(of actions: [ShownAction]) {
        var (changes, places): ([WatchedChange], [[String]: Int]) = ([], [:])
        for shown in actions.reversed() {
            for change in shown.changes {
                let place = [change.domain, change.key]
                let known = places[place].map { changes[$0].old } ?? change.was.content
                let made = WatchedChange(
                    of: change.key, in: change.domain, from: known, to: change.became.content,
                    at: change.generations.upperBound, by: nil)
                if let index = places[place] {
                    changes[index] = made
                } else {
                    places[place] = changes.count
                    changes.append(made)
                }
            }
        }
        lines = changes.map { $0.command(hasISODates: true) }
    }
}
