/// A model of the history: what the rules of actions, joining and taking back make of a few changes.
///
/// It knows no disk, so a flush, a kill and a failure change nothing in it.
struct HistoryModel {
    /// A rule that is wrong.
    enum Fault: CaseIterable {
        /// An action may take as long as it likes.
        case endlessActions
        /// Changes are one action if any of their keys is the same.
        case joinsAnyKey
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
    }

    private let fault: Fault?
    /// The generation and the value of each key.
    private(set) var live: [String: (generation: Int, value: Int?)] = [:]
    /// All values that keys had, with their generations.
    private(set) var truth: [String: [(generation: Int, value: Int?)]] = [:]
    private(set) var rows: [Row] = []
    /// By their first generations.
    private(set) var actions: [Int: Action] = [:]

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

    private func newest(_ key: String) -> Row? {
        rows.filter { $0.key == key }.max { $0.first < $1.first }
    }

    // MARK: Changes

    mutating func change(
        _ set: [String: Int?], by author: String, at time: Duration, _ generation: Int,
        kind: String = "change", origins: [String: Int] = [:], reference: Int? = nil
    ) {
        let action =
            actionToContinue(set, author, time, kind)
            ?? begin(author, time, generation, kind, reference)
        actions[action]?.ended = time
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
        let rows = set.keys.map { newest($0) }
        let candidates = Set(rows.map { $0?.action })
        guard kind == "change", candidates.count == 1 || fault == .joinsAnyKey,
            let number = rows.compactMap({ $0?.action }).max(), let action = actions[number],
            action.kind == "change", action.undone == nil, action.author == author,
            time - action.ended <= .seconds(2),
            fault == .endlessActions || time - action.began <= .seconds(60)
        else { return nil }
        if fault == .joinsAnyKey { return number }
        return rows.allSatisfy { row in row.map { $0.last == live[$0.key]?.generation } ?? false }
            ? number : nil
    }

    private mutating func begin(
        _ author: String, _ time: Duration, _ generation: Int, _ kind: String, _ reference: Int?
    ) -> Int {
        actions[generation] = Action(
            author: author, kind: kind, began: time, ended: time, reference: reference)
        guard let reference else { return generation }
        actions[reference]?.undone = generation
        if kind == "redo", let first = actions[reference]?.reference {
            actions[first]?.undone = nil
        }
        return generation
    }

    // MARK: Taking back

    /// What taking something back does.
    struct TakingBack {
        let action: Int
        let kind: String
        let set: [String: Int?]
        let origins: [String: Int]
        /// Whether all keys have what the action has left.
        let holds: Bool
    }

    /// The newest action that can be taken back; nil if there is none.
    func undo() -> TakingBack? {
        for (number, action) in actions.sorted(by: { $0.key > $1.key })
        where action.kind == "change" && action.undone == nil {
            let own = rows.filter { $0.action == number && !$0.isVoid }
            if own.isEmpty { continue }
            return TakingBack(
                action: number, kind: "undo", set: .init(own.map { ($0.key, $0.was) }) { $1 },
                origins: .init(own.map { ($0.key, effective($0.base, of: $0.key)) }) { $1 },
                holds: own.allSatisfy {
                    effective(live[$0.key]?.generation ?? 0, of: $0.key) == $0.last
                })
        }
        return nil
    }

    /// The newest undo that was not done again; nil if there is none.
    func redo() -> TakingBack? {
        let undos = actions.filter { $0.value.kind == "undo" && $0.value.undone == nil }
        guard let (number, action) = undos.max(by: { $0.key < $1.key }),
            let first = action.reference
        else { return nil }
        let own = rows.filter { $0.action == number }
        let done = rows.filter { $0.action == first }
        return TakingBack(
            action: number, kind: "redo", set: .init(own.map { ($0.key, $0.was) }) { $1 },
            origins: .init(done.map { ($0.key, $0.last) }) { $1 },
            holds: own.allSatisfy {
                effective(live[$0.key]?.generation ?? 0, of: $0.key) == $0.origin
            })
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
