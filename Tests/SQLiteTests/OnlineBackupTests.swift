import SQLite
import TestTiers
import Testing

@Suite(.startsPrograms) struct OnlineBackupTests {
    private static let rows =
        "print(sqlite3.connect(path).execute('SELECT count(*), total(x) FROM t').fetchall())"

    /// A database in WAL mode of some hundred pages.
    private func makeSource(_ file: ScratchFile) throws -> Connection {
        let source = try Connection(
            path: file.path, flags: [.readWrite, .create], vfs: "unix-excl")
        try source.pragma("journal_mode", "WAL")
        try source.execute("CREATE TABLE t (x INTEGER, b BLOB) STRICT")
        try source.transaction { () throws(SQLiteError) in
            for _ in 0..<500 { try source.execute("INSERT INTO t VALUES (1, zeroblob(3000))") }
        }
        return source
    }

    @Test("A copy in steps equals the source, and another SQLite can read it alone")
    func copy() throws {
        let (file, copyFile) = (try ScratchFile(), try ScratchFile())
        let source = try makeSource(file)
        var steps = 1
        try {
            let copy = try Connection(path: copyFile.path, flags: [.readWrite, .create])
            let backup = try OnlineBackup(of: source, onto: copy)
            while try backup.step(pages: 100) { steps += 1 }
            #expect(try copy.pragma("journal_mode", "DELETE") == "delete")
        }()
        #expect(steps > 4)
        #expect(try copyFile.python(OnlineBackupTests.rows) == "[(500, 500.0)]\n")
        #expect(
            try copyFile.python("print(open(path, 'rb').read(20)[18:20])") == "b'\\x01\\x01'\n")
    }

    @Test(
        "Writes of the source's connection between two steps are in the copy, without a restart")
    func writesMeanwhile() throws {
        let (file, copyFile) = (try ScratchFile(), try ScratchFile())
        let source = try makeSource(file)
        var steps = 1
        try {
            let copy = try Connection(path: copyFile.path, flags: [.readWrite, .create])
            let backup = try OnlineBackup(of: source, onto: copy)
            while try backup.step(pages: 100) {
                steps += 1
                try source.execute("UPDATE t SET x = x + 1")
            }
            try copy.pragma("journal_mode", "DELETE")
        }()
        #expect(steps < 10)
        #expect(try copyFile.python(OnlineBackupTests.rows) == "[(500, \(500 * steps).0)]\n")
    }

    @Test("Writes of another connection are in the copy, too")
    func otherWriter() throws {
        let (file, copyFile) = (try ScratchFile(), try ScratchFile())
        let source = try makeSource(file)
        let other = try Connection(path: file.path, flags: .readWrite, vfs: "unix-excl")
        try {
            let copy = try Connection(path: copyFile.path, flags: [.readWrite, .create])
            let backup = try OnlineBackup(of: source, onto: copy)
            var isChanged = false
            while try backup.step(pages: 100) {
                if !isChanged { try other.execute("UPDATE t SET x = 7") }
                isChanged = true
            }
            try copy.pragma("journal_mode", "DELETE")
        }()
        #expect(try copyFile.python(OnlineBackupTests.rows) == "[(500, 3500.0)]\n")
    }

    @Test("A copy that is abandoned, or fails, leaves the source as it was")
    func unfinished() throws {
        let (file, copyFile) = (try ScratchFile(), try ScratchFile())
        let source = try makeSource(file)
        let copy = try Connection(path: copyFile.path, flags: [.readWrite, .create])
        do {
            let backup = try OnlineBackup(of: source, onto: copy)
            #expect(try backup.step(pages: 10))
        }
        try copy.pragma("max_page_count", "20")
        let backup = try OnlineBackup(of: source, onto: copy)
        let error = #expect(throws: SQLiteError.self) {
            while try backup.step(pages: 10) {}
        }
        #expect(error?.code == .full)
        try source.execute("INSERT INTO t VALUES (1, NULL)")
        let count = try source.prepare("SELECT count(*) FROM t")
        #expect(try count.step())
        #expect(count.integer(at: 0) == 501)
    }

    @Test("A connection cannot be copied onto itself")
    func ontoItself() throws {
        let connection = try Connection(path: ":memory:", flags: [.readWrite, .create])
        let error = #expect(throws: SQLiteError.self) {
            _ = try OnlineBackup(of: connection, onto: connection)
        }
        #expect(error?.message.contains("source and destination must be distinct") == true)
    }
}
