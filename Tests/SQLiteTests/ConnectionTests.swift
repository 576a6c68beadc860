import SQLite
import TestTiers
import Testing

@Suite(.startsPrograms) struct ConnectionTests {
    @Test("A transaction that throws leaves nothing")
    func transactionRollsBack() throws {
        let connection = try Connection(path: ":memory:", flags: [.readWrite, .create])
        try connection.execute("CREATE TABLE t (x INTEGER UNIQUE) STRICT")
        #expect(throws: SQLiteError.self) {
            try connection.transaction { () throws(SQLiteError) in
                try connection.execute("INSERT INTO t VALUES (1)")
                try connection.execute("INSERT INTO t VALUES (1)")
            }
        }
        #expect(!connection.isInTransaction)
        let count = try connection.prepare("SELECT count(*) FROM t")
        let hasRow = try count.step()
        #expect(hasRow)
        #expect(count.integer(at: 0) == 0)
    }

    @Test("A transaction that returns is seen by another SQLite")
    func transactionCommits() throws {
        let file = try ScratchFile()
        let result = try {
            let connection = try Connection(path: file.path, flags: [.readWrite, .create])
            try connection.execute("CREATE TABLE t (x INTEGER) STRICT")
            return try connection.transaction { () throws(SQLiteError) in
                try connection.execute("INSERT INTO t VALUES (7)")
                return "done"
            }
        }()
        #expect(result == "done")
        let seen = try file.python(
            "print(sqlite3.connect(path).execute('SELECT x FROM t').fetchall())")
        #expect(seen == "[(7,)]\n")
    }

    @Test("A full database ends the transaction, and the first error is thrown")
    func fullDatabase() throws {
        let connection = try Connection(path: ":memory:", flags: [.readWrite, .create])
        try connection.execute("CREATE TABLE t (x BLOB) STRICT")
        try connection.pragma("max_page_count", "4")
        let error = #expect(throws: SQLiteError.self) {
            try connection.transaction { () throws(SQLiteError) in
                try connection.execute("INSERT INTO t VALUES (zeroblob(100000))")
            }
        }
        #expect(error?.code == .full)
        #expect(!connection.isInTransaction)
        try connection.execute("INSERT INTO t VALUES (zeroblob(10))")
    }

    @Test("A pragma returns its value, and nil if it has none")
    func pragmas() throws {
        let file = try ScratchFile()
        let connection = try Connection(path: file.path, flags: [.readWrite, .create])
        #expect(try connection.pragma("journal_mode", "WAL") == "wal")
        #expect(try connection.pragma("synchronous", "FULL") == nil)
        #expect(try connection.pragma("synchronous") == "2")
    }

    @Test("A missing file cannot be opened, and the error names it")
    func missingFile() throws {
        let error = #expect(throws: SQLiteError.self) {
            _ = try Connection(path: "/nonexistent/x.db", flags: .readWrite)
        }
        #expect(error?.code == .cannotOpen)
        #expect(error?.description.contains("/nonexistent/x.db") == true)
    }

    @Test("A file that is not a database is reported by the first statement")
    func noDatabase() throws {
        let file = try ScratchFile()
        _ = try file.python("open(path, 'w').write('no database at all' * 100)")
        let connection = try Connection(path: file.path, flags: .readWrite)
        let error = #expect(throws: SQLiteError.self) { try connection.pragma("user_version") }
        #expect(error?.code == .notADatabase)
    }

    @Test("With unix-excl this process has two connections, and another process has none")
    func exclusiveVFS() throws {
        let file = try ScratchFile()
        let writer = try Connection(
            path: file.path, flags: [.readWrite, .create], vfs: "unix-excl")
        try writer.pragma("journal_mode", "WAL")
        try writer.execute("CREATE TABLE t (x INTEGER) STRICT")
        let reader = try Connection(path: file.path, flags: .readWrite, vfs: "unix-excl")
        let count = try reader.prepare("SELECT count(*) FROM t")
        try writer.execute("INSERT INTO t VALUES (1)")
        let hasRow = try count.step()
        #expect(hasRow)
        #expect(count.integer(at: 0) == 1)
        let other = try file.python(
            """
            try:
                print(sqlite3.connect(path, timeout=0).execute('SELECT x FROM t').fetchall())
            except sqlite3.OperationalError as error:
                print(error)
            """)
        #expect(other == "database is locked\n")
    }
}
