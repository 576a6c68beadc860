import Glibc
import TestSupport
import TestTiers
import Testing

/// A daemon that cannot serve does not end another.
@Suite(.startsPrograms, .serialized) struct HandOverRefusalTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    /// What stands in the way of a database in `place`, made by Python; the exit status, and the words.
    struct Obstacle: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let python: String
        let status: Int32
        let words: String
    }

    static let obstacles = [
        Obstacle(
            testDescription: "the directory is a file", python: "os.rmdir(place); write('', b'')",
            status: 74, words: "cannot be used: open"),
        Obstacle(
            testDescription: "others can enter the directory", python: "os.chmod(place, 0o755)",
            status: 74, words: "chmod 700"),
        Obstacle(
            testDescription: "the lock is no file", python: "os.mkdir(place + '/lock')",
            status: 74, words: "cannot be locked"),
        Obstacle(
            testDescription: "the database is no file", python: "os.mkdir(place + '/defaults.db')",
            status: 74, words: "/defaults.db is not a regular file"),
        Obstacle(
            testDescription: "the database is another program's",
            python: "sql('CREATE TABLE theirs (x)')", status: 65, words: "of another program"),
        Obstacle(
            testDescription: "the database is a later version's",
            python: """
                sql(f'PRAGMA application_id = {0x44664462}; PRAGMA user_version = 99;'
                    'CREATE TABLE later (x)')
                """, status: 65, words: "has version 99 of the schema"),
        Obstacle(
            testDescription: "there is no place for a journal",
            python: "write('/journal', b'')", status: 74, words: "/journal cannot be used"),
    ]

    @Test(arguments: obstacles)
    func `The serving daemon continues, and the other reports its problem`(
        obstacle: Obstacle
    ) throws {
        let first = try desktop.startDaemon()
        #expect(desktop.call("SetValue", "a.b", "key", "<1>").status == 0)
        let owner = try desktop.askBus("GetNameOwner", "org.defaultsd.Defaults1")
        let place = desktop.directory.path + "/place"
        _ = try desktop.python(
            """
            import os, sqlite3, sys
            place = sys.argv[1]
            def write(name, content):
                with open(place + name, "wb") as file: file.write(content)
            def sql(script): sqlite3.connect(place + "/defaults.db").executescript(script)
            os.mkdir(place, 0o700)
            \(obstacle.python)
            """, place
        ).requireOutput()
        var environment = desktop.environment
        environment["XDG_RUNTIME_DIR"] = "/dev/null"

        let second = desktop.run(
            [Desktop.programs + "/defaultsd", "--replace", "--database", place],
            environment: environment)
        #expect(second.status == obstacle.status)
        #expect(second.error.contains(obstacle.words), "\(second.error)")
        #expect(second.error.split(separator: "\n").count == 1)

        #expect(try desktop.askBus("GetNameOwner", "org.defaultsd.Defaults1") == owner)
        #expect(desktop.call("SetValue", "a.b", "key", "<2>").output == "(uint64 3,)\n")
        first.send(SIGTERM)
        try first.requireSuccess()
    }

    @Test func `An older program does not replace a newer one that has the same database open`()
        throws
    {
        let first = try desktop.startDaemon()
        // In the file itself, as a newer program leaves it there; SQLite lets nobody else in.
        _ = try desktop.python(
            """
            import sys
            with open(sys.argv[1], "r+b") as file:
                file.seek(60)
                file.write((99).to_bytes(4, "big"))
            """, desktop.databasePath
        ).requireOutput()
        // Else the tests would wait for it, if it came to serve.
        let second = desktop.run(
            HangGuard.command + [Desktop.programs + "/defaultsd", "--replace"])
        #expect(second.status == 65)
        #expect(second.error.contains("has version 99 of the schema"))
        #expect(first.isRunning)
        #expect(desktop.call("SetValue", "a.b", "key", "<1>").output == "(uint64 2,)\n")
    }
}
