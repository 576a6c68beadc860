/// A model of the history: what the rules of actions, joining and taking back make of a few changes.
///
/// It knows no disk, so a flush, a kill and a failure change nothing in it.
struct HistoryModel {
    /// A rule that is wrong.
    enum Fault: CaseIterable {
        /// An action may take as long as it likes.
        case endlessActions
        /// Other keys may join as late as the same ones.
        case joinsOtherKeysLate
        /// A key joins although something else has changed it since.
        case joinsOvertaken
        /// What a program writes after an undo is a change like others.
        case noAnswers
        /// What a program writes after an undo is in the way of what is taken back.
        case answersCount
        /// Undo wants the generation that the action has left, not the value.
        case strictUndo
        /// A value that went there and back has left no trace.
        case dropsVoid
        /// An earlier value was there from the beginning.
        case ignoresBase
    }

    /// A row of the history.
    struct Row: Equatable {
        let key: String
        let action: Int
        let base: Int
        let first: Int
        var last: Int
        let was: Int?
        var origin: Int?
        var isVoid = false
    }

    /// An action.
    struct Action {
        let author: String
        let kind: String
        let began: Duration
        var ended: Duration
        /// The action that it has taken back or done again.
        var reference: Int?
        /// The undo that has taken it back, or the redo that has done it again.
        var undone: Int?
        /// Whether it was taken back at some time.
        var wasTakenBack = false
        /// Whether a part of it was taken back or done again, as the other keys had their values again.
        var isPartly = false
    }

    private let fault: Fault?
    /// The generation and the value of each key.
    private(set) var live: [String: (generation: Int, value: Int?)] = [:]
    /// All values that keys had, with their generations.
    private(set) var truth: [String: [(generation: Int, value: Int?)]] = [:]
    private(set) var rows: [Row] = []
    /// By their first generations.
    private(set) var actions: [Int: Action] = [:]
    /// The last action of each author.
    private var newest: [String: Int] = [:]
    /// When something was last taken back, and by whom.
    private var takenBack: (time: Duration, author: String)?

    init(_ fault: Fault? = nil) { self.fault = fault }

    /// What a change would do: nothing to keys that have the value.
    func effect(of set: [String: Int?]) -> [String: Int?] {
        set.filter { live[$0.key]?.value != $0.value }
    }

    /// The generation whose value a key has.
    private func effective(_ generation: Int, of key: String) -> Int {
        guard fault != .strictUndo else { return generation }
        let row = rows.last { $0.key == key && $0.last == generation }
        return row?.origin ?? generation
    }

    // MARK: Changes

    mutating func change(
        _ set: [String: Int?], by author: String, at time: Duration, _ generation: Int,
        kind: String = "change", origins: [String: Int] = [:], reference: Int? = nil
    ) {
        var kind = kind
        if kind == "change", fault != .noAnswers,
            let takenBack, takenBack.author != author,
            time - takenBack.time <= .milliseconds(500)
        {
            kind = "answer"
        }
        let action =
            actionToContinue(set, author, time, kind)
            ?? begin(set, author, time, generation, kind, reference)
        actions[action]?.ended = time
        newest[author] = action
        for (key, value) in set {
            let old = live[key] ?? (0, nil)
            live[key] = (generation, value)
            truth[key, default: []].append((generation, value))
            let own = rows.lastIndex { $0.key == key && $0.action == action }
            if let own {
                rows[own].last = generation
                rows[own].isVoid = rows[own].was == value
                rows[own].origin =
                    rows[own].isVoid ? effective(rows[own].base, of: key) : nil
                if fault == .dropsVoid, rows[own].isVoid { rows.remove(at: own) }
            } else {
                rows.append(
                    Row(
                        key: key, action: action,
                        base: fault == .ignoresBase ? 0 : old.generation, first: generation,
                        last: generation, was: old.value, origin: origins[key]))
            }
        }
    }

    private func actionToContinue(
        _ set: [String: Int?], _ author: String, _ time: Duration, _ kind: String
    ) -> Int? {
        guard let number = newest[author], let action = actions[number], action.kind == kind,
            ["change", "answer"].contains(kind), !action.wasTakenBack,
            fault == .endlessActions || time - action.began <= .seconds(60)
        else { return nil }
        let own = rows.filter { $0.action == number && set.keys.contains($0.key) }
        let isOvertaken = own.contains { $0.last != live[$0.key]?.generation }
        if isOvertaken, fault != .joinsOvertaken { return nil }
        let isSlow = own.count == set.count || fault == .joinsOtherKeysLate
        return time - action.ended <= (isSlow ? .seconds(2) : .milliseconds(500)) ? number : nil
    }

    private mutating func begin(
        _ set: [String: Int?], _ author: String, _ time: Duration, _ generation: Int,
        _ kind: String, _ reference: Int?
    ) -> Int {
        actions[generation] = Action(
            author: author, kind: kind, began: time, ended: time, reference: reference)
        guard let reference else { return generation }
        takenBack = (time, author)
        actions[reference]?.undone = generation
        actions[reference]?.wasTakenBack = true
        let own = rows.count { $0.action == reference && !$0.isVoid }
        if set.count < own {
            actions[reference]?.isPartly = true
            if let first = actions[reference]?.reference { actions[first]?.isPartly = true }
        }
        if kind == "redo", let first = actions[reference]?.reference {
            actions[first]?.undone = nil
        }
        return generation
    }

    /// Another process goes on.
    mutating func restart() { takenBack = nil }

    // MARK: Taking back

    /// What taking something back does.
    struct TakingBack {
        let action: Int
        let kind: String
        /// All keys that it is about.
        let keys: Set<String>
        /// What it changes: not the keys that have their values again.
        let set: [String: Int?]
        let origins: [String: Int]
        /// Whether each key has what the action has left, or has its value again.
        let holds: Bool
    }

    /// The newest action that can be taken back; nil if there is none.
    func undo() -> TakingBack? {
        for (number, action) in actions.sorted(by: { $0.key > $1.key })
        where action.reference == nil && action.undone == nil {
            let own = rows.filter { $0.action == number && !$0.isVoid }
            let found = takingBack(
                number, "undo", own, left: \.last,
                origins: own.map { ($0.key, effective($0.base, of: $0.key)) })
            if !found.set.isEmpty || !found.holds { return found }
        }
        return nil
    }

    /// The newest undo that was not done again; nil if there is none.
    func redo() -> TakingBack? {
        let undos = actions.filter { $0.value.kind == "undo" && $0.value.undone == nil }
        guard let number = undos.keys.max() else { return nil }
        let own = rows.filter { $0.action == number }
        let found = takingBack(
            number, "redo", own, left: { $0.origin },
            origins: own.map { ($0.key, effective($0.base, of: $0.key)) })
        return found.set.isEmpty && found.holds ? nil : found
    }

    private func takingBack(
        _ number: Int, _ kind: String, _ own: [Row], left: (Row) -> Int?, origins: [(String, Int)]
    ) -> TakingBack {
        func isLeft(_ row: Row) -> Bool {
            var generation = live[row.key]?.generation ?? 0
            while effective(generation, of: row.key) != left(row) {
                // What only answers an undo is not a choice.
                guard fault != .answersCount,
                    let answer = rows.last(where: { $0.key == row.key && $0.last == generation }),
                    actions[answer.action]?.kind == "answer"
                else { return false }
                generation = answer.base
            }
            return true
        }
        func isSame(_ row: Row) -> Bool {
            fault != .strictUndo && live[row.key]?.value == row.was
        }
        let changed = own.filter { !isSame($0) }
        return TakingBack(
            action: number, kind: kind, keys: Set(own.map(\.key)),
            set: .init(changed.map { ($0.key, $0.was) }) { $1 }, origins: .init(origins) { $1 },
            holds: changed.allSatisfy(isLeft))
    }

    // MARK: At a generation

    /// What a key had; nil if the rows do not say.
    func value(of key: String, at generation: Int) -> Int?? {
        guard let now = live[key] else { return .some(nil) }
        if now.generation <= generation { return .some(now.value) }
        return rows.first { $0.key == key && $0.base <= generation && generation < $0.first }
            .map { $0.was }
    }

    /// What a key really had.
    func truth(of key: String, at generation: Int) -> Int? {
        truth[key]?.last { $0.generation <= generation }?.value
    }
}
