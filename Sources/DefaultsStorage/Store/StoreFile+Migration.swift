internal import DefaultsModel
internal import SQLite

extension StoreFile {
    /// Brings the database to the schema of this program; an empty file becomes a new database.
    ///
    /// - Returns: Whether it is new.
    /// - Throws: `.notOurDatabase` or `.newerSchema` where it is not ours to touch, in which case
    ///   nothing of it was changed.
    func prepare(_ connection: Connection) throws(StorageError) -> Bool {
        let version = try migrations(of: connection)
        let isNew = version == 0
        do throws(SQLiteError) {
            if isNew { try FreePages(of: connection).beReturnable() }
            try connection.pragma("journal_mode", "WAL")
            guard version < Schema.version else { return isNew }
            try connection.transaction { () throws(SQLiteError) in
                for step in Schema.migrations[version...] { try connection.execute(step) }
                if isNew { try found(connection) }
                try connection.pragma("user_version", "\(Schema.version)")
            }
        } catch {
            throw .storeFailure(path, error, .cannotOpen)
        }
        // From the log into the file, where another process can see what this is. Where the disk
        // refuses, the log has it all the same.
        _ = try? connection.pragma("wal_checkpoint", "TRUNCATE")
        return isNew
    }

    /// Makes the indexes that a database may lack.
    ///
    /// - Throws: Where the disk does not take it, and the database can be used all the same.
    func makeIndexes(_ connection: Connection) throws(StorageError) {
        do {
            try connection.execute(Schema.indexes)
        } catch {
            throw .storeFailure(path, error, .cannotWrite)
        }
    }

    private func migrations(of connection: Connection) throws(StorageError) -> Int {
        let header: StoreHeader
        do throws(SQLiteError) {
            header = try StoreHeader(of: connection)
        } catch {
            throw .storeFailure(path, error, .cannotOpen)
        }
        if !header.isOurs, try hasOurTables(connection) { throw .damagedHeader(path) }
        return try header.migrations(at: path)
    }

    /// Whether a database has the tables of ours, whatever its header says.
    private func hasOurTables(_ connection: Connection) throws(StorageError) -> Bool {
        do throws(SQLiteError) {
            let count = try connection.prepare(
                """
                SELECT count(*) FROM sqlite_schema
                    WHERE type = 'table' AND name IN ('state', 'domains', 'entries')
                """)
            return try count.step() && count.integer(at: 0) == 3
        } catch {
            throw .storeFailure(path, error, .cannotOpen)
        }
    }

    /// What the store knows of itself.
    ///
    /// - Throws: `.damagedDatabase` where that makes no sense.
    func state(_ connection: Connection) throws(StorageError) -> StoreState {
        let state: StoreState?
        do throws(SQLiteError) {
            let select = try connection.prepare(
                "SELECT uuid, generation, ceiling, record_start FROM state")
            state = try select.step() ? StoreState(row: select) : nil
        } catch {
            throw .storeFailure(path, error, .cannotOpen)
        }
        guard let state else { throw .damagedState(path) }
        return state
    }

    /// What the store knows of itself, by the file and its log, of which nothing is changed; nil if it
    /// is not a store of this version.
    func foundState() throws(StorageError) -> StoreState? {
        try foundState(on: connect())
    }

    /// The same by the file alone; nil also where it cannot be read.
    func stateWithoutLog() -> StoreState? {
        // The characters that mean something in a URI, and those that are none, are escaped.
        let escaped = path.utf8.map { byte in
            let isPlain =
                byte == UInt8(ascii: "/") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
            let digits = String(byte, radix: 16)
            return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + digits
        }.joined()
        guard
            let connection = try? Connection(
                path: "file:\(escaped)?immutable=1", flags: [.readOnly, .uri])
        else { return nil }
        return try? foundState(on: connection)
    }

    private func foundState(on connection: Connection) throws(StorageError) -> StoreState? {
        connection.keepLogOnClose(true)
        do throws(SQLiteError) {
            let header = try StoreHeader(of: connection)
            guard header.isOurs, header.version == Schema.version else { return nil }
        } catch {
            throw .storeFailure(path, error, .cannotOpen)
        }
        return try state(connection)
    }

    /// Gives a new database its identity and its first generation.
    private func found(_ connection: Connection) throws(SQLiteError) {
        try connection.pragma("application_id", "\(Schema.applicationID)")
        let insert = try connection.prepare(
            "INSERT INTO state (id, uuid, generation, ceiling) VALUES (1, ?1, ?2, ?3)")
        try insert.bind(Generation.first.column, at: 2)
        try insert.bind(Generation.first.ceiling.column, at: 3)
        try insert.run(withBlob: UniqueID.random().bytes, at: 1)
    }
}

extension StoreState {
    /// Reads the row of `StoreFile.state(_:)`; nil where it makes no sense.
    fileprivate init?(row: borrowing Statement) {
        guard let uuid = row.blob(at: 0).flatMap(UniqueID.init),
            let generation = Generation(column: row.integer(at: 1)),
            let ceiling = Generation(column: row.integer(at: 2)),
            let recordStart = Generation(column: row.integer(at: 3)),
            generation <= ceiling
        else { return nil }
        self.init(
            uuid: uuid, generation: generation, ceiling: ceiling, recordStart: recordStart)
    }
}
