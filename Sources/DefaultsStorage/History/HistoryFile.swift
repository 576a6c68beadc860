internal import DefaultsModel
internal import Glibc
internal import SQLite
internal import SystemCalls

/// The file of the history, beside the database: what keys had before, and who has changed them.
///
/// It belongs to the writer's thread.
///
/// Invariants:
/// 1. A row is true by itself, whatever other rows are lost: see ``HistoryRow``.
/// 2. The database never waits for this file, fails by it, or is repaired because of it.
/// 3. A flush that is repeated, or merged with another after a failure, leaves the same rows.
/// 4. No row is changed except by an action that goes on.
/// 5. An action with fewer rows than keys is never taken back as a whole.
/// 6. Taking back changes only keys that have what the action has left there, or got it back since.
/// 7. Taking back is one change.
/// 8. Rows, actions and authors are bounded, and no key and no domain uses up the room of another.
/// 9. What is not covered by a row, or by what the database has, is unknown.
final class HistoryFile {
    static let name = "history.db"
    private static let suffixes = ["", "-wal", "-journal"]
    /// What SQLite writes before it folds the log back, in pages.
    private static let pagesInLog = 256
    /// The size to which the log is cut after it was folded back.
    private static let logSizeLimit = 1 << 20
    /// "DfHi", as the database has a name of its own.
    private static let applicationID = 0x4466_4869

    let connection: Connection
    let statements: HistoryStatements
    private let identity: FileIdentity
    private let path: String

    /// Opens the history of a database, or begins it.
    ///
    /// A file that cannot be used is renamed, and another one is begun: one that is damaged, of another
    /// database or another version, or not a file at all.
    ///
    /// - Parameters:
    ///   - directory: Where the database has its lock.
    ///   - database: Which database it is.
    ///   - generation: The last change that is in the database.
    ///   - known: The last change that is known of the time before this process; nil if what is lost was
    ///     noted before.
    ///   - time: The present time, in seconds since 1970.
    ///   - report: Gets what is to be said about it.
    /// - Throws: The error of the disk.
    convenience init(
        in directory: PrivateDirectory, of database: UniqueID, at generation: Int64,
        known: Generation?, time: Int64, report: (Notice) -> Void
    ) throws {
        for suffix in HistoryFile.suffixes {
            let name = HistoryFile.name + suffix
            guard let aside = try directory.setStrangeAside(name) else { continue }
            report(.strangeFile(directory.file(name), setAside: aside))
        }
        do {
            try self.init(at: directory.file(HistoryFile.name))
            try begin(of: database, at: generation, known: known, time: time)
        } catch let error as HistoryUnusable {
            try HistoryFile.setAside(in: directory, because: error.reason, report: report)
            try self.init(at: directory.file(HistoryFile.name))
            try begin(of: database, at: generation, known: known, time: time)
        } catch let error as SQLiteError
            where error.code == .corrupt || error.code == .notADatabase
        {
            try HistoryFile.setAside(in: directory, because: error.reason, report: report)
            try self.init(at: directory.file(HistoryFile.name))
            try begin(of: database, at: generation, known: known, time: time)
        }
    }

    private init(at path: String) throws {
        self.path = path
        // SQLite gives the files beside it the same permissions.
        try File.regular(path, O_RDWR | O_CREAT | O_NOFOLLOW).setMode(0o600)
        connection = try Connection(path: path, flags: .readWrite, vfs: "unix-excl")
        try connection.pragma("trusted_schema", "OFF")
        try connection.pragma("secure_delete", "ON")
        // A file for sorting would be outside of the directory, where the service may not write.
        try connection.pragma("temp_store", "MEMORY")
        try connection.pragma("cache_size", "-256")
        let isNew = try connection.pragma("schema_version") == "0"
        if isNew { try connection.pragma("auto_vacuum", "INCREMENTAL") }
        try connection.pragma("journal_mode", "WAL")
        // A power cut may cost the last changes of the history, never its order.
        try connection.pragma("synchronous", "NORMAL")
        try connection.pragma("wal_autocheckpoint", "\(HistoryFile.pagesInLog)")
        try connection.pragma("journal_size_limit", "\(HistoryFile.logSizeLimit)")
        if isNew {
            try HistoryFile.makeTables(on: connection)
        } else {
            try HistoryFile.convertFirstVersion(on: connection)
        }
        guard try connection.pragma("application_id") == "\(HistoryFile.applicationID)",
            try connection.pragma("user_version") == "\(HistorySchema.version)"
        else { throw HistoryUnusable(reason: "it is not a history of this version") }
        guard let identity = FileIdentity(of: path) else {
            throw SystemError(call: "open", path: path, number: ENOENT)
        }
        self.identity = identity
        statements = try HistoryStatements(connection)
    }

    private static func makeTables(on connection: Connection) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            try connection.execute(HistorySchema.tables)
            try connection.pragma("application_id", "\(applicationID)")
            try connection.pragma("user_version", "\(HistorySchema.version)")
        }
    }

    /// Makes a file of version 1 one of version 2.
    private static func convertFirstVersion(on connection: Connection) throws(SQLiteError) {
        guard try connection.pragma("application_id") == "\(applicationID)",
            try connection.pragma("user_version") == "1"
        else { return }
        try connection.transaction { () throws(SQLiteError) in
            try connection.execute(HistorySchema.conversionOfFirstVersion)
            try connection.pragma("user_version", "2")
        }
    }

    /// Folds the log back, and empties it.
    func foldLog() throws(SQLiteError) {
        try connection.pragma("wal_checkpoint", "TRUNCATE")
    }

    /// Whether the file was removed or replaced.
    var isLost: Bool { identity.hasLost(path) }

    /// Whose history it is, and what of it was lost before this process began.
    private func begin(
        of database: UniqueID, at generation: Int64, known: Generation?, time: Int64
    ) throws {
        try connection.transaction { () throws(SQLiteError) in
            let select = try connection.prepare("SELECT uuid FROM meta")
            guard try select.step() else {
                select.reset()
                let insert = try connection.prepare(
                    "INSERT INTO meta VALUES (1, ?1, ?2, 1, ?2, ?3, ?4, 0)")
                try insert.bind(generation, at: 2)
                try insert.bind(time, at: 3)
                try insert.bind(time / HistoryFlush.secondsPerDay, at: 4)
                return try insert.run(withBlob: database.bytes, at: 1)
            }
        }
        let select = try connection.prepare("SELECT uuid FROM meta")
        guard try select.step(), select.blob(at: 0) == database.bytes else {
            throw HistoryUnusable(reason: "it belongs to another database")
        }
        select.reset()
        _ = try HistoryMeta(of: connection)
        guard let known else { return }
        // What a power cut has taken from the database, or an older copy in its place does not have.
        let lose = try connection.prepare(
            "UPDATE actions SET lost = 1 WHERE last > ?1 AND lost = 0")
        try lose.bind(known.column, at: 1)
        try lose.run()
    }

    /// Whether an error shows that this file is damaged, and not the database.
    ///
    /// Opening reads only some pages, and would find the same file usable again and again. So all of it is
    /// read.
    func isDamaged(accordingTo error: SQLiteError) -> Bool {
        switch error.code {
        case .corrupt, .notADatabase, .constraint:
            (try? HistoryMeta(of: connection)) == nil
                || (try? connection.pragma("quick_check(1)")) != "ok"
        default: false
        }
    }

    /// Notes that the database has changes that were not looked at, if it has.
    func noteGap(upTo generation: Int64, at time: Int64) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            var meta = try HistoryMeta(of: connection)
            guard meta.noted < generation else { return }
            meta.noteGap(upTo: generation, at: time)
            try meta.write(on: connection)
        }
    }

    /// Removes a file that was set aside.
    static func removeAside(in directory: PrivateDirectory) {
        for suffix in suffixes { unlink(directory.file("\(name).aside\(suffix)")) }
    }

    /// Renames the file, so that another one is begun.
    static func setAside(
        in directory: PrivateDirectory, because reason: String, report: (Notice) -> Void
    ) throws {
        let path = directory.file(name)
        // One is kept: it may have values that were to be forgotten.
        for suffix in suffixes {
            let (old, new) = ("\(name)\(suffix)", "\(name).aside\(suffix)")
            // A log that was set aside before belongs to another file than this one.
            if unlink(directory.file(new)) != 0, errno != ENOENT {
                throw SystemError.last("unlink", directory.file(new))
            }
            guard access(directory.file(old), F_OK) == 0 else { continue }
            try directory.rename(old, to: new)
        }
        report(.historyAside(path, reason, setAside: directory.file("\(name).aside")))
    }
}

/// Why a file cannot be the history of a database.
private struct HistoryUnusable: Error {
    let reason: String
}

/// The statements of the history that every flush runs.
final class HistoryStatements {
    /// The newest row of a key.
    let newest: Statement
    /// The row of a key that begins with a generation or before it.
    let ending: Statement
    let insertRow: Statement
    let extendRow: Statement
    let findDomain: Statement
    let insertDomain: Statement
    /// The generation from which on no change of a domain is missing.
    let knownFrom: Statement
    let findAction: Statement
    let insertAction: Statement
    let extendAction: Statement
    let insertReference: Statement
    let findAuthor: Statement
    let addBytes: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        newest = try connection.prepare(
            """
            SELECT \(HistoryRow.columns) FROM rows WHERE domain = ?1 AND key = ?2
                ORDER BY first DESC LIMIT 1
            """)
        ending = try connection.prepare(
            """
            SELECT \(HistoryRow.columns) FROM rows WHERE domain = ?1 AND key = ?2 AND first <= ?3
                ORDER BY first DESC LIMIT 1
            """)
        insertRow = try connection.prepare(
            """
            INSERT INTO rows (domain, key, base, first, last, origin, action, void, size, checksum, was)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            ON CONFLICT (domain, key, first) DO NOTHING
            """)
        extendRow = try connection.prepare(
            "UPDATE rows SET last = ?2, origin = ?3, void = ?4, checksum = ?5 WHERE id = ?1")
        findDomain = try connection.prepare("SELECT id FROM domains WHERE name = ?1 AND host = ?2")
        insertDomain = try connection.prepare(
            """
            INSERT INTO domains (name, host, known_from, bytes)
                VALUES (?1, ?2, (SELECT known_from FROM meta), 0) RETURNING id
            """)
        knownFrom = try connection.prepare(
            """
            SELECT max(meta.known_from, coalesce(domains.known_from, 0))
            FROM meta LEFT JOIN domains ON domains.id = ?1
            """)
        insertAction = try connection.prepare(
            """
            INSERT INTO actions (id, number, last, began, ended, author, kind, day, keys, lost, note)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, ?10)
            """)
        findAction = try connection.prepare(
            "SELECT \(HistoryAction.columns) FROM actions WHERE id = ?1")
        extendAction = try connection.prepare(
            "UPDATE actions SET last = max(last, ?2), ended = max(ended, ?3), keys = keys + ?4 WHERE id = ?1"
        )
        insertReference = try connection.prepare(
            "INSERT OR IGNORE INTO refs (action, ref) VALUES (?1, ?2)")
        findAuthor = try connection.prepare(
            """
            SELECT id FROM authors
                WHERE program = ?1 AND application = ?2 AND machine = ?3 AND owner = ?4
            """)
        addBytes = try connection.prepare("UPDATE domains SET bytes = bytes + ?2 WHERE id = ?1")
    }
}

extension HistoryFile {
    /// The number of a domain; nil if it has no row.
    func number(of domain: Domain) throws(SQLiteError) -> Int64? {
        defer { statements.findDomain.reset() }
        try statements.findDomain.bind(domain.name, at: 1)
        try statements.findDomain.bind(domain.layer.hostColumn, at: 2)
        return try statements.findDomain.step() ? statements.findDomain.integer(at: 0) : nil
    }

    /// An action by its first generation; nil if there is none.
    func action(_ id: Int64) throws(SQLiteError) -> HistoryAction? {
        defer { statements.findAction.reset() }
        try statements.findAction.bind(id, at: 1)
        return try statements.findAction.step() ? HistoryAction(statements.findAction) : nil
    }

    /// The newest row of a key; nil if there is none, or if it is damaged.
    func newestRow(of key: String, in domain: Int64) throws(SQLiteError) -> HistoryRow? {
        defer { statements.newest.reset() }
        try statements.newest.bind(domain, at: 1)
        try statements.newest.bind(key, at: 2)
        return try statements.newest.step() ? HistoryRow(statements.newest) : nil
    }

    /// The generation whose value a key has since a change: that of the change, or an earlier one if the
    /// change has brought its value back.
    func effective(
        _ generation: Int64, of key: String, in domain: Int64
    ) throws(SQLiteError) -> Int64 {
        try row(endingAt: generation, of: key, in: domain)?.origin ?? generation
    }

    /// The row of a key whose last change a generation is; nil if there is none, or if it is damaged.
    func row(
        endingAt generation: Int64, of key: String, in domain: Int64
    ) throws(SQLiteError) -> HistoryRow? {
        defer { statements.ending.reset() }
        try statements.ending.bind(domain, at: 1)
        try statements.ending.bind(key, at: 2)
        try statements.ending.bind(generation, at: 3)
        guard try statements.ending.step(), let row = HistoryRow(statements.ending),
            row.last == generation
        else { return nil }
        return row
    }
}
