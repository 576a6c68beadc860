internal import DefaultsModel
internal import SQLite

/// A new store that is made of the rows found in other stores.
///
/// For each key, the row with the highest generation is kept, no matter in which store it was
/// found.
final class RepairedStore {
    private let connection: Connection
    private let upsertDomain: Statement
    private let upsertEntry: Statement
    private let upsertToken: Statement
    private let selectEntry: Statement
    private let countKeys: Statement
    /// The domain to which the last entry was added, and the number of its row.
    private var last: (domain: Domain, row: Int64)?

    /// Makes an empty store in an existing empty file.
    ///
    /// It is written without a journal, because nobody uses it before it is complete and on disk.
    init(at path: String) throws(SQLiteError) {
        connection = try Connection(path: path, flags: .readWrite)
        try connection.pragma("page_size", "\(PageSize.ours.whole)")
        try FreePages(of: connection).beReturnable()
        try connection.pragma("journal_mode", "OFF")
        try connection.pragma("synchronous", "OFF")
        for step in Schema.migrations { try connection.execute(step) }
        // Making the indexes after all rows are there takes a fraction of the time.
        try connection.execute(Schema.dropIndexes)
        try connection.pragma("cache_size", "-\(RepairedStore.cacheKiB)")
        try connection.pragma("application_id", "\(Schema.applicationID)")
        try connection.pragma("user_version", "\(Schema.version)")
        upsertDomain = try connection.prepare(RepairedStore.upsertDomain)
        upsertEntry = try connection.prepare(RepairedStore.upsertEntry)
        upsertToken = try connection.prepare(RepairedStore.upsertToken)
        selectEntry = try connection.prepare(StoreQuery.size)
        countKeys = try connection.prepare(RepairedStore.countKeys)
        try connection.execute("BEGIN")
    }

    /// The memory for pages, in KiB.
    ///
    /// Rows arrive in the order of the pages, so their keys are in no order.
    private static let cacheKiB = 32 << 10

    private static let upsertDomain = """
        INSERT INTO domains (name, host, key_count, key_bytes, last_change, horizon)
            VALUES (?1, ?2, 0, 0, ?3, ?4)
        ON CONFLICT (name, host) DO UPDATE
            SET last_change = max(last_change, excluded.last_change),
                horizon = max(horizon, excluded.horizon)
        RETURNING id
        """

    private static let upsertEntry =
        FlushTransaction.upsertEntry + " WHERE excluded.generation > generation"

    private static let upsertToken = """
        INSERT INTO tokens (id, domain, token, generation) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT DO NOTHING
        """

    private static let countKeys = """
        SELECT count(*) FROM entries JOIN domains ON entries.domain = domains.id
            WHERE name = ?1 AND host = ?2 AND archive IS NOT NULL
        """

    /// The first page of the index of keys, which is the same in every store of this schema.
    func rootOfKeys() throws(SQLiteError) -> Int {
        let select = try connection.prepare(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_entries_1'")
        return try select.step() ? Int(select.integer(at: 0)) : 0
    }

    /// Adds an entry, unless the store has one of that key that is at least as new.
    ///
    /// - Returns: Whether it was added.
    @discardableResult
    func add(_ entry: SalvagedEntry, to domain: Domain) throws(SQLiteError) -> Bool {
        try upsertEntry.bind(row(of: domain), at: 1)
        try upsertEntry.bind(entry.key.name, at: 2)
        try upsertEntry.bind(entry.generation.column, at: 3)
        try upsertEntry.bind(Int64(bitPattern: entry.checksum), at: 4)
        if let archive = entry.archive {
            try upsertEntry.run(withBlob: archive, at: 5)
        } else {
            try upsertEntry.run()
        }
        return connection.changedRows > 0
    }

    /// Adds a token, unless the store has it.
    func add(_ token: SalvagedToken, to domain: Domain) throws(SQLiteError) {
        try upsertToken.bind(token.id, at: 1)
        try upsertToken.bind(row(of: domain), at: 2)
        try upsertToken.bind(token.token.name, at: 3)
        try upsertToken.bind(token.generation.column, at: 4)
        try upsertToken.run()
    }

    /// Adds the name of a machine, unless the machine has one.
    func add(_ host: Host) throws(SQLiteError) {
        try HostTable(connection: connection).fillIn(host)
    }

    /// Adds the time of a generation, unless there is one.
    func add(_ time: TimeRow) throws(SQLiteError) {
        try TimeTable(connection: connection).fillIn(time)
    }

    /// Removes the tokens of a domain.
    func forgetTokens(of domain: Domain) throws(SQLiteError) {
        let delete = try connection.prepare("DELETE FROM tokens WHERE domain = ?1")
        try delete.bind(row(of: domain), at: 1)
        try delete.run()
    }

    /// Whether a key has a row: a value or a removal.
    func hasEntry(_ name: EntryName) throws(SQLiteError) -> Bool {
        try hasEntry(name, where: { _ in true })
    }

    private func hasEntry(
        _ name: EntryName, where holds: (borrowing Statement) -> Bool
    ) throws(SQLiteError) -> Bool {
        let domain = name.domain
        defer { selectEntry.reset() }
        try selectEntry.bind(domain.name, at: 1)
        try selectEntry.bind(domain.layer.hostColumn, at: 2)
        try selectEntry.bind(name.key.name, at: 3)
        return try selectEntry.step() && holds(selectEntry)
    }

    /// Whether a key has a value.
    func hasValue(_ name: EntryName) throws(SQLiteError) -> Bool {
        try hasEntry(name, where: { !$0.isNull(at: 0) })
    }

    /// How many keys there are.
    func keyCount() throws(SQLiteError) -> Int {
        let count = try connection.prepare("SELECT count(archive) FROM entries")
        return try count.step() ? Int(clamping: count.integer(at: 0)) : 0
    }

    /// How many keys a domain has.
    func keyCount(of domain: Domain) throws(SQLiteError) -> Int64 {
        defer { countKeys.reset() }
        try countKeys.bind(domain.name, at: 1)
        try countKeys.bind(domain.layer.hostColumn, at: 2)
        return try countKeys.step() ? countKeys.integer(at: 0) : 0
    }

    /// Raises the last change and the horizon that are known for a domain.
    func note(
        _ domain: Domain, lastChange: Generation?, horizon: Generation? = nil
    ) throws(SQLiteError) {
        _ = try upsert(domain, lastChange: lastChange, horizon: horizon)
    }

    /// The highest generation of an entry; nil if there is none.
    func lastGeneration() throws(SQLiteError) -> Generation? {
        let select = try connection.prepare("SELECT max(generation) FROM entries")
        return try select.step() ? Generation(column: select.integer(at: 0)) : nil
    }

    /// Writes totals, state and report, which completes the store.
    func finish(_ state: StoreState, _ report: RepairReport) throws(SQLiteError) {
        try connection.execute(
            """
            UPDATE domains SET (key_count, key_bytes, value_bytes, last_change) = (
                SELECT count(archive), coalesce(sum(length(CAST(key AS BLOB)))
                        FILTER (WHERE archive IS NOT NULL), 0),
                    coalesce(sum(length(archive)), 0),
                    max(domains.last_change, coalesce(max(generation), 0))
                FROM entries WHERE domain = domains.id)
            """)
        let insert = try connection.prepare(
            """
            INSERT INTO state (id, uuid, generation, ceiling, record_start)
                VALUES (1, ?1, ?2, ?3, ?4)
            """)
        try insert.bind(state.generation.column, at: 2)
        try insert.bind(state.ceiling.column, at: 3)
        try insert.bind(state.record.start.column, at: 4)
        try insert.run(withBlob: state.uuid.bytes, at: 1)
        // The next flush is later than changes whose time was lost.
        try add(TimeRow(generation: state.generation, time: 0))
        try RepairRecord(report.description, at: report.time).write(on: connection)
        try connection.execute(Schema.indexes)
        try connection.execute("COMMIT")
    }

    private func row(of domain: Domain) throws(SQLiteError) -> Int64 {
        if let last, last.domain == domain { return last.row }
        let row = try upsert(domain, lastChange: nil, horizon: nil)
        last = (domain, row)
        return row
    }

    private func upsert(
        _ domain: Domain, lastChange: Generation?, horizon: Generation?
    ) throws(SQLiteError) -> Int64 {
        defer { upsertDomain.reset() }
        try upsertDomain.bind(domain.name, at: 1)
        try upsertDomain.bind(domain.layer.hostColumn, at: 2)
        try upsertDomain.bind(lastChange?.column ?? 0, at: 3)
        try upsertDomain.bind(horizon?.column ?? 0, at: 4)
        var row: Int64 = 0
        while try upsertDomain.step() { row = upsertDomain.integer(at: 0) }
        return row
    }
}
