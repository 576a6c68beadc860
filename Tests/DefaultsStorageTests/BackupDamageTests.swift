import DefaultsModel
import Foundation
import SQLite
import TestSupport
import TestTiers
import Testing

@testable import DefaultsStorage

/// The numbers in the names are those of the invariants of `BackupWork`.
@Suite(.startsPrograms) struct BackupDamageTests {
    private static let domain = try? Domain(name: "org.example.App", layer: .domain)

    /// A database with keys, one good backup, and a change after that.
    private func makeDatabase(_ scratch: Scratch) async throws -> Database {
        let database = try scratch.open()
        for number in 0..<300 { try database.set(["key\(number)": [UInt8(number % 256)]]) }
        try database.set(["other": [1]], in: "org.example.Other")
        try await database.flush()
        try database.remove("key7")
        try database.remember(Token("token"), of: Domain(name: "org.example.Other", layer: .domain))
        try await database.flush()
        _ = try await database.backUp(.daily, at: 1)
        try database.set(["later": [1]])
        try await database.flush()
        return database
    }

    /// Runs SQL on the store without the daemon's knowledge.
    private func tamper(_ database: Database, _ sql: String...) throws {
        let connection = try Connection(
            path: database.path, flags: .readWrite, vfs: "unix-excl")
        try connection.pragma("writable_schema", "ON")
        for statement in sql { try connection.execute(statement) }
    }

    @Test("2: a damaged row is named, prevents a backup, and removes no existing one")
    func damagedRow() async throws {
        let scratch = try Scratch()
        let database = try await makeDatabase(scratch)
        try tamper(
            database, "UPDATE entries SET archive = x'ff' WHERE key IN ('key3', 'key5')",
            "UPDATE entries SET checksum = 0 WHERE key = 'key7'")
        let damage = try #require(try await database.backUp(.daily, at: 2).damage)
        #expect(damage.rowCount == 3)
        #expect(Set(damage.rows.map(\.key.name)) == ["key3", "key5", "key7"])
        #expect(damage.rows.allSatisfy { $0.domain == Self.domain })
        #expect(damage.structure == nil)
        #expect(damage.description.hasPrefix("3 stored values are damaged: 'key"))
        #expect(damage.description.hasSuffix(" in org.example.App."))
        #expect(try database.backups().map(\.date) == [1])
        #expect(try scratch.backupFiles().count == 1)
        // Setting them again repairs them.
        try database.set(["key3": [3], "key5": [5], "key7": [7]])
        try await database.flush()
        #expect(try await database.backUp(.daily, at: 2).backup != nil)
    }

    @Test(
        "2: damage that no row shows prevents a backup too",
        arguments: [
            "UPDATE domains SET key_count = key_count + 1 WHERE name = 'org.example.Other'",
            "UPDATE domains SET key_bytes = 0 WHERE name = 'org.example.Other'",
            "UPDATE state SET uuid = x'00'", "UPDATE state SET generation = ceiling + 1",
            "DELETE FROM state",
        ])
    func structure(sql: String) async throws {
        let scratch = try Scratch()
        let database = try await makeDatabase(scratch)
        try tamper(database, sql)
        let damage = try #require(try await database.backUp(.daily, at: 2).damage)
        #expect(damage.structure?.code == .damagedDatabase)
        #expect(damage.rowCount == 0)
        #expect(try database.backups().map(\.date) == [1])
    }

    @Test(
        "An index without the rows of its table is damage",
        arguments: [
            "sqlite_autoindex_entries_1", "entries_by_generation", "removals", "present",
            "sqlite_autoindex_domains_1", "sqlite_autoindex_tokens_1",
        ])
    func index(name: String) async throws {
        let scratch = try Scratch()
        var database = try await makeDatabase(scratch)
        // The root of an index without rows replaces its own.
        try tamper(
            database, "CREATE INDEX empty ON entries (key) WHERE key IS NULL",
            """
            UPDATE sqlite_schema SET rootpage =
                (SELECT rootpage FROM sqlite_schema WHERE name = 'empty') WHERE name = '\(name)'
            """, "DELETE FROM sqlite_schema WHERE name = 'empty'")
        database.close()
        database = try scratch.open()
        let damage = try #require(try await database.backUp(.daily, at: 2).damage)
        #expect(!damage.isNone)
        #expect(try database.backups().map(\.date) == [1])
    }

    @Test("Rows without a domain, or with names that no caller can read, are counted")
    func namelessRows() async throws {
        let scratch = try Scratch()
        let database = try await makeDatabase(scratch)
        try tamper(
            database, "UPDATE entries SET domain = 99 WHERE key = 'key3'",
            "UPDATE entries SET key = '' WHERE key = 'key5'",
            "UPDATE domains SET name = 'not a name' WHERE name = 'org.example.Other'")
        let damage = try #require(try await database.backUp(.daily, at: 2).damage)
        #expect(damage.rowCount == 3)
        #expect(damage.rows == [])
        #expect(damage.description.hasPrefix("3 stored values are damaged. "))
    }

    @Test("Many damaged rows are counted, and some of them named")
    func manyRows() async throws {
        let scratch = try Scratch()
        let database = try await makeDatabase(scratch)
        try tamper(database, "UPDATE entries SET generation = generation + 1")
        let damage = try #require(try await database.backUp(.daily, at: 2).damage)
        #expect(damage.rowCount == 302)
        #expect(damage.rows.count == StoreDamage.namedRows)
        #expect(damage.description.hasSuffix(" and others."))
    }

    @Test("A file whose pages are random is damaged, which is not an error of the disk")
    func randomPages() async throws {
        let scratch = try Scratch()
        let database = try await makeDatabase(scratch)
        database.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: database.path))
        let size = try scratch.size(database.path)
        var generator = SeededGenerator()
        for page in stride(from: 4096 * 8, to: size, by: 4096) {
            try file.seek(toOffset: UInt64(page))
            let bytes = (0..<4096).map { _ in UInt8.random(in: 0...255, using: &generator) }
            try file.write(contentsOf: bytes)
        }
        try file.close()
        let other = try Connection(path: database.path, flags: .readWrite, vfs: "unix-excl")
        let folder = BackupFolder(of: PrivateDirectory(existing: scratch.location.directory))
        let work = try BackupWork(
            .daily, at: 2, of: (other, database.path), in: folder, sparing: nil, leaving: 0)
        var outcome: BackupOutcome?
        while outcome == nil { outcome = try work.advance() }
        #expect(outcome?.damage?.isNone == false)
        #expect(try scratch.backupFiles().count == 1)
    }
}
