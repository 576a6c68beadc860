package import DefaultsModel
package import DefaultsTerms
internal import SQLite

/// Which actions are to be taken back, or done again.
package struct TakingBackRequest: Sendable {
    /// The actions by number, each with the generation of its last change as the caller knows it.
    package var actions: [(number: UInt64, last: UInt64)]
    /// Only this domain; nil for all.
    package var domain: Domain?
    /// Only this key of it; nil for all.
    package var key: Key?
    /// Whether undo actions are done again.
    package var isRedo: Bool

    package init(
        actions: [(number: UInt64, last: UInt64)], domain: Domain?, key: Key?, isRedo: Bool
    ) {
        self.actions = actions
        self.domain = domain
        self.key = key
        self.isRedo = isRedo
    }
}

/// What becomes of each key when actions are taken back.
package struct TakingBackPlan: Sendable {
    /// A key.
    package struct Item: Sendable {
        package let domain: Domain
        package let key: Key
        /// What it has now.
        package let now: KnownValue
        /// What it gets.
        package let target: [UInt8]?
        package var standing: HistoryTerms.Standing
    }

    /// The actions, by their first generations.
    package let references: [Generation]
    /// Who has made them.
    package let authors: Set<ChangeAuthor>
    /// The keys, each once.
    package var items: [Item]
    /// The generation of the store that it was made for: no key may have changed since.
    package let generation: Generation
    /// The actions of which the history does not have all keys.
    package let incomplete: [(number: UInt64, known: Int, keys: Int)]
}

/// Why no plan can be made.
package enum TakingBackObstacle: Error, Sendable, Equatable {
    /// The history does not have the action.
    case unknown(UInt64)
    /// A power cut has taken the action away.
    case lost(UInt64)
    /// The action has gone on since the caller has seen it.
    case goneOn(UInt64)
    /// It is to be done again, and is not an undo.
    case notUndo(UInt64)
}

extension HistoryReading {
    /// Finds out what becomes of each key when actions are taken back or done again.
    func plan(
        _ request: TakingBackRequest, at generation: Int64, of store: LiveValues,
        in file: HistoryFile
    ) throws -> TakingBackPlan {
        var actions: [HistoryAction] = []
        for (number, last) in request.actions.sorted(by: { $0.number < $1.number }) {
            actions.append(try action(number, last: last, isRedo: request.isRedo, in: file))
        }
        // What an undo has taken back that is taken back itself is there again.
        let own = Set(actions.map(\.id))
        var rows: [HistoryRow.Place: [HistoryRow]] = [:]
        var incomplete: [(UInt64, Int, Int)] = []
        var order: [HistoryRow.Place] = []
        for action in actions {
            let all = try self.rows(of: action.id)
            if all.count < action.keys {
                incomplete.append(
                    (UInt64(clamping: action.number), all.count, Int(clamping: action.keys)))
            }
            let done = try undoneKeys(of: action.id, without: own)
            let chosen = try all.filter { row throws(SQLiteError) in
                !row.isVoid && !done.contains(row.place)
            }
            for row in chosen where try concerns(row, request) {
                if rows[row.place] == nil { order.append(row.place) }
                rows[row.place, default: []].append(row)
            }
        }
        var items: [TakingBackPlan.Item] = []
        for place in order {
            // An action that began earlier may have changed the key later.
            let changes = (rows[place] ?? []).sorted { $0.first < $1.first }
            if let item = try item(changes, of: store, in: file) { items.append(item) }
        }
        return TakingBackPlan(
            references: actions.map { Generation(known: $0.id) },
            authors: try Set(
                actions.map { action throws(SQLiteError) in try author(action.author) }),
            items: items, generation: .init(known: generation), incomplete: incomplete)
    }

    private func action(
        _ number: UInt64, last: UInt64, isRedo: Bool, in file: HistoryFile
    ) throws -> HistoryAction {
        guard
            let action = try HistoryAction(
                number: Int64(clamping: number), on: file.connection)
        else { throw TakingBackObstacle.unknown(number) }
        if action.isLost { throw TakingBackObstacle.lost(number) }
        guard UInt64(clamping: action.last) == last else {
            throw TakingBackObstacle.goneOn(number)
        }
        guard action.kind == .undo || !isRedo else { throw TakingBackObstacle.notUndo(number) }
        return action
    }

    private func concerns(
        _ row: HistoryRow, _ request: TakingBackRequest
    ) throws(SQLiteError) -> Bool {
        guard let domain = request.domain else { return true }
        guard let names = try names(of: row), names.0 == domain else { return false }
        return request.key.map { $0 == names.1 } ?? true
    }

    /// What becomes of one key.
    ///
    /// - Parameter rows: What the actions have done to it, the oldest first.
    private func item(
        _ rows: [HistoryRow], of store: LiveValues, in file: HistoryFile
    ) throws(SQLiteError) -> TakingBackPlan.Item? {
        guard let first = rows.first, let last = rows.last, let (domain, key) = try names(of: first)
        else { return nil }
        let live = try store.value(of: first.key, in: domain)
        // Each action has found what the one before it has left, and the last one what is there now.
        var holds = try has(live, whatWasLeftBy: last)
        for (earlier, later) in zip(rows, rows.dropFirst()) {
            if try !leads(later.base, toWhatWasLeftBy: earlier) { holds = false }
        }
        let isSame = live.archive == first.was
        return TakingBackPlan.Item(
            domain: domain, key: key, now: KnownValue(known: live.archive), target: first.was,
            standing: isSame ? .same : holds ? .holds : .changed)
    }
}
