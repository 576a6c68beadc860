internal import DefaultsModel
internal import SQLite

/// One flush as one transaction of the store: rows, totals, generation and ceiling together, or
/// nothing of it.
struct FlushTransaction {
    private let connection: Connection

    init(on connection: Connection) {
        self.connection = connection
    }

    /// Writes a batch; on disk when this returns.
    func write(_ batch: FlushBatch) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            let upsertDomain = try connection.prepare(FlushTransaction.upsertDomain)
            let upsertEntry = try connection.prepare(FlushTransaction.upsertEntry)
            for (domain, pending) in batch.changes.domains {
                let row = try write(domain, pending.totals, with: upsertDomain)
                for (key, entry) in pending.entries {
                    let checksum = RowChecksum.of(domain, key, entry.generation, entry.archive)
                    try upsertEntry.bind(row, at: 1)
                    try upsertEntry.bind(Int64(bitPattern: checksum), at: 4)
                    try write(key, entry, with: upsertEntry)
                }
            }
            try writeState(batch)
        }
    }

    private static let upsertDomain = """
        INSERT INTO domains (name, host, key_count, key_bytes) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (name, host) DO UPDATE
            SET key_count = excluded.key_count, key_bytes = excluded.key_bytes
        RETURNING id
        """

    private static let upsertEntry = """
        INSERT INTO entries (domain, key, generation, checksum, archive)
            VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT (domain, key) DO UPDATE
            SET generation = excluded.generation, checksum = excluded.checksum,
                archive = excluded.archive
        """

    /// - Returns: The number of the domain's row.
    private func write(
        _ domain: Domain, _ totals: KeyTotals, with upsert: borrowing Statement
    ) throws(SQLiteError) -> Int64 {
        defer { upsert.reset() }
        try upsert.bind(domain.name, at: 1)
        try upsert.bind(domain.layer.hostColumn, at: 2)
        try upsert.bind(Int64(totals.keys), at: 3)
        try upsert.bind(Int64(totals.nameBytes), at: 4)
        var row: Int64 = 0
        while try upsert.step() { row = upsert.integer(at: 0) }
        return row
    }

    /// Writes an entry, of which domain and checksum are bound already.
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
        let update = try connection.prepare("UPDATE state SET generation = ?1, ceiling = ?2")
        try update.bind(batch.generation.column, at: 1)
        try update.bind(batch.ceiling.column, at: 2)
        try update.run()
    }
}
