import DefaultsClient
import Wording

/// An action with those of its keys that are shown.
struct ShownAction {
    let action: HistoryAction
    private(set) var changes: [ShownChange]
    /// The most keys that are shown to people; nil for all.
    private let mostKeys: Int?
    /// How many other keys it has that would be shown if nothing was searched for.
    private let otherKeys: Int

    /// The most keys of an action in a list.
    private static let mostKeysInList = 12

    /// - Parameters:
    ///   - scope: The keys that are shown.
    ///   - choice: Which of these keys.
    /// - Returns: Nil if nothing of the action is to be shown.
    init?(
        _ action: HistoryAction, _ changes: [HistoryChange], in scope: HistoryScope,
        choosing choice: HistoryChoice
    ) {
        var whole = choice
        whole.text = nil
        let meant = changes.filter { whole.includes($0, in: scope) }
        let shown = meant.filter { choice.includes($0, in: scope) }
        // An action is without keys if the history has lost them.
        guard !shown.isEmpty || changes.isEmpty && choice.text == nil else { return nil }
        (self.action, self.changes) = (action, shown.map(ShownChange.init))
        mostKeys = choice.isShort ? Self.mostKeysInList : nil
        otherKeys = meant.count - shown.count
    }

    /// The lines for people.
    ///
    /// - Parameter columns: The width of the terminal; nil outside one.
    func lines(columns: Int?) -> [String] {
        var lines = [action.line(isVoid: changes.allSatisfy { $0.standing == .void })]
        let listed = changes.prefix(mostKeys ?? changes.count)
        for change in listed {
            let words = ChangeWords(
                domain: change.domain, key: change.key, was: change.was, became: change.became)
            lines += words.lines(indentation: "    ", columns: columns)
            if change.standing == .void { lines[lines.count - 1] += "  (there and back)" }
            // Otherwise the first line says it of all.
            if change.standing == .undone, !action.isUndone {
                lines[lines.count - 1] += "  (undone)"
            }
        }
        let others = otherKeys + changes.count - listed.count
        if others > 0 {
            lines.append(
                "    and \(counted(others, "other key")): defaultsctl history \(action.number)")
        }
        let missing = action.keyCount - action.knownKeyCount
        if missing > 0 {
            lines.append(
                "    \(counted(missing, "key")) of it \(agreeing(missing, "is", "are")) not in the history"
            )
        }
        if !action.note.isEmpty { lines.append("    \(action.note.onOneLine)") }
        return lines
    }

    /// The same for programs.
    func json(hasISODates: Bool) throws -> String {
        func text(_ text: String) throws -> String { text.isEmpty ? "null" : try text.quoted }
        func time(_ seconds: Int64) throws -> String {
            try UniversalTime(UInt64(clamping: seconds)).text.quoted
        }
        let changes = try changes.map { try Self.json($0, hasISODates: hasISODates) }
        let author = action.author
        return try ShownJSON.object([
            ("number", "\(action.number)"), ("began", time(action.began)),
            ("ended", time(action.ended)), ("firstGeneration", "\(action.firstGeneration)"),
            ("lastGeneration", "\(action.lastGeneration)"), ("program", text(author.program)),
            ("application", text(author.application)), ("machine", text(author.machine)),
            ("owner", text(author.owner)), ("kind", action.kind.rawValue.quoted),
            ("references", "[\(action.references.map { "\($0)" }.joined(separator: ","))]"),
            ("undone", "\(action.isUndone)"), ("byHand", "\(action.isByHand)"),
            ("keys", "\(action.keyCount)"), ("knownKeys", "\(action.knownKeyCount)"),
            ("note", text(action.note)), ("changes", "[\(changes.joined(separator: ","))]"),
        ])
    }

    private static func json(_ change: ShownChange, hasISODates: Bool) throws -> String {
        try ShownJSON.object(
            [("domain", change.domain.quoted), ("key", change.key.quoted)]
                + change.was.content.members(as: "old", hasISODates: hasISODates)
                + change.became.content.members(as: "new", hasISODates: hasISODates)
                + [("state", change.standing.rawValue.quoted)])
    }

    /// The same action with the values that had no room in the reply.
    func filled(by defaults: RemoteDefaults) async throws -> ShownAction {
        var filled = self
        for place in changes.indices { try await filled.changes[place].fill(by: defaults) }
        return filled
    }
}

/// What an action has made of a key.
struct ShownChange {
    let domain: String
    let key: String
    /// What the key had before the action, and after it.
    private(set) var was, became: HistoryValue
    /// The generations of the action's first and last change of the key.
    let generations: ClosedRange<UInt64>
    let standing: HistoryStanding

    init(_ change: HistoryChange) {
        (domain, key, standing) = (change.domain, change.key, change.standing)
        (was, became) = (change.was, change.became)
        generations =
            change.firstGeneration...max(change.firstGeneration, change.lastGeneration)
    }

    /// Gets the values that had no room in the reply.
    fileprivate mutating func fill(by defaults: RemoteDefaults) async throws {
        func value(at generation: UInt64) async throws -> HistoryValue {
            try await defaults.values(of: [key], in: domain, atGeneration: generation)
                .values[key] ?? .unknown
        }
        if case .omitted = was { was = try await value(at: generations.lowerBound - 1) }
        if case .omitted = became { became = try await value(at: generations.upperBound) }
    }
}
