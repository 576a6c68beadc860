package import DefaultsModel
internal import SQLite

/// Everything that one flush writes: a snapshot of the pending changes, for the writer's thread.
package struct FlushBatch: Sendable {
    /// The last change that is in the store when the batch is written, with all before it.
    package let generation: Generation
    /// The changes themselves, coalesced.
    let changes: PendingChanges
    /// After which generations all changes are known.
    let record: ChangeRecord
    /// The last segment of the journal that is no longer needed when the batch is written.
    let lastSegment: UInt64?
    /// This machine, if its name in the store must be changed.
    let host: Host?
    /// What of it is kept in the history; nil if this process keeps none.
    let history: HistoryRules?

    /// The number up to which generations may be given when the batch is written.
    var ceiling: Generation { generation.ceiling }

    /// Whether something is removed by it.
    var removes: Bool {
        changes.domains.values.contains { domain in
            domain.cleared != nil || domain.entries.values.contains { $0.archive == nil }
        }
    }

    /// Whether a whole domain is removed by it.
    var clearsDomain: Bool { changes.domains.values.contains { $0.cleared != nil } }

    /// The size of the values that it adds, in bytes.
    var addedBytes: Int {
        changes.domains.values.reduce(0) { sum, domain in
            domain.entries.values.reduce(sum) { $0 + ($1.archive?.count ?? 0) }
        }
    }

    /// How many tokens it writes.
    var tokenCount: Int { changes.domains.values.reduce(0) { $0 + $1.tokens.count } }

    /// How many of its domains may have no key after it.
    var emptyDomains: Int { changes.domains.values.count { $0.totals.keys <= 0 } }

    /// The rows that it writes: one for each changed key.
    package var rowCount: Int { changes.domains.values.reduce(0) { $0 + $1.entries.count } }
}

/// One flush as one transaction of the store: rows, totals, tokens, the name of the machine, the time,
/// generation and ceiling.
///
/// All of it is written, or nothing.
struct FlushTransaction {
    /// How many removals of a domain are remembered.
    ///
    /// When there are more than twice as many, the older ones are forgotten.
    ///
    /// The removals of one change are forgotten together. So fewer can be left, and none if the
    /// last change alone has more.
    static let removalsKept = 1024

    private let connection: Connection

    init(on connection: Connection) {
        self.connection = connection
    }

    /// Writes a batch.
    ///
    /// It is on disk when this returns.
    ///
    /// - Parameter time: The present time, in seconds since 1970; nil if it is not part of the batch.
    func write(_ batch: FlushBatch, at time: UInt64?) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            let upsertDomain = try connection.prepare(FlushTransaction.upsertDomain)
            let upsertEntry = try connection.prepare(FlushTransaction.upsertEntry)
            for (domain, pending) in batch.changes.domains {
                let dropped =
                    pending.cleared == nil ? nil : try DroppedDomains(on: connection).drop(domain)
                let row = try write(domain, pending, with: upsertDomain)
                if let cleared = pending.cleared { try clear(row, at: cleared, after: dropped) }
                var hasRemovals = false
                for (key, entry) in pending.entries {
                    let checksum = RowChecksum.of(domain, key, entry.generation, entry.archive)
                    try upsertEntry.bind(row, at: 1)
                    try upsertEntry.bind(Int64(bitPattern: checksum), at: 4)
                    try write(key, entry, with: upsertEntry)
                    if entry.archive == nil { hasRemovals = true }
                }
                if hasRemovals { try forgetOldRemovals(of: row) }
                if !pending.tokens.isEmpty { try write(pending.tokens, of: row) }
            }
            if let host = batch.host { try HostTable(connection: connection).write(host) }
            if let time {
                try TimeTable(connection: connection).note(batch.generation, at: time)
            }
            try writeState(batch)
            try FreePages(of: connection).prepareCommit()
        }
    }

    /// A domain that had a row may have been forgotten since, and nothing is known about the time
    /// before.
    private static let upsertDomain = """
        INSERT INTO domains (name, host, key_count, key_bytes, value_bytes, last_change, horizon)
            SELECT ?1, ?2, ?3, ?4, ?5, max(?6, forgotten), forgotten FROM state WHERE true
        ON CONFLICT (name, host) DO UPDATE
            SET key_count = excluded.key_count, key_bytes = excluded.key_bytes,
                value_bytes = excluded.value_bytes, last_change = max(last_change, ?6)
        RETURNING id
        """

    /// Writes an entry in place of the one that its key has.
    static let upsertEntry = """
        INSERT INTO entries (domain, key, generation, checksum, archive)
            VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT (domain, key) DO UPDATE
            SET generation = excluded.generation, checksum = excluded.checksum,
                archive = excluded.archive
        """

    /// - Returns: The number of the domain's row.
    private func write(
        _ domain: Domain, _ pending: PendingDomain, with upsert: borrowing Statement
    ) throws(SQLiteError) -> Int64 {
        defer { upsert.reset() }
        try upsert.bind(domain.name, at: 1)
        try upsert.bind(domain.layer.hostColumn, at: 2)
        try upsert.bind(Int64(pending.totals.keys), at: 3)
        try upsert.bind(Int64(pending.totals.nameBytes), at: 4)
        try upsert.bind(Int64(pending.totals.valueBytes), at: 5)
        try upsert.bind(pending.lastChange?.column ?? 0, at: 6)
        var row: Int64 = 0
        while try upsert.step() { row = upsert.integer(at: 0) }
        return row
    }

    /// Writes an entry whose domain and checksum are bound already.
    private func write(
        _ key: Key, _ entry: PendingEntry, with upsert: borrowing Statement
    ) throws(SQLiteError) {
        try upsert.bind(key.name, at: 2)
        try upsert.bind(entry.generation.column, at: 3)
        if let archive = entry.archive {
            try upsert.run(withBlob: archive, at: 5)
        } else {
            try upsert.run()
        }
    }

    private func writeState(_ batch: FlushBatch) throws(SQLiteError) {
        let update = try connection.prepare(
            "UPDATE state SET generation = ?1, ceiling = ?2, record_start = ?3, eras = ?4")
        try update.bind(batch.generation.column, at: 1)
        try update.bind(batch.ceiling.column, at: 2)
        try update.bind(batch.record.start.column, at: 3)
        try update.bind(batch.record.text, at: 4)
        try update.run()
    }
}

// MARK: What is forgotten

extension FlushTransaction {
    /// Removes every row of a domain, for a change that removes a whole domain.
    ///
    /// - Parameter dropped: The row that the domain had before, if it was dropped with its entries.
    private func clear(
        _ domain: Int64, at generation: Generation, after dropped: Int64?
    ) throws(SQLiteError) {
        if let dropped {
            // Tokens stay longer than the values that their transactions wrote.
            try run("UPDATE tokens SET domain = ?1 WHERE domain = ?2", domain, dropped)
        } else {
            try run("DELETE FROM entries WHERE domain = ?1", domain)
        }
        try raiseHorizon(of: domain, to: generation.column)
    }

    /// Forgets the older removals of a domain if there are too many.
    ///
    /// All of one generation are forgotten together, so all after the horizon are known.
    private func forgetOldRemovals(of domain: Int64) throws(SQLiteError) {
        let removals = "FROM entries WHERE domain = ?1 AND archive IS NULL"
        let kept = Int64(FlushTransaction.removalsKept)
        guard try number("SELECT count(*) \(removals)", domain) ?? 0 > 2 * kept,
            let horizon = try number(
                "SELECT generation \(removals) ORDER BY generation DESC LIMIT 1 OFFSET ?2",
                domain, kept)
        else { return }
        try run("DELETE \(removals) AND generation <= ?2", domain, horizon)
        try raiseHorizon(of: domain, to: horizon)
    }

    private func raiseHorizon(of domain: Int64, to generation: Int64) throws(SQLiteError) {
        try run("UPDATE domains SET horizon = max(horizon, ?2) WHERE id = ?1", domain, generation)
    }

    /// Writes the tokens of a domain's transactions, and forgets the oldest beyond the bound.
    ///
    /// The numbers of the rows show which are the oldest. They increase in the order in which
    /// tokens were remembered, and a token that is written again gets a new number.
    private func write(
        _ tokens: PendingTokens, of domain: Int64
    ) throws(SQLiteError) {
        let insert = try connection.prepare(
            "INSERT OR REPLACE INTO tokens (domain, token, generation) VALUES (?1, ?2, ?3)")
        for (token, generation) in tokens.inOrder {
            try insert.bind(domain, at: 1)
            try insert.bind(token.name, at: 2)
            try insert.bind(generation.column, at: 3)
            try insert.run()
        }
        try run(
            """
            DELETE FROM tokens WHERE domain = ?1 AND id <=
                (SELECT id FROM tokens WHERE domain = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
            """, domain, Int64(Token.rememberedPerDomain))
    }

    /// The number in the first row that a query with numbers as parameters gives.
    private func number(_ sql: String, _ parameters: Int64...) throws(SQLiteError) -> Int64? {
        let select = try connection.prepare(sql)
        try bind(parameters, to: select)
        return try select.step() ? select.integer(at: 0) : nil
    }

    private func run(_ sql: String, _ parameters: Int64...) throws(SQLiteError) {
        let statement = try connection.prepare(sql)
        try bind(parameters, to: statement)
        try statement.run()
    }

    private func bind(
        _ parameters: [Int64], to statement: borrowing Statement
    ) throws(SQLiteError) {
        for (parameter, number) in zip(Int32(1)..., parameters) {
            try statement.bind(number, at: parameter)
        }
    }
}

extension Connection {
    /// How long one read may keep the log in use, in milliseconds: longer than the longest answer
    /// takes.
    private static let longestRead = 60_000

    /// Makes the next transaction start at the beginning of the write-ahead log, and removes its
    /// contents.
    ///
    /// If the end of a transaction cannot be synchronized, SQLite rolls it back but leaves it in
    /// the log. A shorter one that is written over it does not mark its end. The rest has the same
    /// salt, so it would look like later transactions that are damaged.
    ///
    /// See [PRAGMA wal_checkpoint](https://www.sqlite.org/pragma.html#pragma_wal_checkpoint). It
    /// waits for the current reads of this process: they are not a failure of the disk, and end
    /// soon.
    func beginLogAnew() throws(SQLiteError) {
        // It does not wait for another writer, which should not exist.
        try execute("BEGIN IMMEDIATE; ROLLBACK")
        try pragma("busy_timeout", "\(Connection.longestRead)")
        defer { _ = try? pragma("busy_timeout", "0") }
        // The answer says that something still reads the log.
        guard try pragma("wal_checkpoint", "TRUNCATE") == "0" else {
            throw SQLiteError(
                extendedCode: .busy, message: "the write-ahead log is being read",
                sql: "PRAGMA wal_checkpoint")
        }
    }
}
