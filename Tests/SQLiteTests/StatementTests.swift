import SQLite
import TestTiers
import Testing

@Suite(.startsPrograms) struct StatementTests {
    private func connection() throws -> Connection {
        let connection = try Connection(path: ":memory:", flags: [.readWrite, .create])
        try connection.execute("CREATE TABLE t (i INTEGER, s TEXT, b BLOB) STRICT")
        return connection
    }

    @Test(
        "An integer is read as it was bound", arguments: [0, 1, -1, Int64.max, Int64.min])
    func integers(value: Int64) throws {
        let echo = try connection().prepare("SELECT ?1, typeof(?1)")
        try echo.bind(value, at: 1)
        let hasRow = try echo.step()
        #expect(hasRow)
        #expect(echo.integer(at: 0) == value)
        #expect(echo.text(at: 1) == "integer")
    }

    @Test(
        "Text is read as it was bound",
        arguments: ["", "a", "é", "e\u{301}", "🙂", "a\0b", String(repeating: "long ", count: 999)])
    func texts(value: String) throws {
        let echo = try connection().prepare("SELECT ?1, typeof(?1), length(CAST(?1 AS BLOB))")
        try echo.bind(value, at: 1)
        let hasRow = try echo.step()
        #expect(hasRow)
        #expect(echo.text(at: 0).map { Array($0.utf8) } == Array(value.utf8))
        #expect(echo.text(at: 1) == "text")
        #expect(echo.integer(at: 2) == Int64(value.utf8.count))
    }

    @Test("A blob is read as it was bound", arguments: [0, 1, 4096, 1 << 20])
    func blobs(count: Int) throws {
        let connection = try connection()
        let value = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let insert = try connection.prepare("INSERT INTO t (b) VALUES (?)")
        try insert.run(withBlob: value, at: 1)
        let select = try connection.prepare("SELECT b, typeof(b) FROM t")
        let hasRow = try select.step()
        #expect(hasRow)
        #expect(select.blob(at: 0) == value)
        #expect(select.text(at: 1) == "blob")
    }

    @Test("NULL is distinguished from an empty blob and from an empty text")
    func nulls() throws {
        let select = try connection().prepare("SELECT NULL, x'', ''")
        let hasRow = try select.step()
        #expect(hasRow)
        #expect(select.isNull(at: 0) == true)
        #expect(select.blob(at: 0) == nil)
        #expect(select.text(at: 0) == nil)
        #expect(select.blob(at: 1) == [])
        #expect(select.text(at: 2) == "")
    }

    @Test("Bound values are released after the run: the next one begins with NULL")
    func bindingsEnd() throws {
        let connection = try connection()
        let insert = try connection.prepare("INSERT INTO t (i, b) VALUES (?, ?)")
        try insert.bind(1, at: 1)
        try insert.run(withBlob: [1], at: 2)
        try insert.run()
        let select = try connection.prepare("SELECT i, b FROM t ORDER BY rowid DESC")
        let hasRow = try select.step()
        #expect(hasRow)
        #expect(select.isNull(at: 0) == true)
        #expect(select.isNull(at: 1) == true)
    }

    @Test("A statement can start again after its end and after a failure")
    func reuse() throws {
        let connection = try connection()
        try connection.execute("CREATE UNIQUE INDEX one ON t (i)")
        let insert = try connection.prepare("INSERT INTO t (i) VALUES (1)")
        try insert.run()
        let error = #expect(throws: SQLiteError.self) { try insert.run() }
        #expect(error?.code == .constraint)
        #expect(error?.extendedCode.rawValue == 2067)  // SQLITE_CONSTRAINT_UNIQUE
        #expect(error?.sql == "INSERT INTO t (i) VALUES (1)")
        try connection.execute("DELETE FROM t")
        try insert.run()
    }

    @Test("No error message contains a value")
    func noValueInErrors() throws {
        let connection = try connection()
        try connection.execute("CREATE UNIQUE INDEX one ON t (s)")
        let insert = try connection.prepare("INSERT INTO t (s) VALUES (?)")
        try insert.bind("secret", at: 1)
        try insert.run()
        try insert.bind("secret", at: 1)
        let error = #expect(throws: SQLiteError.self) { try insert.run() }
        #expect(error?.description.contains("t.s") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test("A parameter that does not exist is refused")
    func missingParameter() throws {
        let select = try connection().prepare("SELECT ?")
        let error = #expect(throws: SQLiteError.self) { try select.bind(1, at: 2) }
        #expect(error?.code.rawValue == 25)  // SQLITE_RANGE
    }

    @Test("Text without a statement is refused", arguments: ["", " ", "-- nothing"])
    func noStatement(sql: String) throws {
        let connection = try connection()
        #expect(throws: SQLiteError.self) { _ = try connection.prepare(sql) }
    }

    @Test("A statement outlives its connection")
    func outlives() throws {
        let select = try connection().prepare("SELECT 42")
        let hasRow = try select.step()
        #expect(hasRow)
        #expect(select.integer(at: 0) == 42)
    }
}
