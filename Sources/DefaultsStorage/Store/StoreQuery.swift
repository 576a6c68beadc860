/// The questions that the store is asked.
///
/// The first two parameters are the name and the host of a domain, the third is a key, a token or a
/// generation.
///
/// None orders its rows: SQLite would choose an index that has that order and the removals, too, or
/// sort in a file. All but the lists of domains find their rows by an index, so that their cost does
/// not grow with the database.
enum StoreQuery {
    static let value = "SELECT generation, checksum, archive \(entries) AND key = ?3"
    /// The function typeof() looks at a row's head, where IS NOT NULL would load the archive.
    static let presence = "SELECT typeof(archive) <> 'null' \(entries) AND key = ?3"
    static let generation = "SELECT generation \(entries) AND key = ?3"
    static let keys = "SELECT key \(entries) AND \(isPresent)"
    static let totals = "SELECT key_count, key_bytes FROM domains WHERE name = ?1 AND host = ?2"
    static let domains = "SELECT name, host FROM domains WHERE key_count > 0"
    /// Those that are layers of hosts; none of them begins as the layers that are made of files do.
    static let hostLayers = "\(domains) AND host > '' AND substr(host, 1, 1) <> '@'"
    static let summaries = "SELECT \(summary) \(entries) AND \(isPresent)"
    /// A domain with nothing newer gives one row, without a key, for the sake of its horizon.
    static let changes = """
        SELECT key, entries.generation, length(archive), coalesce(horizon, forgotten)
        FROM \(domainOrNone)
            LEFT JOIN entries ON entries.domain = domains.id AND entries.generation > ?3
        """
    static let record = """
        SELECT coalesce(last_change, forgotten), coalesce(horizon, forgotten) FROM \(domainOrNone)
        """
    /// The fourth parameter is how many are counted at most; the index has all that it takes.
    static let changeCount = """
        SELECT count(*) FROM (SELECT 1 \(entries) AND generation > ?3 LIMIT ?4)
        """
    /// The parameter is how many are counted at most.
    static let domainCount = "SELECT count(*) FROM (\(domains) LIMIT ?1)"
    static let token = "SELECT generation FROM tokens WHERE domain = \(domain) AND token = ?3"

    private static let entries = "FROM entries WHERE domain = \(domain)"
    /// A domain that has no row may be a forgotten one.
    private static let domainOrNone = "state LEFT JOIN domains ON name = ?1 AND host = ?2"
    private static let domain = "(SELECT id FROM domains WHERE name = ?1 AND host = ?2)"
    /// SQLite has the length of a blob from the row's head, and does not load the blob for it.
    private static let summary = "key, generation, length(archive)"

    /// Whether the row is a value and no removal, in the words of `Schema.indexes`: rows that
    /// are found by it are not asked again.
    private static let isPresent = "archive IS NOT NULL"
}
