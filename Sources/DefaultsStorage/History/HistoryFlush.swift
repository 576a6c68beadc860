internal import DefaultsModel
internal import DefaultsTerms
internal import SQLite

/// Adds what a flush writes to the history, before the database has it.
///
/// It may be done again, after a failure or a kill, alone or with later changes: what was looked at once is
/// not looked at again.
struct HistoryFlush {
    static let secondsPerDay: Int64 = 86_400
    /// The most rows of one action in one domain.
    static let mostRowsOfAction = 4096
    /// The most bytes of earlier values of one action in one domain: 1 MiB.
    static let mostBytesOfAction = 1 << 20
    /// The most authors; the others have no name.
    static let mostAuthors: Int64 = 1024
    /// The most authors of one application in a sandbox; the others have the name of the application alone.
    static let mostNamesOfApplication: Int64 = 8
    /// The application of authors in a sandbox without a name.
    private static let others = "others"

    private let file: HistoryFile
    private let store: LiveValues
    private let batch: FlushBatch
    private let rules: HistoryRules
    /// The present time, in seconds since 1970.
    private let time: Int64
    private var connection: Connection { file.connection }

    init(
        _ batch: FlushBatch, by rules: HistoryRules, into file: HistoryFile,
        from store: Connection, at time: Int64
    ) throws(SQLiteError) {
        self.time = time
        self.file = file
        self.batch = batch
        self.rules = rules
        self.store = try LiveValues(store)
    }

    /// By how much the history has grown.
    struct Growth {
        var rows = 0
        var bytes: Int64 = 0
        /// Whether it has a day more.
        var isNewDay = false
    }

    /// Writes it.
    ///
    /// - Returns: What was added.
    func write() throws(SQLiteError) -> Growth {
        var growth = Growth()
        try connection.transaction { () throws(SQLiteError) in
            growth = Growth()
            var meta = try HistoryMeta(of: connection)
            let before = meta
            let stored = try store.generation()
            // A flush has gone on without the history, or a power cut has taken the history's end.
            if meta.noted < stored { meta.noteGap(upTo: stored, at: time) }
            if rules.isOff {
                // What there is, is removed in a quiet moment.
                meta.noteGap(upTo: max(meta.noted, batch.generation.column), at: time)
            } else {
                try writeActions(in: &meta, &growth)
                meta.noted = max(meta.noted, batch.generation.column)
            }
            growth.isNewDay = meta.days != before.days
            if meta != before { try meta.write(on: connection) }
        }
        return growth
    }

    private func writeActions(
        in meta: inout HistoryMeta, _ growth: inout Growth
    ) throws(SQLiteError) {
        let actions = batch.changes.history.actions
        for (domain, generation) in batch.changes.history.missed
        where domain.hasHistory && generation.column > meta.noted {
            try raiseKnownFrom(of: numberToWrite(of: domain), to: generation.column)
        }
        guard !actions.isEmpty else { return }
        let after = ValuesAfter(actions, batch.changes.domains)
        for (index, action) in actions.enumerated() where action.last.column > meta.noted {
            try write(action, after: { after[index, $0, $1] }, in: &meta, &growth)
        }
    }

    // MARK: One action

    /// A row that is to be written.
    private struct Candidate {
        var row: HistoryRow
        /// The newest row of the key that the file has.
        let newest: HistoryRow?
        /// Whether the file has the first changes already, in its newest row.
        let isNoted: Bool
        /// The last change of the key in the pending action.
        let endOfPending: Int64
        /// What the key has after the action; nil if that is not known.
        let after: PendingEntry?

        /// Whether the newest row goes on, so that no other is written.
        func goesOn(with action: PendingAction) -> Bool {
            isNoted
                || newest.map { $0.action == action.id.column && $0.last == row.base } ?? false
        }
    }

    /// What an action changed, as far as it is known.
    private struct Found {
        var candidates: [Candidate] = []
        var missing = 0
        var domains: [Int64: Bool] = [:]
        var note = ""
    }

    private func write(
        _ action: PendingAction, after: (Domain, Key) -> PendingEntry?,
        in meta: inout HistoryMeta, _ growth: inout Growth
    ) throws(SQLiteError) {
        var found = Found()
        for (domain, part) in action.parts {
            let isWhole =
                rules.covers(domain) && part.rows.keys.allSatisfy { rules.covers($0, in: domain) }
            // What is excluded is missing.
            if !isWhole {
                try raiseKnownFrom(of: numberToWrite(of: domain), to: action.last.column)
            }
            guard rules.covers(domain) else { continue }
            try find(part, of: domain, in: action, after: after, noted: meta.noted, &found)
        }
        guard !found.candidates.isEmpty || found.missing > 0 else { return }
        growth.rows += found.candidates.count + 1
        growth.bytes += found.candidates.reduce(0) { $0 + $1.row.size }
        if try file.action(action.id.column) != nil {
            try extend(to: action, found)
        } else {
            try insert(action, by: number(of: action.note.author), found, in: &meta)
        }
        for candidate in found.candidates { try write(candidate, of: action) }
        for (domain, isComplete) in found.domains where !isComplete {
            try raiseKnownFrom(of: domain, to: action.last.column)
        }
    }

    /// Finds out what the keys of an action had in one domain.
    private func find(
        _ part: PendingAction.Part, of domain: Domain, in action: PendingAction,
        after: (Domain, Key) -> PendingEntry?, noted: Int64, _ found: inout Found
    ) throws(SQLiteError) {
        var missing = part.missing
        var rows = part.rows.filter { rules.covers($0.key, in: domain) }.map { ($0.key, $0.value) }
        if part.clearsStored { try addCleared(part, of: domain, in: action, &rows, &missing) }
        guard !rows.isEmpty || missing > 0 else { return }
        let number = try numberToWrite(of: domain)
        let missingBefore = missing
        var candidates: [Candidate] = []
        var bytes = 0
        if rows.count > HistoryFlush.mostRowsOfAction { bytes = .max }
        // A row whose last change was looked at is complete, and other actions may have come after it.
        for (key, row) in rows
        where bytes <= HistoryFlush.mostBytesOfAction && row.last.column > noted {
            guard
                let candidate = try candidate(
                    key, row, of: domain, number, in: action, after: after(domain, key),
                    noted: noted)
            else {
                missing += 1
                continue
            }
            candidates.append(candidate)
            bytes += candidate.row.was?.count ?? 0
        }
        if bytes > HistoryFlush.mostBytesOfAction {
            missing = missingBefore + rows.count
            candidates = []
            found.note = "What these keys had is too large for the history. A backup may have it."
        }
        found.candidates += candidates
        found.missing += missing
        found.domains[number] = missing == 0
    }

    /// Adds the keys that the removal of a whole domain has removed from the store.
    private func addCleared(
        _ part: PendingAction.Part, of domain: Domain, in action: PendingAction,
        _ rows: inout [(Key, PendingAction.Row)], _ missing: inout Int
    ) throws(SQLiteError) {
        let totals = try store.totals(of: domain)
        guard totals.keys <= HistoryFlush.mostRowsOfAction,
            totals.bytes <= HistoryFlush.mostBytesOfAction
        else {
            missing += totals.keys
            return
        }
        for (name, _) in try store.keys(of: domain) {
            guard let key = try? Key(stored: name), !part.except.contains(key),
                rules.covers(key, in: domain)
            else { continue }
            rows.append((key, .stored(changedAt: part.cleared ?? action.first)))
        }
    }

    private func candidate(
        _ key: Key, _ row: PendingAction.Row, of domain: Domain, _ number: Int64,
        in action: PendingAction, after: PendingEntry?, noted: Int64
    ) throws(SQLiteError) -> Candidate? {
        let newest = try file.newestRow(of: key.name, in: number)
        let isNoted = row.first.column <= noted
        if isNoted {
            guard let newest, newest.action == action.id.column,
                newest.last >= row.first.column, newest.last <= noted
            else { return nil }
            return Candidate(
                row: newest, newest: newest, isNoted: true, endOfPending: row.last.column,
                after: row.isOpen ? nil : after)
        }
        let base: Int64
        let was: [UInt8]?
        switch row.was {
        case .pending(let entry): (base, was) = (entry.generation.column, entry.archive)
        case .stored:
            let live = try store.value(of: key.name, in: domain)
            was = live.archive
            base =
                if let generation = live.generation { generation } else {
                    try absentSince(live.horizon, newest, in: number)
                }
        }
        guard was?.count ?? 0 <= rules[.largestValue] else { return nil }
        return Candidate(
            row: HistoryRow(
                domain: number, key: key.name, base: base, first: row.first.column,
                last: row.last.column, origin: nil, action: 0, isVoid: false, was: was),
            newest: newest, isNoted: false, endOfPending: row.last.column,
            after: row.isOpen ? nil : after)
    }

    /// From which generation on a key has had no value, if its removal is not on record.
    private func absentSince(
        _ horizon: Int64, _ newest: HistoryRow?, in domain: Int64
    ) throws(SQLiteError) -> Int64 {
        guard let newest, newest.last <= horizon, try file.knownFrom(of: domain) <= newest.last
        else { return horizon }
        return newest.last
    }

    /// Notes that an action has gone on, or that it is looked at again.
    private func extend(to action: PendingAction, _ found: Found) throws(SQLiteError) {
        let added = found.candidates.count { !$0.goesOn(with: action) } + found.missing
        try file.statements.extendAction.bind(action.id.column, at: 1)
        try file.statements.extendAction.bind(action.last.column, at: 2)
        try file.statements.extendAction.bind(action.endTime, at: 3)
        try file.statements.extendAction.bind(Int64(added), at: 4)
        try file.statements.extendAction.run()
    }

    // MARK: Writing

    private func insert(
        _ action: PendingAction, by author: Int64, _ found: Found, in meta: inout HistoryMeta
    ) throws(SQLiteError) {
        meta.noteDay(of: action.endTime == 0 ? time : action.endTime)
        let note = action.note
        let numbers: [Int64] = [
            action.id.column, meta.number, action.last.column, note.time == 0 ? time : note.time,
            action.endTime == 0 ? time : action.endTime, author, Int64(note.kind.number), meta.days,
            Int64(found.candidates.count + found.missing),
        ]
        for (parameter, number) in zip(Int32(1)..., numbers) {
            try file.statements.insertAction.bind(number, at: parameter)
        }
        try file.statements.insertAction.bind(found.note, at: 10)
        try file.statements.insertAction.run()
        meta.number += 1
        for reference in note.references {
            try file.statements.insertReference.bind(action.id.column, at: 1)
            try file.statements.insertReference.bind(reference.column, at: 2)
            try file.statements.insertReference.run()
        }
    }

    private func write(
        _ candidate: Candidate, of action: PendingAction
    ) throws(SQLiteError) {
        guard candidate.goesOn(with: action), var row = candidate.newest else {
            var row = candidate.row
            row.action = action.id.column
            row.isVoid = candidate.after.map { $0.archive == row.was } ?? false
            row.origin = try origin(of: row, action.note.kind, after: candidate.after)
            if row.origin != nil, action.note.kind.isTakingBack { row.isVoid = false }
            return try insert(row)
        }
        row.last = max(row.last, candidate.endOfPending)
        row.isVoid = candidate.after.map { $0.archive == row.was } ?? false
        row.origin = row.isVoid ? try file.effective(row.base, of: row.key, in: row.domain) : nil
        try file.statements.extendRow.bind(row.id, at: 1)
        try file.statements.extendRow.bind(row.last, at: 2)
        try file.statements.extendRow.bind(row.origin, at: 3)
        try file.statements.extendRow.bind(row.isVoid ? 1 : 0, at: 4)
        try file.statements.extendRow.bind(row.checksum, at: 5)
        try file.statements.extendRow.run()
    }

    private func insert(_ row: HistoryRow) throws(SQLiteError) {
        try file.statements.insertRow.bind(row.domain, at: 1)
        try file.statements.insertRow.bind(row.key, at: 2)
        for (parameter, number) in zip(Int32(3)..., [row.base, row.first, row.last]) {
            try file.statements.insertRow.bind(number, at: parameter)
        }
        try file.statements.insertRow.bind(row.origin, at: 6)
        for (parameter, number) in zip(
            Int32(7)..., [row.action, row.isVoid ? 1 : 0, row.size, row.checksum])
        {
            try file.statements.insertRow.bind(number, at: parameter)
        }
        if let was = row.was {
            try file.statements.insertRow.run(withBlob: was, at: 11)
        } else {
            try file.statements.insertRow.bind(nil as [UInt8]?, at: 11)
            try file.statements.insertRow.run()
        }
        try file.statements.addBytes.bind(row.domain, at: 1)
        try file.statements.addBytes.bind(row.size, at: 2)
        try file.statements.addBytes.run()
    }

    /// The generation whose value a row brings back; nil if the value is new.
    ///
    /// - Parameter after: What the key has after the action.
    private func origin(
        of row: HistoryRow, _ kind: HistoryTerms.Kind, after: PendingEntry?
    ) throws(SQLiteError) -> Int64? {
        guard kind.isTakingBack else {
            return row.isVoid ? try file.effective(row.base, of: row.key, in: row.domain) : nil
        }
        // The plan has left out what was taken back before: what it has brought back shows which row it was.
        let select = try connection.prepare(
            """
            SELECT \(HistoryRow.columns) FROM rows JOIN refs ON refs.ref = rows.action
                WHERE refs.action = ?1 AND rows.domain = ?2 AND rows.key = ?3 AND rows.void = 0
                ORDER BY rows.first
            """)
        try select.bind(row.action, at: 1)
        try select.bind(row.domain, at: 2)
        try select.bind(row.key, at: 3)
        var base: Int64?
        while base == nil, try select.step() {
            if let back = HistoryRow(select), let after, back.was == after.archive {
                base = back.base
            }
        }
        select.reset()
        guard let base else { return nil }
        return try file.effective(base, of: row.key, in: row.domain)
    }

    // MARK: Domains and authors

    private func numberToWrite(of domain: Domain) throws(SQLiteError) -> Int64 {
        if let number = try file.number(of: domain) { return number }
        defer { file.statements.insertDomain.reset() }
        try file.statements.insertDomain.bind(domain.name, at: 1)
        try file.statements.insertDomain.bind(domain.layer.hostColumn, at: 2)
        var number: Int64 = 0
        while try file.statements.insertDomain.step() {
            number = file.statements.insertDomain.integer(at: 0)
        }
        return number
    }

    private func raiseKnownFrom(of domain: Int64, to generation: Int64) throws(SQLiteError) {
        let update = try connection.prepare(
            "UPDATE domains SET known_from = max(known_from, ?2) WHERE id = ?1")
        try update.bind(domain, at: 1)
        try update.bind(generation, at: 2)
        try update.run()
    }

    private func number(of author: ChangeAuthor) throws(SQLiteError) -> Int64 {
        if let number = try find(author) { return number }
        var author = author
        // A program whose name changes at each write must neither fill the file nor take the names of others.
        if author.isConfined,
            try count(of: author.application) >= HistoryFlush.mostNamesOfApplication
        {
            author = ChangeAuthor(program: "", application: author.application)
            if let number = try find(author) { return number }
        }
        if try count() >= HistoryFlush.mostAuthors {
            author = ChangeAuthor(
                program: "", application: author.isConfined ? HistoryFlush.others : "")
            if let number = try find(author) { return number }
        }
        let insert = try connection.prepare(
            """
            INSERT INTO authors (program, application, machine, owner) VALUES (?1, ?2, ?3, ?4)
                RETURNING id
            """)
        try bind(author, to: insert)
        var number: Int64 = 0
        while try insert.step() { number = insert.integer(at: 0) }
        return number
    }

    /// How many authors there are.
    ///
    /// - Parameter application: Only those of this application; nil for all.
    private func count(of application: String? = nil) throws(SQLiteError) -> Int64 {
        let condition = application == nil ? "" : "WHERE application = ?1"
        let select = try connection.prepare("SELECT count(*) FROM authors \(condition)")
        if let application { try select.bind(application, at: 1) }
        return try select.step() ? select.integer(at: 0) : 0
    }

    private func find(_ author: ChangeAuthor) throws(SQLiteError) -> Int64? {
        defer { file.statements.findAuthor.reset() }
        try bind(author, to: file.statements.findAuthor)
        return try file.statements.findAuthor.step()
            ? file.statements.findAuthor.integer(at: 0) : nil
    }

    private func bind(
        _ author: ChangeAuthor, to statement: borrowing Statement
    ) throws(SQLiteError) {
        for (parameter, text) in zip(
            Int32(1)..., [author.program, author.application, author.machine, author.owner])
        {
            try statement.bind(text, at: parameter)
        }
    }
}

extension HistoryFile {
    /// The generation from which on no change of a domain is missing.
    func knownFrom(of domain: Int64?) throws(SQLiteError) -> Int64 {
        defer { statements.knownFrom.reset() }
        try statements.knownFrom.bind(domain, at: 1)
        return try statements.knownFrom.step() ? statements.knownFrom.integer(at: 0) : .max
    }
}

/// What keys have after each of the actions of a flush.
private struct ValuesAfter {
    private var values: [Domain: [Key: [(action: Int, after: PendingEntry)]]] = [:]
    private let last: [Domain: PendingDomain]

    init(_ actions: [PendingAction], _ last: [Domain: PendingDomain]) {
        self.last = last
        for (index, action) in actions.enumerated() {
            for (domain, part) in action.parts {
                for (key, row) in part.rows {
                    guard case .pending(let entry) = row.was else { continue }
                    values[domain, default: [:]][key, default: []].append((index, entry))
                }
            }
        }
    }

    /// What a key has after an action: what it had before the next one.
    subscript(action: Int, domain: Domain, key: Key) -> PendingEntry? {
        if let next = values[domain]?[key]?.first(where: { $0.action > action }) {
            return next.after
        }
        guard let domain = last[domain] else { return nil }
        return domain.entries[key]
            ?? domain.cleared.map { PendingEntry(archive: nil, generation: $0) }
    }
}
