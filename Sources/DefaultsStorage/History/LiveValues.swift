internal import DefaultsModel
internal import SQLite

/// What the store has, as the history sees it.
final class LiveValues {
    /// What a key has in the store.
    struct Live {
        /// The generation of the value or of the removal; nil if nothing is on record.
        var generation: Int64?
        /// The generation up to which removals of the domain are forgotten.
        var horizon: Int64
        /// The archive; nil if the key has no value.
        var archive: [UInt8]?
    }

    private let connection: Connection
    private let select: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        self.connection = connection
        select = try connection.prepare(
            """
            SELECT entries.generation, entries.archive, coalesce(horizon, forgotten)
            FROM state LEFT JOIN domains ON name = ?1 AND host = ?2
                LEFT JOIN entries ON entries.domain = domains.id AND entries.key = ?3
            """)
    }

    /// The last change that is in the store.
    func generation() throws(SQLiteError) -> Int64 {
        let select = try connection.prepare("SELECT generation FROM state")
        return try select.step() ? select.integer(at: 0) : 0
    }

    /// What a key has.
    func value(of key: String, in domain: Domain) throws(SQLiteError) -> Live {
        defer { select.reset() }
        try select.bind(domain.name, at: 1)
        try select.bind(domain.layer.hostColumn, at: 2)
        try select.bind(key, at: 3)
        guard try select.step() else { return Live(generation: nil, horizon: 0) }
        return Live(
            generation: select.isNull(at: 0) ? nil : select.integer(at: 0),
            horizon: select.integer(at: 2), archive: select.blob(at: 1))
    }

    /// The keys of a domain that have values, with the sizes of these.
    func keys(of domain: Domain) throws(SQLiteError) -> [(key: String, size: Int)] {
        let select = try connection.prepare(
            """
            SELECT key, length(archive) FROM entries WHERE archive IS NOT NULL
                AND domain = (SELECT id FROM domains WHERE name = ?1 AND host = ?2)
            """)
        try select.bind(domain.name, at: 1)
        try select.bind(domain.layer.hostColumn, at: 2)
        var keys: [(String, Int)] = []
        while try select.step() {
            keys.append((select.text(at: 0) ?? "", Int(clamping: select.integer(at: 1))))
        }
        return keys
    }

    /// How large the values of a domain are together, and how many there are.
    func totals(of domain: Domain) throws(SQLiteError) -> (keys: Int, bytes: Int) {
        let select = try connection.prepare(
            "SELECT key_count, value_bytes FROM domains WHERE name = ?1 AND host = ?2")
        try select.bind(domain.name, at: 1)
        try select.bind(domain.layer.hostColumn, at: 2)
        guard try select.step() else { return (0, 0) }
        return (Int(clamping: select.integer(at: 0)), Int(select.text(at: 1) ?? "") ?? 0)
    }
}
