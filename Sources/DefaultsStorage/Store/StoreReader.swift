package import DefaultsModel
internal import SQLite

/// The queries of the store.
///
/// The first two parameters are the name and the host of a domain, the third is a key, a token or a
/// generation.
///
/// No query orders its rows. Otherwise SQLite would use an index with that order, which also has
/// the removals, or would sort in a file. All queries except the lists of domains find their rows
/// by an index, so their cost does not grow with the database.
enum StoreQuery {
    static let value = "SELECT generation, checksum, archive \(entries) AND key = ?3"
    /// The function length() reads only a row's header.
    ///
    /// IS NOT NULL would load the archive.
    static let size = "SELECT length(archive) \(entries) AND key = ?3"
    static let generation = "SELECT generation \(entries) AND key = ?3"
    static let keys = "SELECT key \(entries) AND \(isPresent)"
    static let totals = """
        SELECT key_count, key_bytes, value_bytes FROM domains WHERE name = ?1 AND host = ?2
        """
    static let domains = "SELECT name, host FROM domains WHERE key_count > 0"
    /// The layers of hosts.
    ///
    /// Their host names never begin with @, unlike the layers made of files.
    static let hostLayers = "\(domains) AND host > '' AND substr(host, 1, 1) <> '@'"
    static let summaries = "SELECT \(summary) \(entries) AND \(isPresent)"
    /// A domain without newer rows gives one row without a key, which has its horizon.
    static let changes = """
        SELECT key, entries.generation, length(archive), coalesce(horizon, forgotten)
        FROM \(domainOrNone)
            LEFT JOIN entries ON entries.domain = domains.id AND entries.generation > ?3
        """
    /// The removals of a domain, which have an index of their own.
    static let removals = "SELECT \(summary) \(entries) AND archive IS NULL"
    static let record = """
        SELECT coalesce(last_change, forgotten), coalesce(horizon, forgotten) FROM \(domainOrNone)
        """
    /// The fourth parameter is the limit of the count.
    ///
    /// The index alone answers the query.
    static let changeCount = """
        SELECT count(*) FROM (SELECT 1 \(entries) AND generation > ?3 LIMIT ?4)
        """
    /// The totals of the domains that a pattern may cover.
    ///
    /// The third parameter is the first text after those that begin with the first and a dot.
    static let totalsBelow = """
        SELECT name, host, key_count, key_bytes, value_bytes FROM domains
            WHERE (name = ?1 OR (name > ?2 AND name < ?3)) AND key_count > 0
        """
    static let totalsOfAll = """
        SELECT name, host, key_count, key_bytes, value_bytes FROM domains WHERE key_count > 0
        """
    /// Those of the layers that programs can write, without names: the others have an `@`.
    static let totalsOfWritable = """
        SELECT key_count, key_bytes, value_bytes FROM domains
            WHERE key_count > 0 AND substr(host, 1, 1) <> '@'
        """
    /// As ``totalsBelow``, with the domains that have only tokens.
    static let domainsInUse = """
        SELECT name, host FROM domains WHERE (name = ?1 OR (name > ?2 AND name < ?3))
            AND (key_count > 0 OR EXISTS (SELECT 1 FROM tokens WHERE domain = domains.id))
            LIMIT ?4
        """
    /// The parameter is the limit of the count.
    static let domainCount = "SELECT count(*) FROM (\(domains) LIMIT ?1)"
    static let token = "SELECT generation FROM tokens WHERE domain = \(domain) AND token = ?3"

    private static let entries = "FROM entries WHERE domain = \(domain)"
    /// Also works for a domain without a row, because such a domain may have been forgotten.
    private static let domainOrNone = "state LEFT JOIN domains ON name = ?1 AND host = ?2"
    private static let domain = "(SELECT id FROM domains WHERE name = ?1 AND host = ?2)"
    /// SQLite reads the length of a blob from the row's header and does not load the blob.
    private static let summary = "key, generation, length(archive)"

    /// Whether the row is a value and not a removal.
    ///
    /// The text equals that in `Schema.indexes`, so rows found by that index are not checked again.
    private static let isPresent = "archive IS NOT NULL"
}

/// Reads the store with prepared statements, on its own connection.
///
/// Each read is finished before it returns. An unfinished statement would keep an old state of the
/// database, and so prevent checkpoints of the WAL.
final class StoreReader {
    private let path: String
    private let connection: Connection
    private let selectValue: Statement
    private let selectSize: Statement
    private let selectGeneration: Statement
    private let selectTotals: Statement
    private let selectKeys: Statement
    private let selectDomains: Statement
    private let selectHostLayers: Statement
    private let selectDomainCount: Statement
    let selectSummaries: Statement
    let selectChanges: Statement
    let selectChangeCount: Statement
    let selectRemovals: Statement
    let selectRecord: Statement
    let selectToken: Statement

    init(_ connection: Connection, path: String) throws(StorageError) {
        self.path = path
        self.connection = connection
        do throws(SQLiteError) {
            selectValue = try connection.prepare(StoreQuery.value)
            selectSize = try connection.prepare(StoreQuery.size)
            selectGeneration = try connection.prepare(StoreQuery.generation)
            selectTotals = try connection.prepare(StoreQuery.totals)
            selectKeys = try connection.prepare(StoreQuery.keys)
            selectDomains = try connection.prepare(StoreQuery.domains)
            selectHostLayers = try connection.prepare(StoreQuery.hostLayers)
            selectDomainCount = try connection.prepare(StoreQuery.domainCount)
            selectSummaries = try connection.prepare(StoreQuery.summaries)
            selectChanges = try connection.prepare(StoreQuery.changes)
            selectChangeCount = try connection.prepare(StoreQuery.changeCount)
            selectRemovals = try connection.prepare(StoreQuery.removals)
            selectRecord = try connection.prepare(StoreQuery.record)
            selectToken = try connection.prepare(StoreQuery.token)
        } catch {
            throw .storeFailure(path, error, .cannotOpen)
        }
    }

    /// The value of a key; nil if there is none.
    ///
    /// - Throws: `.damagedRow` if the row's checksum is wrong.
    func value(_ domain: Domain, _ key: Key) throws(StorageError) -> StoredValue? {
        let row = try reading { () throws(SQLiteError) in
            defer { selectValue.reset() }
            try bind(selectValue, domain, key)
            return try selectValue.step()
                ? (
                    generation: selectValue.integer(at: 0), checksum: selectValue.integer(at: 1),
                    archive: selectValue.blob(at: 2)
                ) : nil
        }
        guard let row else { return nil }
        guard let generation = Generation(column: row.generation),
            UInt64(bitPattern: row.checksum)
                == RowChecksum.of(domain, key, generation, row.archive)
        else { throw .damagedRow(domain, key, path) }
        return row.archive.map { StoredValue(archive: $0, generation: generation) }
    }

    /// The size of a key's archive, in bytes; nil if it has no value.
    ///
    /// A damaged value counts.
    func size(_ domain: Domain, _ key: Key) throws(StorageError) -> Int? {
        try reading { () throws(SQLiteError) in
            defer { selectSize.reset() }
            try bind(selectSize, domain, key)
            guard try selectSize.step(), !selectSize.isNull(at: 0) else { return nil }
            return Int(clamping: selectSize.integer(at: 0))
        }
    }

    /// The last change of a key, a value or a removal; nil if there is no row.
    ///
    /// If the generation of a row is not valid, its age is unknown, so it counts as the newest.
    func generation(_ domain: Domain, _ key: Key) throws(StorageError) -> Generation? {
        try reading { () throws(SQLiteError) in
            defer { selectGeneration.reset() }
            try bind(selectGeneration, domain, key)
            guard try selectGeneration.step() else { return nil }
            return Generation(column: selectGeneration.integer(at: 0)) ?? .largestInFile
        }
    }

    /// The number of a domain's keys, and the sizes of their names and values.
    func totals(of domain: Domain) throws(StorageError) -> KeyTotals {
        try reading { () throws(SQLiteError) in
            defer { selectTotals.reset() }
            try bind(selectTotals, domain)
            return try selectTotals.step()
                ? StoreReader.totals(in: selectTotals, from: 0) : KeyTotals()
        }
    }

    /// The keys of a domain that have values, in no order.
    func keys(of domain: Domain) throws(StorageError) -> [Key] {
        try reading { () throws(SQLiteError) in
            defer { selectKeys.reset() }
            try bind(selectKeys, domain)
            var keys: [Key] = []
            while try selectKeys.step() {
                // Text that is not a key was not written by this program, and no caller can read
                // it.
                if let key = selectKeys.text(at: 0).flatMap({ try? Key(stored: $0) }) {
                    keys.append(key)
                }
            }
            return keys
        }
    }

    /// The domains that have keys, in no order.
    func domains() throws(StorageError) -> Set<Domain> {
        try domains(selectDomains)
    }

    /// The layers of hosts that have keys, in no order.
    ///
    /// The other domains cost almost nothing.
    func hostLayers() throws(StorageError) -> Set<Domain> {
        try domains(selectHostLayers)
    }

    /// How many domains have keys.
    ///
    /// Counting stops at the limit.
    func domainCount(upTo limit: Int) throws(StorageError) -> Int {
        try reading { () throws(SQLiteError) in
            defer { selectDomainCount.reset() }
            try selectDomainCount.bind(Int64(limit), at: 1)
            return try selectDomainCount.step() ? Int(selectDomainCount.integer(at: 0)) : 0
        }
    }

    private func domains(_ select: borrowing Statement) throws(StorageError) -> Set<Domain> {
        try reading { () throws(SQLiteError) in
            defer { select.reset() }
            var domains: Set<Domain> = []
            while try select.step() {
                if let domain = StoreReader.domain(in: select) { domains.insert(domain) }
            }
            return domains
        }
    }

    /// Writes the WAL back into the database and empties it.
    func checkpoint() throws(StorageError) {
        try reading { () throws(SQLiteError) in
            try connection.beginLogAnew()
        }
    }

    /// The domain whose name and host are the first two columns.
    ///
    /// A name that is not a domain was not written by this program, as with keys.
    static func domain(in row: borrowing Statement) -> Domain? {
        guard let name = row.text(at: 0), let host = row.text(at: 1) else { return nil }
        return Domain(name: name, hostColumn: host)
    }

    /// The totals of a domain in three columns.
    static func totals(in row: borrowing Statement, from column: Int32) -> KeyTotals {
        KeyTotals(
            keys: count(row.integer(at: column)), nameBytes: count(row.integer(at: column + 1)),
            valueBytes: count(row.integer(at: column + 2)))
    }

    /// Prepares a query that is rarely needed.
    func prepare(_ query: String) throws(SQLiteError) -> Statement {
        try connection.prepare(query)
    }

    /// A count from a column.
    ///
    /// A file that was tampered with may contain any number. Within these bounds, sums do not
    /// overflow.
    private static func count(_ column: Int64) -> Int {
        Int(min(max(column, 0), 1 << 40))
    }

    func bind(
        _ statement: borrowing Statement, _ domain: Domain, _ key: Key? = nil
    ) throws(SQLiteError) {
        try statement.bind(domain.name, at: 1)
        try statement.bind(domain.layer.hostColumn, at: 2)
        if let key { try statement.bind(key.name, at: 3) }
    }

    func reading<Result>(
        _ body: () throws(SQLiteError) -> Result
    ) throws(StorageError) -> Result {
        do {
            return try body()
        } catch {
            throw .storeFailure(path, error, .cannotRead)
        }
    }
}

/// The value of a key.
package struct StoredValue: Sendable, Equatable {
    /// The bytes of its keyed archive.
    package let archive: [UInt8]
    /// Its last change.
    package let generation: Generation
}

/// What the store knows about changes: sizes and generations, not values.
extension StoreReader {
    /// The keys of a domain that have values, with their sizes, in no order.
    func summaries(of domain: Domain) throws(StorageError) -> [StoredEntry] {
        try entries(of: domain, by: selectSummaries)
    }

    /// The removals of a domain that are on record, in no order.
    func removals(of domain: Domain) throws(StorageError) -> [StoredEntry] {
        try entries(of: domain, by: selectRemovals)
    }

    private func entries(
        of domain: Domain, by select: borrowing Statement
    ) throws(StorageError) -> [StoredEntry] {
        try reading { () throws(SQLiteError) in
            defer { select.reset() }
            try bind(select, domain)
            var entries: [StoredEntry] = []
            while try select.step() {
                if let entry = select.entry { entries.append(entry) }
            }
            return entries
        }
    }

    /// The rows of a domain after a generation, including removals, in no order.
    ///
    /// Nil if later removals are forgotten.
    ///
    /// Rows and horizon come from one statement. Between two statements, the writer might commit a
    /// flush that forgets removals and raises the horizon. Then the old horizon would wrongly say
    /// that the remaining rows are complete.
    func changes(
        of domain: Domain, since generation: Generation
    ) throws(StorageError) -> [StoredEntry]? {
        try reading { () throws(SQLiteError) in
            defer { selectChanges.reset() }
            try bind(selectChanges, domain)
            try selectChanges.bind(generation.column, at: 3)
            var entries: [StoredEntry] = []
            while try selectChanges.step() {
                let horizon = Generation(column: selectChanges.integer(at: 3))
                if let horizon, horizon > generation { return nil }
                if let entry = selectChanges.entry { entries.append(entry) }
            }
            return entries
        }
    }

    /// How many rows of a domain came after a generation, including removals.
    ///
    /// Counting stops at the limit.
    func count(
        of domain: Domain, since generation: Generation, upTo limit: Int
    ) throws(StorageError) -> Int {
        try reading { () throws(SQLiteError) in
            defer { selectChangeCount.reset() }
            try bind(selectChangeCount, domain)
            try selectChangeCount.bind(generation.column, at: 3)
            try selectChangeCount.bind(Int64(limit), at: 4)
            return try selectChangeCount.step() ? Int(selectChangeCount.integer(at: 0)) : 0
        }
    }

    /// What is known of a domain's changes.
    func record(of domain: Domain) throws(StorageError) -> StoredRecord {
        try reading { () throws(SQLiteError) in
            defer { selectRecord.reset() }
            try bind(selectRecord, domain)
            guard try selectRecord.step() else {
                return StoredRecord(lastChange: nil, horizon: nil)
            }
            return StoredRecord(
                lastChange: Generation(column: selectRecord.integer(at: 0)),
                horizon: Generation(column: selectRecord.integer(at: 1)))
        }
    }

    /// When changes were written to disk, in seconds since 1970.
    ///
    /// - Returns: For each generation nil if it is not on disk, and 0 if the time is unknown.
    func times(of generations: [Generation]) throws(StorageError) -> [UInt64?] {
        try reading { () throws(SQLiteError) in
            try TimeTable(connection: connection).times(of: generations)
        }
    }

    /// The generation that was replied to a transaction with this token.
    func generation(of token: Token, in domain: Domain) throws(StorageError) -> Generation? {
        try reading { () throws(SQLiteError) in
            defer { selectToken.reset() }
            try bind(selectToken, domain)
            try selectToken.bind(token.name, at: 3)
            return try selectToken.step() ? Generation(column: selectToken.integer(at: 0)) : nil
        }
    }
}

extension Statement {
    /// The key, generation and size in the current row; nil if the row is not valid.
    ///
    /// As with keys alone: what makes no sense was not written by this program.
    fileprivate var entry: StoredEntry? {
        guard let key = text(at: 0).flatMap({ try? Key(stored: $0) }),
            let generation = Generation(column: integer(at: 1))
        else { return nil }
        let size = isNull(at: 2) ? nil : Int(clamping: integer(at: 2))
        return StoredEntry(key: key, generation: generation, size: size)
    }
}

/// What the store knows of a key without its value.
struct StoredEntry {
    let key: Key
    let generation: Generation
    /// The size of the archive in bytes; nil for a removal.
    let size: Int?
}

/// What the store knows of the changes of a domain.
struct StoredRecord {
    /// The domain's last change; nil if it never had one.
    let lastChange: Generation?
    /// The generation up to which removals are forgotten; nil if none is.
    let horizon: Generation?
}
