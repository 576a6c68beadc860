package import DefaultsModel
package import DefaultsTerms
internal import SQLite

/// An action, as it is shown.
package struct ActionSummary: Sendable, Equatable {
    /// Counts the actions of the database.
    package let number: UInt64
    /// The generation of its first change.
    package let first: Generation
    /// The generation of its last change.
    package let last: Generation
    /// When it began and ended, in seconds since 1970.
    package let began: Int64
    package let ended: Int64
    package let author: ChangeAuthor
    package let kind: HistoryTerms.Kind
    /// The numbers of the actions that it has taken back or done again.
    package let references: [UInt64]
    /// How many keys it changed.
    package let keys: Int
    /// How many of these the history has.
    package let known: Int
    /// Whether all keys that it changed are taken back.
    package let isUndone: Bool
    /// Whether its changes were lost in a power cut.
    package let isLost: Bool
    /// Whether all its keys keep where something was left: see ``HistoryTerms/isState(_:in:)``.
    package let isState: Bool
    /// What else is to be known about it.
    package let note: String
}

/// A key that an action changed.
package struct ActionChange: Sendable, Equatable {
    package let domain: Domain
    package let key: Key
    package let first: Generation
    package let last: Generation
    /// What it had before.
    package let was: KnownValue
    /// What it had after that.
    package let became: KnownValue
    package var standing: HistoryTerms.Standing
}

/// What is known about the value of a key at some time.
package enum KnownValue: Sendable, Equatable {
    case absent
    case present([UInt8])
    case unknown

    /// A value, or that there is none.
    package init(known archive: [UInt8]?) {
        self = archive.map(KnownValue.present) ?? .absent
    }
}

/// Which actions are listed.
package struct ActionFilter: Sendable {
    /// Only those that changed this domain.
    package var domain: Domain?
    /// Only those that changed this key of it.
    package var key: Key?
    /// Only those of this program.
    package var program = ""
    /// Only those that ended at this time or later, in seconds since 1970.
    package var since = Int64.min
    /// Only those that began at this time or earlier.
    package var until = Int64.max
    /// Only those with a lower number.
    package var before = UInt64.max
    package var limit = 1000

    package init() {}
}

/// Reads the history.
struct HistoryReading {
    private let file: HistoryFile
    private let store: LiveValues
    private let takenBack = TakenBack()
    private var connection: Connection { file.connection }

    init(_ file: HistoryFile, over store: Connection) throws(SQLiteError) {
        self.file = file
        self.store = try LiveValues(store)
    }

    // MARK: Actions

    /// The actions that a filter lets through, the newest first.
    func actions(_ filter: ActionFilter) throws(SQLiteError) -> [ActionSummary] {
        var conditions = ["number < ?1", "ended >= ?2", "began <= ?3"]
        if !filter.program.isEmpty {
            conditions.append("author IN (SELECT id FROM authors WHERE program = ?4)")
        }
        if let domain = filter.domain {
            guard let number = try file.number(of: domain) else { return [] }
            let key = filter.key == nil ? "" : " AND key = ?5"
            conditions.append(
                "id IN (SELECT action FROM rows WHERE domain = \(number)\(key))")
        }
        let select = try connection.prepare(
            """
            SELECT \(HistoryAction.columns) FROM actions WHERE \(conditions.joined(separator: " AND "))
                ORDER BY number DESC LIMIT ?6
            """)
        try select.bind(Int64(clamping: filter.before), at: 1)
        try select.bind(filter.since, at: 2)
        try select.bind(filter.until, at: 3)
        if !filter.program.isEmpty { try select.bind(filter.program, at: 4) }
        if filter.domain != nil, let key = filter.key { try select.bind(key.name, at: 5) }
        try select.bind(Int64(filter.limit), at: 6)
        var found: [HistoryAction] = []
        while try select.step() { found.append(HistoryAction(select)) }
        select.reset()
        var summaries: [ActionSummary] = []
        for action in found { summaries.append(try summary(of: action)) }
        return summaries
    }

    /// An action with the keys that it changed; nil if there is none with this number.
    func action(
        _ number: UInt64
    ) throws(SQLiteError) -> (ActionSummary, [ActionChange])? {
        guard let action = try HistoryAction(number: Int64(clamping: number), on: connection)
        else { return nil }
        let undone = try undoneKeys(of: action.id)
        var changes: [ActionChange] = []
        for row in try rows(of: action.id) {
            guard let (domain, key) = try names(of: row) else { continue }
            let live = try store.value(of: row.key, in: domain)
            changes.append(
                ActionChange(
                    domain: domain, key: key, first: .init(known: row.first),
                    last: .init(known: row.last), was: KnownValue(known: row.was),
                    became: try value(after: row, live),
                    standing: try standing(
                        of: row, action, live, isUndone: undone.contains(row.place))))
        }
        return (try summary(of: action), changes)
    }

    private func summary(of action: HistoryAction) throws(SQLiteError) -> ActionSummary {
        let undone = try undoneKeys(of: action.id)
        let keys = try keys(of: action)
        return ActionSummary(
            number: UInt64(clamping: action.number), first: .init(known: action.id),
            last: .init(known: action.last), began: action.began, ended: action.ended,
            author: try author(action.author), kind: action.kind,
            references: try numbers(takenBackBy: action.id), keys: Int(clamping: action.keys),
            known: keys.known,
            // An action that has left everything as it was has nothing to be taken back.
            isUndone: keys.known > 0 && undone.count >= keys.changed, isLost: action.isLost,
            isState: keys.known > 0 && keys.isState,
            note: action.isLost ? HistoryReading.lostNote : action.note)
    }

    /// How many keys of an action the history has, how many of them have another value after it, and whether
    /// all of them keep where something was left.
    private func keys(
        of action: HistoryAction
    ) throws(SQLiteError) -> (known: Int, changed: Int, isState: Bool) {
        let select = try connection.prepare(
            """
            SELECT domains.name, rows.key, rows.void FROM rows JOIN domains ON domains.id = rows.domain
                WHERE rows.action = ?1
            """)
        try select.bind(action.id, at: 1)
        var keys = (known: 0, changed: 0, isState: true)
        while try select.step() {
            keys.known += 1
            guard select.integer(at: 2) == 0 else { continue }
            keys.changed += 1
            if keys.isState {
                keys.isState = HistoryTerms.isState(
                    select.text(at: 1) ?? "", in: select.text(at: 0) ?? "")
            }
        }
        return keys
    }

    private static let lostNote =
        "A power cut, or an older copy of the database, has taken it away."

    func author(_ number: Int64) throws(SQLiteError) -> ChangeAuthor {
        let select = try connection.prepare(
            "SELECT program, application, machine, owner FROM authors WHERE id = ?1")
        try select.bind(number, at: 1)
        guard try select.step() else { return ChangeAuthor(program: "") }
        return ChangeAuthor(
            program: select.text(at: 0) ?? "", application: select.text(at: 1) ?? "",
            machine: select.text(at: 2) ?? "", owner: select.text(at: 3) ?? "")
    }

    private func numbers(takenBackBy action: Int64) throws(SQLiteError) -> [UInt64] {
        let select = try connection.prepare(
            "SELECT number FROM refs JOIN actions ON id = ref WHERE action = ?1 ORDER BY number")
        try select.bind(action, at: 1)
        var numbers: [UInt64] = []
        while try select.step() { numbers.append(UInt64(clamping: select.integer(at: 0))) }
        return numbers
    }

    // MARK: Rows

    /// The intact rows of an action.
    func rows(of action: Int64) throws(SQLiteError) -> [HistoryRow] {
        let select = try connection.prepare(
            "SELECT \(HistoryRow.columns) FROM rows WHERE action = ?1 ORDER BY domain, key")
        try select.bind(action, at: 1)
        var rows: [HistoryRow] = []
        while try select.step() {
            if let row = HistoryRow(select) { rows.append(row) }
        }
        return rows
    }

    /// The most undo and redo actions that are followed from one action.
    private static let mostMovements = 1024
    /// The most answers that are passed over.
    private static let mostAnswers = 32

    /// What is known of the keys that are taken back, so that it is found out once for each action.
    private final class TakenBack {
        var keys: [Int64: Set<HistoryRow.Place>] = [:]
    }

    /// The keys of an action that are taken back: by an undo or, of an undo, by a redo, which is not taken back
    /// itself.
    ///
    /// - Parameter movements: Undo and redo actions that do not count.
    func undoneKeys(
        of action: Int64, without movements: Set<Int64> = []
    ) throws(SQLiteError) -> Set<HistoryRow.Place> {
        var movers: [Int64: [Int64]] = [:]
        var open = [action]
        while let next = open.popLast(), movers.count < HistoryReading.mostMovements {
            guard movers[next] == nil, takenBack.keys[next] == nil || !movements.isEmpty else {
                continue
            }
            let found = try self.movers(of: next).filter { !movements.contains($0) }
            movers[next] = found
            open += found
        }
        // A movement comes after what it moves. So what is known of it is found out first.
        var known = movements.isEmpty ? takenBack.keys : [:]
        for id in movers.keys.sorted(by: >) {
            var places: Set<HistoryRow.Place> = []
            for mover in movers[id] ?? [] {
                places.formUnion(try keys(of: id, movedBy: mover).subtracting(known[mover] ?? []))
            }
            known[id] = places
        }
        if movements.isEmpty { takenBack.keys = known }
        return known[action] ?? []
    }

    /// The undo and redo actions that are about an action.
    private func movers(of action: Int64) throws(SQLiteError) -> [Int64] {
        let select = try connection.prepare(
            """
            SELECT refs.action FROM refs JOIN actions ON actions.id = refs.action AND actions.lost = 0
                WHERE refs.ref = ?1 AND refs.action > ?1
            """)
        try select.bind(action, at: 1)
        var movers: [Int64] = []
        while try select.step() { movers.append(select.integer(at: 0)) }
        return movers
    }

    private func keys(
        of action: Int64, movedBy mover: Int64
    ) throws(SQLiteError) -> Set<HistoryRow.Place> {
        let select = try connection.prepare(
            """
            SELECT rows.domain, rows.key FROM rows
                JOIN rows AS own ON own.action = ?1 AND own.domain = rows.domain
                    AND own.key = rows.key AND own.void = 0
                WHERE rows.action = ?2
            """)
        try select.bind(action, at: 1)
        try select.bind(mover, at: 2)
        var places: Set<HistoryRow.Place> = []
        while try select.step() {
            places.insert(
                HistoryRow.Place(domain: select.integer(at: 0), key: select.text(at: 1) ?? ""))
        }
        return places
    }

    /// The domain and the key of a row; nil if they are not valid names.
    func names(of row: HistoryRow) throws(SQLiteError) -> (Domain, Key)? {
        guard let domain = try domain(row.domain), let key = try? Key(stored: row.key) else {
            return nil
        }
        return (domain, key)
    }

    private func domain(_ number: Int64) throws(SQLiteError) -> Domain? {
        let select = try connection.prepare("SELECT name, host FROM domains WHERE id = ?1")
        try select.bind(number, at: 1)
        guard try select.step() else { return nil }
        return Domain(name: select.text(at: 0) ?? "", hostColumn: select.text(at: 1) ?? "")
    }

    /// What a key had after a row: what the next one says, or what the store has.
    private func value(
        after row: HistoryRow, _ live: LiveValues.Live
    ) throws(SQLiteError) -> KnownValue {
        let select = try connection.prepare(
            """
            SELECT \(HistoryRow.columns) FROM rows WHERE domain = ?1 AND key = ?2 AND first > ?3
                ORDER BY first LIMIT 1
            """)
        try select.bind(row.domain, at: 1)
        try select.bind(row.key, at: 2)
        try select.bind(row.first, at: 3)
        if try select.step() {
            guard let next = HistoryRow(select), next.base <= row.last else { return .unknown }
            return KnownValue(known: next.was)
        }
        select.reset()
        return try generation(of: live, row.key, in: row.domain) == row.last
            ? KnownValue(known: live.archive) : .unknown
    }

    /// The last change of a key, as far as it is known.
    func generation(
        of live: LiveValues.Live, _ key: String, in domain: Int64
    ) throws(SQLiteError) -> Int64 {
        if let generation = live.generation { return generation }
        guard let newest = try file.newestRow(of: key, in: domain), newest.last <= live.horizon,
            try file.knownFrom(of: domain) <= newest.last
        else { return live.horizon }
        return newest.last
    }

    private func standing(
        of row: HistoryRow, _ action: HistoryAction, _ live: LiveValues.Live, isUndone: Bool
    ) throws(SQLiteError) -> HistoryTerms.Standing {
        if row.isVoid { return .void }
        if isUndone { return .undone }
        if !action.isLost, try has(live, whatWasLeftBy: row) { return .holds }
        return live.archive == row.was ? .same : .changed
    }

    /// Whether a key has what an action has left there, or has got it back since.
    func has(
        _ live: LiveValues.Live, whatWasLeftBy row: HistoryRow
    ) throws(SQLiteError) -> Bool {
        try leads(generation(of: live, row.key, in: row.domain), toWhatWasLeftBy: row)
    }

    /// Whether the value since a change is what an action has left.
    ///
    /// What a program has only answered to an undo does not count: it is not what a person has chosen.
    func leads(
        _ generation: Int64, toWhatWasLeftBy row: HistoryRow
    ) throws(SQLiteError) -> Bool {
        var generation = generation
        for _ in 0..<HistoryReading.mostAnswers {
            if try file.effective(generation, of: row.key, in: row.domain) == row.left {
                return true
            }
            guard let answer = try file.row(endingAt: generation, of: row.key, in: row.domain),
                try file.action(answer.action)?.kind == .answer
            else { return false }
            generation = answer.base
        }
        return false
    }

    // MARK: At a time

    /// The last change whose time is not later.
    func generation(at time: Int64) throws(SQLiteError) -> Int64? {
        // Within an action, it is not known how far that was.
        let select = try connection.prepare(
            """
            SELECT max(CASE WHEN ended <= ?1 THEN last ELSE id END) FROM actions WHERE began <= ?1
            """)
        try select.bind(time, at: 1)
        guard try select.step(), !select.isNull(at: 0) else { return nil }
        return select.integer(at: 0)
    }

    /// The time from which on the history is complete, in seconds since 1970.
    func knownSince() throws(SQLiteError) -> Int64 { try HistoryMeta(of: connection).knownSince }

    /// What keys of a domain had after a generation.
    ///
    /// - Parameters:
    ///   - keys: The keys; empty for all that are known.
    ///   - isOnRecord: Whether the database knows all changes since then.
    /// - Returns: The values, and whether all keys of the domain are among them.
    func values(
        of keys: [Key], in domain: Domain, at generation: Int64, isOnRecord: Bool
    ) throws(SQLiteError) -> (values: [(key: Key, value: KnownValue)], isComplete: Bool) {
        let number = try file.number(of: domain)
        let knownFrom = try file.knownFrom(of: number)
        let isCovered = isOnRecord && generation >= knownFrom && domain.hasHistory
        var values: [(key: Key, value: KnownValue)] = []
        for key in keys.isEmpty ? try allKeys(of: domain, number, since: generation) : keys {
            let value = try value(
                of: key, in: domain, number, at: generation, isCovered, isOnRecord: isOnRecord)
            if keys.isEmpty, value == .absent { continue }
            values.append((key, value))
        }
        return (values, isCovered)
    }

    private func allKeys(
        of domain: Domain, _ number: Int64?, since generation: Int64
    ) throws(SQLiteError) -> [Key] {
        var names = Set(try store.keys(of: domain).map(\.key))
        let select = try connection.prepare(
            "SELECT DISTINCT key FROM rows WHERE domain = ?1 AND first > ?2")
        try select.bind(number, at: 1)
        try select.bind(generation, at: 2)
        while try select.step() { names.insert(select.text(at: 0) ?? "") }
        return names.compactMap { try? Key(stored: $0) }.sorted()
    }

    private func value(
        of key: Key, in domain: Domain, _ number: Int64?, at generation: Int64, _ isCovered: Bool,
        isOnRecord: Bool
    ) throws(SQLiteError) -> KnownValue {
        let live = try store.value(of: key.name, in: domain)
        if isOnRecord, let last = live.generation, last <= generation {
            return KnownValue(known: live.archive)
        }
        if let number {
            let select = try connection.prepare(
                """
                SELECT \(HistoryRow.columns) FROM rows
                    WHERE domain = ?1 AND key = ?2 AND base <= ?3 AND first > ?3 LIMIT 1
                """)
            try select.bind(number, at: 1)
            try select.bind(key.name, at: 2)
            try select.bind(generation, at: 3)
            if try select.step(), let row = HistoryRow(select) { return KnownValue(known: row.was) }
        }
        guard live.generation == nil, live.archive == nil else { return .unknown }
        // No value, no removal on record, and no row: it is known only if none can be missing.
        let newest = try number.map { (number) throws(SQLiteError) in
            try file.newestRow(of: key.name, in: number)
        }
        let last = newest??.last ?? 0
        return isCovered && generation >= max(last, last == 0 ? live.horizon : 0)
            ? .absent : .unknown
    }
}

extension HistoryRow {
    /// Which key it is about.
    struct Place: Hashable {
        let domain: Int64
        let key: String
    }

    var place: Place { Place(domain: domain, key: key) }
}

extension Generation {
    /// A generation that the history has; the first one if the number cannot be one.
    init(known column: Int64) {
        self = Generation(column: column) ?? .first
    }
}
