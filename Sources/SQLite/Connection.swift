internal import CSQLite

/// One connection to a SQLite database file.
///
/// A connection has no lock: it may move between threads, but only one thread at a time uses it. It
/// is not `Sendable`, so the compiler checks that.
///
/// ```swift
/// let connection = try Connection(path: "/tmp/books.db", flags: [.readWrite, .create])
/// try connection.execute("CREATE TABLE books (title TEXT) STRICT")
/// try connection.transaction {
///     let insert = try connection.prepare("INSERT INTO books VALUES (?)")
///     try insert.bind("Emma", at: 1)
///     try insert.run()
/// }
/// ```
package final class Connection {
    /// The one owner of the C handle, closed in `deinit`.
    ///
    /// `sqlite3_close_v2` lets a `Statement` outlive its connection: the handle is freed when the
    /// last statement is finalized.
    let handle: OpaquePointer

    /// The version of the SQLite library that this process uses.
    package static var libraryVersion: String { String(cString: sqlite3_libversion()) }

    /// Done before the first connection: most connections need only few pages of memory.
    private static let allocation = csqlite_allocate_pages_singly()

    /// How SQLite opens a file, as open(2) does.
    package typealias Open = @convention(c) (UnsafePointer<CChar>?, Int32, Int32) -> Int32
    /// How SQLite removes a file, as unlink(2) does.
    package typealias Unlink = @convention(c) (UnsafePointer<CChar>?) -> Int32

    /// From now on, all connections of this process open and remove files in this way.
    ///
    /// Call this before there is a second thread.
    package static func useSystemCalls(open: Open, unlink: Unlink) {
        // All VFSes of SQLite for Unix have the same table of calls.
        guard let vfs = sqlite3_vfs_find(nil) else { return }
        // SQLite calls each function by the type that it has.
        let calls = [
            ("open", unsafeBitCast(open, to: sqlite3_syscall_ptr.self)),
            ("unlink", unsafeBitCast(unlink, to: sqlite3_syscall_ptr.self)),
        ]
        for (name, call) in calls { _ = vfs.pointee.xSetSystemCall?(vfs, name, call) }
    }

    /// Opens a database file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - flags: How to open it.
    ///   - vfs: The name of the VFS, such as `unix-excl`; SQLite's default if it is nil.
    /// - Throws: The reason SQLite gives. A damaged file is often noticed only by the first
    ///   statement.
    package init(path: String, flags: OpenFlags, vfs: String? = nil) throws(SQLiteError) {
        _ = Self.allocation
        var opened: OpaquePointer?
        // NOMUTEX: one thread at a time uses the connection, as the type's contract says.
        // EXRESCODE: every result is the extended code, the primary one is its low byte.
        let options = flags.rawValue | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = ResultCode(rawValue: sqlite3_open_v2(path, &opened, options, vfs))
        guard code == .ok, let opened else {
            let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? code.description
            // After a failure, too, a handle that was made must be closed.
            sqlite3_close_v2(opened)
            throw SQLiteError(extendedCode: code, message: message, sql: path)
        }
        handle = opened
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    /// Compiles one statement.
    ///
    /// - Throws: If the SQL is wrong or names something that does not exist, or if the file cannot
    ///   be read.
    package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        var compiled: OpaquePointer?
        let code = sqlite3_prepare_v3(
            handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &compiled, nil)
        try check(code, sql)
        guard let compiled else {
            throw SQLiteError(
                extendedCode: ResultCode(rawValue: SQLITE_MISUSE),
                message: "there is no statement in the text", sql: sql)
        }
        return Statement(owning: compiled, sql: sql)
    }

    /// Runs SQL without values, and ignores its rows.
    ///
    /// There may be several statements, separated by semicolons.
    ///
    /// - Throws: If one of them fails; those after it are not run.
    package func execute(_ sql: String) throws(SQLiteError) {
        try check(sqlite3_exec(handle, sql, nil, nil, nil), sql)
    }

    /// Reads or sets a pragma.
    ///
    /// - Parameters:
    ///   - name: The pragma, such as `journal_mode`.
    ///   - value: The new value; nil to read only.
    /// - Returns: The first column of the first row as text; for most pragmas, the current value.
    ///   Nil if there is no row.
    /// - Throws: If SQLite refuses it.
    @discardableResult
    package func pragma(_ name: String, _ value: String? = nil) throws(SQLiteError) -> String? {
        let sql = value.map { "PRAGMA \(name) = \($0)" } ?? "PRAGMA \(name)"
        let statement = try prepare(sql)
        guard try statement.step() else { return nil }
        return statement.text(at: 0)
    }

    /// Whether a transaction is open.
    ///
    /// A severe error, such as a full disk, ends it.
    package var isInTransaction: Bool {
        sqlite3_get_autocommit(handle) == 0
    }

    /// How many rows the last completed INSERT, UPDATE or DELETE has changed.
    ///
    /// See [sqlite3_changes](https://www.sqlite.org/c3ref/changes.html).
    package var changedRows: Int {
        Int(sqlite3_changes64(handle))
    }

    /// Whether closing leaves the write-ahead log as it is.
    ///
    /// By default, SQLite folds it back.
    ///
    /// See [SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE](https://www.sqlite.org/c3ref/c_dbconfig_defensive.html).
    package func keepLogOnClose(_ isKept: Bool) {
        // It fails only on an invalid connection.
        _ = csqlite_keep_log_on_close(handle, isKept ? 1 : 0)
    }

    private func check(_ code: Int32, _ sql: String) throws(SQLiteError) {
        guard code == SQLITE_OK else { throw failure(code, sql) }
    }

    /// The failure of the last call.
    func failure(_ code: Int32, _ sql: String) -> SQLiteError {
        SQLiteError(ofLastCallOn: handle, code: code, sql: sql)
    }
}

extension Connection {
    /// Runs `body` as one transaction: everything that it wrote is kept, or nothing.
    ///
    /// The transaction locks the database for writing at once, so it cannot fail later because
    /// another connection has written. Transactions do not nest.
    ///
    /// - Returns: What `body` returns, after the commit. With `synchronous = FULL` it is then on
    ///   disk.
    /// - Throws: The error of `body`, or of SQLite if it cannot begin or commit. Nothing is kept.
    package func transaction<Result>(
        _ body: () throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        precondition(!isInTransaction, "a transaction is open already, and they do not nest")
        try execute("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // Some errors have already rolled back. If this fails, too, the first error says the
            // cause.
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }
}

/// How a database file is opened.
///
/// See [Flags For File Open Operations](https://www.sqlite.org/c3ref/c_open_autoproxy.html).
package struct OpenFlags: OptionSet, Sendable {
    /// The bits for SQLite's C API.
    package let rawValue: Int32

    /// Wraps bits of SQLite's C API.
    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Open for reading only.
    package static let readOnly = OpenFlags(rawValue: SQLITE_OPEN_READONLY)
    /// The path is a URI, which may have parameters.
    package static let uri = OpenFlags(rawValue: SQLITE_OPEN_URI)
    /// Open for reading and writing.
    package static let readWrite = OpenFlags(rawValue: SQLITE_OPEN_READWRITE)
    /// Create the file if it is missing.
    package static let create = OpenFlags(rawValue: SQLITE_OPEN_CREATE)
}
