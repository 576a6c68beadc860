internal import DefaultsModel
internal import Glibc
internal import SQLite
internal import SystemCalls

/// The file of the store: how it is opened, by the reader and by the writer alike.
struct StoreFile: Sendable {
    /// Memory for the pages of one connection, in KiB.
    ///
    /// The kernel's cache has the file. This is memory in addition, so it is small, and the same
    /// for every size of database.
    private static let cacheKiB = 256
    /// The size to which a WAL is cut after a large flush: 4 MiB, the usual size between two
    /// checkpoints.
    private static let walSizeLimit = 4 << 20

    static let name = "defaults.db"
    /// How the names of its files end: the database, its log, and SQLite's journal, which exists
    /// while a new database is made.
    static let suffixes = ["", "-wal", "-journal"]

    let path: String
    /// The write-ahead log.
    var logPath: String { "\(path)-wal" }
    /// The directory of its files.
    var directory: PrivateDirectory {
        PrivateDirectory(existing: Path.parent(of: path))
    }
    /// What it is called there.
    var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// Makes the file if there is none, readable by its owner alone.
    ///
    /// SQLite gives the files beside it the same permissions. If SQLite made the file, the umask
    /// would decide. The caller has the lock of the directory, so this process has no open
    /// connection whose locks would be released when this descriptor is closed.
    func make() throws(StorageError) {
        do throws(SystemError) {
            let isNew = access(path, F_OK) != 0
            let file = try File.regular(path, O_RDWR | O_CREAT)
            // The database of another program is refused later.
            let isOurs = (try? StoreHeader(inFile: path))?.isOurs ?? true
            if isOurs { try file.setMode(0o600) }
            if isNew { try directory.synchronize() }
        } catch {
            throw .cannotOpen(path, error)
        }
    }

    /// Opens a connection.
    ///
    /// `unix-excl` locks other processes out, needs no file of shared memory beside the database,
    /// and lets this process have several connections. With FULL, each commit ends with an fsync of
    /// the WAL.
    ///
    /// See [the unix VFSes](https://www.sqlite.org/vfs.html#standard_unix_vfses) and
    /// [PRAGMA synchronous](https://www.sqlite.org/pragma.html#pragma_synchronous).
    func connect() throws(StorageError) -> Connection {
        do throws(SQLiteError) {
            let connection = try Connection(path: path, flags: .readWrite, vfs: "unix-excl")
            // The log may be of another time, and then the first read fails. Closing must not fold that
            // log into the store.
            connection.keepLogOnClose(true)
            try connection.pragma("page_size", "\(PageSize.ours.whole)")
            try FreePages(of: connection).chooseErasure()
            try connection.pragma("trusted_schema", "OFF")
            try connection.pragma("cache_size", "-\(StoreFile.cacheKiB)")
            try connection.pragma("synchronous", "FULL")
            try connection.pragma("journal_size_limit", "\(StoreFile.walSizeLimit)")
            connection.keepLogOnClose(false)
            return connection
        } catch {
            throw .storeFailure(path, error, .cannotOpen)
        }
    }

    /// Opens one more connection to a store that is in use.
    ///
    /// - Throws: Also `.damagedDatabase` if the file was emptied. SQLite would take it for a new database,
    ///   and remove the log, from which it can be repaired.
    func connectAgain() throws(StorageError) -> Connection {
        guard FileStatus.ifAny(path)?.size != 0 else { throw .emptied(path) }
        return try connect()
    }
}

extension StoreFile {
    /// The size of the database without its log, in bytes.
    static func size(by connection: Connection) throws(SQLiteError) -> Int {
        let pages = try connection.pragma("page_count").flatMap { Int($0) } ?? 0
        let pageSize = try connection.pragma("page_size").flatMap { Int($0) } ?? 0
        return pages.multipliedReportingOverflow(by: pageSize).partialValue
    }

    /// Checks that the file, if there is one, is ours to open, while another process may have it open.
    ///
    /// A damaged file is no error: it can be repaired.
    ///
    /// - Throws: `.cannotOpen`, `.notOurDatabase` or `.newerSchema`.
    func check() throws(StorageError) {
        do throws(StorageError) {
            _ = try StoreHeader(inFile: path)?.migrations(at: path)
        } catch {
            guard error.code == .damagedDatabase else { throw error }
        }
    }
}

/// A store whose file is elsewhere: some users keep their settings in one directory and link to
/// them.
extension StoreFile {
    /// The number of links that Linux follows in one path.
    private static let mostLinks = 40

    /// The store of a directory, in the directory that a link in its place leads to.
    ///
    /// SQLite keeps the log in that directory, and a repaired store is put there. In place of the
    /// link, it would leave the old file in use.
    init(in directory: PrivateDirectory) {
        var path = directory.file(StoreFile.name)
        // If the links form a circle, opening the last one fails.
        for _ in 0..<StoreFile.mostLinks {
            guard let target = Path.target(ofLink: path) else { break }
            let isAbsolute = target.hasPrefix("/")
            path = isAbsolute ? target : Path.parent(of: path) + "/" + target
        }
        self.init(path: path)
    }
}

extension StoreFile {
    /// Brings the database to the schema of this program; an empty file becomes a new database.
    ///
    /// - Returns: Whether it is new.
    /// - Throws: `.notOurDatabase` or `.newerSchema` if this program must not change it. Then
    ///   nothing was changed.
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
        // Move it from the log to the file, where another process can read it. If the disk refuses,
        // the log still has it.
        _ = try? connection.pragma("wal_checkpoint", "TRUNCATE")
        return isNew
    }

    /// Makes the indexes that a database may lack.
    ///
    /// - Throws: If the disk refuses. The database can still be used.
    func makeIndexes(_ connection: Connection) throws(StorageError) {
        do {
            try connection.execute(Schema.indexes)
        } catch {
            throw .storeFailure(path, error, .cannotWrite)
        }
    }

    /// What the database says of itself.
    func header(of connection: Connection) throws(StorageError) -> StoreHeader {
        do {
            return try StoreHeader(of: connection)
        } catch {
            throw .storeFailure(path, error, .cannotOpen)
        }
    }

    private func migrations(of connection: Connection) throws(StorageError) -> Int {
        let header = try header(of: connection)
        if !header.isOurs, try hasOurTables(connection) { throw .damagedHeader(path) }
        return try header.migrations(at: path)
    }

    /// Whether a database has our tables, whatever its header says.
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
    /// - Throws: `.damagedDatabase` if that makes no sense.
    func state(_ connection: Connection) throws(StorageError) -> StoreState {
        let state: StoreState?
        do throws(SQLiteError) {
            let select = try connection.prepare(
                "SELECT uuid, generation, ceiling, record_start, eras FROM state")
            state = try select.step() ? StoreState(row: select) : nil
        } catch {
            throw .storeFailure(path, error, .cannotOpen)
        }
        guard let state else { throw .damagedState(path) }
        return state
    }

    /// What the store knows of itself, from the file and its log, without changing them; nil if it
    /// is not a store of this version.
    func foundState() throws(StorageError) -> StoreState? {
        try foundState(on: connectAgain())
    }

    /// The same from the file alone; nil also if it cannot be read.
    func stateWithoutLog() -> StoreState? {
        // Characters with a meaning in a URI, and bytes that are not characters, are escaped.
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
    /// Reads the row of `StoreFile.state(_:)`; nil if it makes no sense.
    fileprivate init?(row: borrowing Statement) {
        guard let uuid = row.blob(at: 0).flatMap(UniqueID.init),
            let generation = Generation(column: row.integer(at: 1)),
            let ceiling = Generation(column: row.integer(at: 2)),
            let recordStart = Generation(column: row.integer(at: 3)),
            generation <= ceiling
        else { return nil }
        self.init(
            uuid: uuid, generation: generation, ceiling: ceiling,
            record: ChangeRecord(start: recordStart, text: row.text(at: 4) ?? ""))
    }
}

/// What the store knows of itself.
struct StoreState: Equatable {
    /// Which database it is; copies and backups have the same.
    let uuid: UniqueID
    /// The last change that is in it, with all before it.
    let generation: Generation
    /// The ceiling: no number above it was given while this was the store.
    let ceiling: Generation
    /// After which generations all changes are known.
    let record: ChangeRecord
}

/// Which files the connections to a store have open: the database, and its write-ahead log.
///
/// If one of them is removed or replaced, SQLite still writes to the old file, which is gone when
/// the last connection is closed.
struct StoreIdentity: Equatable {
    let database: FileIdentity
    let log: FileIdentity

    /// The files that have these names now; nil if one of them is missing.
    init?(of file: StoreFile) {
        guard let database = FileIdentity(of: file.path), let log = FileIdentity(of: file.logPath)
        else { return nil }
        self.database = database
        self.log = log
    }

    /// Whether the next process would not find what is written to these files.
    func isLost(from file: StoreFile) -> Bool {
        database.hasLost(file.path) || log.hasLost(file.logPath)
    }
}

extension StoreFile {
    /// Which files have the names of the store now.
    ///
    /// - Throws: `.cannotOpen` if one of them is missing.
    func identity() throws(StorageError) -> StoreIdentity {
        guard let identity = StoreIdentity(of: self) else { throw .storeGone(path) }
        return identity
    }
}
