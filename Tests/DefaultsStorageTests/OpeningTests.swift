import DefaultsModel
import Foundation
import SQLite
import TestSupport
import TestTiers
import Testing

@testable import DefaultsStorage

@Suite(.startsPrograms) struct OpeningTests {
    @Test("A second daemon is refused with the host and the process of the first")
    func lock() throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        let error = #expect(throws: StorageError.self) { _ = try scratch.open() }
        #expect(error?.code == .inUse)
        let host = try Scratch.output(of: "uname", "-n")
        let process = ProcessInfo.processInfo.processIdentifier
        #expect(
            error?.description.contains("in use by process \(process) on host \(host).") == true)
        database.close()
        _ = try scratch.open()
    }

    @Test(
        "A lock of another machine is refused with its name, or without one if unknown",
        arguments: [
            ("elsewhere 12\n", "by process 12 on host elsewhere. End the session there."),
            ("", "by another process. Set DBUS_SESSION_BUS_ADDRESS to the bus of that process"),
            (
                "a b c\n",
                "by another process. Set DBUS_SESSION_BUS_ADDRESS to the bus of that process"
            ),
        ])
    func foreignLock(text: String, words: String) throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        // In place, for the lock belongs to this very file.
        let file = try FileHandle(
            forWritingTo: URL(filePath: "\(scratch.location.directory)/lock"))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
        let error = #expect(throws: StorageError.self) { _ = try scratch.open() }
        #expect(error?.code == .inUse)
        #expect(error?.description.contains(words) == true, "\(String(describing: error))")
        database.close()
    }

    @Test("A database that another program has open is in use")
    func openElsewhere() throws {
        let scratch = try Scratch()
        try scratch.open().close()
        let program = """
            import sqlite3, sys
            connection = sqlite3.connect(sys.argv[1])
            connection.execute("BEGIN EXCLUSIVE")
            print("locked", flush=True)
            sys.stdin.read()
            """
        let process = try ChildProcess(
            ["/usr/bin/python3", "-c", program, "\(scratch.location.directory)/defaults.db"],
            input: .pipe, output: .lines)
        #expect(process.lines?.next() == "locked")
        let error = #expect(throws: StorageError.self) { _ = try scratch.open() }
        #expect(error?.code == .inUse)
        try process.input?.close()
        process.waitUntilExit()
        _ = try scratch.open()
    }

    @Test("The header has the program and the schema, and the settings are the safe ones")
    func pragmas() throws {
        let scratch = try Scratch()
        try scratch.open().close()
        #expect(try scratch.query("PRAGMA application_id") == "[(\(0x4466_4462),)]")
        #expect(try scratch.query("PRAGMA user_version") == "[(\(Schema.version),)]")
        #expect(try scratch.query("PRAGMA journal_mode") == "[('wal',)]")
        #expect(try scratch.query("PRAGMA integrity_check") == "[('ok',)]")
        let file = StoreFile(path: "\(scratch.location.directory)/defaults.db")
        #expect(try file.connect().pragma("synchronous") == "2")
    }

    @Test("The ceiling on disk is 2^20 above the last change on disk")
    func ceiling() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["key": [1]])
        try await database.flush()
        database.close()
        #expect(
            try scratch.query("SELECT generation, ceiling, length(uuid) FROM state")
                == "[(2, \(2 + (1 << 20)), 16)]")
    }

    @Test("A newer schema is refused with both versions, and left as it is")
    func newerSchema() throws {
        let scratch = try Scratch()
        try scratch.open().close()
        try scratch.execute("PRAGMA user_version = \(Schema.version + 1)")
        let error = #expect(throws: StorageError.self) { _ = try scratch.open() }
        #expect(error?.code == .newerSchema)
        #expect(error?.description.contains("version \(Schema.version + 1) ") == true)
        #expect(error?.description.contains("up to \(Schema.version).") == true)
        #expect(try scratch.query("PRAGMA user_version") == "[(\(Schema.version + 1),)]")
    }

    @Test("The database of another program is refused and left as it is")
    func foreignDatabase() throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: scratch.location.directory, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try scratch.execute("CREATE TABLE theirs (x)")
        let path = "\(scratch.location.directory)/defaults.db"
        let before = FileManager.default.contents(atPath: path)
        let error = #expect(throws: StorageError.self) { _ = try scratch.open() }
        #expect(error?.code == .notOurDatabase)
        #expect(FileManager.default.contents(atPath: path) == before)
    }

    @Test("A file that is not a database is set aside, with a notice, and not taken for empty")
    func noDatabase() throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: scratch.location.directory, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let path = "\(scratch.location.directory)/defaults.db"
        let bytes = Data(repeating: 7, count: 10_000)
        try bytes.write(to: URL(fileURLWithPath: path))
        let database = try scratch.open()
        #expect(try database.domains().isEmpty)
        #expect(scratch.repair?.contains("damaged at its beginning") == true)
        let aside = try #require(try scratch.damagedFiles().first)
        #expect(
            FileManager.default.contents(atPath: "\(scratch.location.directory)/\(aside)") == bytes)
    }

    @Test(
        "An invalid state is damage that costs nothing, and does not trap",
        arguments: [
            "DELETE FROM state", "UPDATE state SET generation = 0",
            "UPDATE state SET generation = -5", "UPDATE state SET ceiling = 0",
            "UPDATE state SET generation = 9223372036854775807, ceiling = 9223372036854775807",
            "UPDATE state SET uuid = x'00'",
        ])
    func damagedState(sql: String) async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["key": [1]])
        try await database.flush()
        let last = try database.set(["pending": [2]]).generation
        database.close()
        try scratch.execute(sql)
        let again = try scratch.open()
        #expect(scratch.repair != nil)
        #expect(try again.archive("key") == [1])
        #expect(try again.archive("pending") == [2], "the journal is known by its own identity")
        #expect(try again.set(["key": [3]]).generation > last)
    }

    @Test(
        "Totals that were tampered with do not trap",
        arguments: [Int64.max, Int64.min, -1])
    func tamperedTotals(value: Int64) async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["key": [1]])
        try await database.flush()
        database.close()
        try scratch.execute("UPDATE domains SET key_count = \(value), key_bytes = \(value)")
        let again = try scratch.open()
        try again.remove("key")
        #expect(try again.archive("key") == nil)
    }

    @Test(
        "A damaged row costs only itself: all others are read, and setting it repairs it",
        arguments: [
            "archive = x'0102'", "archive = NULL", "archive = x''", "generation = 3",
            "generation = -1", "checksum = checksum + 1", "key = 'renamed'",
        ])
    func damagedRow(assignment: String) async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["bad": Array("a secret".utf8), "good": [2]])
        try await database.flush()
        database.close()
        try scratch.execute("UPDATE entries SET \(assignment) WHERE key = 'bad'")
        let key = assignment.hasPrefix("key") ? "renamed" : "bad"
        let again = try scratch.open()
        #expect(try again.archive("good") == [2])
        let error = #expect(throws: StorageError.self) { _ = try again.archive(key) }
        #expect(error?.code == .damagedRow)
        #expect(error?.key?.name == key)
        #expect(error?.description.contains("secret") == false)
        try again.set([key: [3]])
        #expect(try again.archive(key) == [3])
        try await again.flush()
        #expect(try again.archive(key) == [3])
    }
}
