import DefaultsClient

/// How an action is named for people.
extension HistoryAction {
    /// Who has made it: a program, an application in a sandbox, another machine, or a document.
    var who: String {
        if !author.machine.isEmpty { return "from \(author.machine.onOneLine)" }
        if !author.owner.isEmpty { return "document \(author.owner.onOneLine)" }
        if !author.application.isEmpty { return "\(author.application.onOneLine) in a sandbox" }
        return author.program.isEmpty ? "an unknown program" : author.program.onOneLine
    }

    /// Whether it is known who has made it.
    var isAuthorKnown: Bool {
        [author.program, author.application, author.machine, author.owner].contains { !$0.isEmpty }
    }

    /// What kind it is, unless it is a plain change or ``who`` says it.
    var kindWords: String? {
        let numbers = references.map { "\($0)" }
        let listed =
            numbers.count > 3 ? "\(numbers.count) actions" : numbers.joined(separator: ", ")
        switch kind {
        case .change: return nil
        case .document where !author.owner.isEmpty: return nil
        case .roam where !author.machine.isEmpty: return nil
        case .undo, .redo: return numbers.isEmpty ? kind.rawValue : "\(kind.rawValue) of \(listed)"
        case .answer: return "answer to an undo"
        default: return kind.rawValue.onOneLine
        }
    }

    /// When it began, in local time.
    var time: String { LocalTime(UInt64(clamping: began)).text }

    /// Its number and who has made it, for sentences.
    var title: String { "\(number) (\(who))" }

    /// The line for a list: the number, when, who, and what is to be known besides.
    ///
    /// - Parameter isVoid: Whether it has left everything as it was, so that it cannot be undone.
    func line(isVoid: Bool) -> String {
        let state = isVoid || !isUndone ? nil : kind == .undo ? "redone" : "undone"
        return (["\(number)", time, who] + [kindWords, state].compactMap(\.self))
            .joined(separator: "  ")
    }
}

extension [HistoryAction] {
    /// Those that are named if all of them are taken back: not the undo and redo actions of others in the list.
    var withoutMovements: [HistoryAction] {
        let numbers = Set(map(\.number))
        let named = filter { action in
            if action.kind.isMovement { return !numbers.isSuperset(of: action.references) }
            return !action.isUndone
        }
        return named.isEmpty ? self : named
    }
}

extension HistoryAction.Kind {
    /// Whether it only moves between what other actions have made.
    var isMovement: Bool { self == .undo || self == .redo }
}
