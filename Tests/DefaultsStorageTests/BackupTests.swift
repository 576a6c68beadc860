import DefaultsModel
import Foundation
import SQLite
import TestTiers
import Testing

@testable import DefaultsStorage

/// The numbers in the names are those of the invariants of `BackupWork`.
@Suite(.startsPrograms) struct BackupTests {
    /// Fills a database with values of several kinds and flushes it.
    private func fill(_ database: Database, keys: Int = 100) async throws {
        for number in 0..<keys {
            try database.set(
                ["key\(number)": [UInt8](repeating: UInt8(number % 251), count: number % 500)],
                in: "org.example.App\(number % 7)")
        }
        try database.set(["here": [1], "gone": [2]], in: "org.example.App0@host")
        try await database.flush()
        try database.remove("gone", in: "org.example.App0@host")
        try database.clear("org.example.App1")
        try database.remember(Token("token"), of: Domain(name: "org.example.App2", layer: .domain))
        try await database.flush()
    }

    @Test("A backup is a complete database, in a file that only the owner can read")
    func backup() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try await fill(database)
        let made = try await database.backUp(.manual, at: 1_795_000_000)
        let backup = try #require(made.backup)
        #expect(backup.name == "2026-11-18T110640Z-\(database.generation)-manual")
        #expect(backup.kind == .manual && backup.date == 1_795_000_000)
        #expect(backup.generation == database.durableGeneration)
        #expect(try backup.size == scratch.size(backup.path))
        #expect(try database.backups() == [backup])
        let attributes = try FileManager.default.attributesOfItem(atPath: backup.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try scratch.backupFiles() == [backup.name + ".db"])
        database.close()
        #expect(try scratch.query("PRAGMA integrity_check", of: backup) == "[('ok',)]")
        #expect(try scratch.query("PRAGMA journal_mode", of: backup) == "[('delete',)]")
        for table in ["state", "domains", "entries", "tokens"] {
            let rows = "SELECT * FROM \(table) ORDER BY 1"
            #expect(try scratch.query(rows, of: backup) == scratch.query(rows))
        }
    }

    @Test("An empty database has a backup too")
    func emptyDatabase() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        let backup = try #require(try await database.backUp(.daily, at: 0).backup)
        #expect(backup.name == "1970-01-01T000000Z-1-daily")
        #expect(try scratch.query("PRAGMA integrity_check", of: backup) == "[('ok',)]")
    }

    @Test("4: changes during a backup are in it, and wait for one step")
    func writesMeanwhile() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try await fill(database, keys: 5000)
        let writer = try database.makeWriter()
        async let outcome = writer.backUp(.manual, at: 1)
        var flushes = 0
        while try scratch.backupFiles().allSatisfy({ !$0.hasSuffix(".db") }) {
            try database.set(["meanwhile": [UInt8(flushes % 256)]])
            try await database.flush(by: writer)
            flushes += 1
        }
        let backup = try #require(try await outcome.backup)
        await writer.close()
        database.close()
        #expect(flushes > 1)
        #expect(try scratch.query("PRAGMA integrity_check", of: backup) == "[('ok',)]")
        let meanwhile = try scratch.query(
            "SELECT count(*) FROM entries WHERE key = 'meanwhile'", of: backup)
        #expect(meanwhile == "[(1,)]")
        #expect(
            try scratch.query("SELECT generation FROM state", of: backup)
                == "[(\(backup.generation),)]")
    }

    @Test("3: a backup that is cancelled leaves nothing, and another can be made")
    func givenUp() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try await fill(database, keys: 5000)
        let writer = try database.makeWriter()
        async let outcome = writer.backUp(.manual, at: 1)
        while try scratch.backupFiles().isEmpty { await Task.yield() }
        await writer.giveUpBackup()
        guard case .givenUp = try await outcome else {
            Issue.record("the backup was made all the same")
            return
        }
        #expect(try scratch.backupFiles() == [])
        async let second = writer.backUp(.manual, at: 1)
        while try scratch.backupFiles().isEmpty { await Task.yield() }
        await writer.close()
        guard case .givenUp = try await second else {
            Issue.record("the backup was made all the same")
            return
        }
        #expect(try scratch.backupFiles() == [])
        #expect(try await database.backUp(.manual, at: 1).backup != nil)
    }

    @Test("3: the unfinished files of a process that died are removed by the next backup")
    func leftOver() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try await fill(database)
        let folder = "\(scratch.location.directory)/backups"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        for name in ["backup.unfinished", "backup.unfinished-wal", "notes.txt"] {
            try Data("left".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        }
        #expect(try database.backups() == [])
        let backup = try #require(try await database.backUp(.daily, at: 1).backup)
        #expect(try scratch.backupFiles() == [backup.name + ".db", "notes.txt"])
    }

    @Test("If other programs would have no space beside a backup, the disk is left as it is")
    func noSpace() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try await fill(database)
        let error = await #expect(throws: StorageError.self) {
            try await database.backUp(.daily, at: 1, leaving: .max / 2)
        }
        #expect(error?.code == .cannotBackUp)
        #expect(error?.description.contains("Make space on the disk.") == true)
        #expect(try scratch.backupFiles() == [])
    }

    @Test(
        "3: a disk that fills up during a backup makes only the backup fail",
        .enabled(if: SmallFileSystem.isAvailable, "only root may mount a small file system"))
    func fullDisk() async throws {
        let disk = try SmallDisk()
        let database = try disk.open()
        try database.set(["large": [UInt8](repeating: 3, count: 400_000)])
        try await database.flush()
        let first = try #require(try await database.backUp(.daily, at: 1, leaving: 0).backup)
        try database.set(["more": [UInt8](repeating: 4, count: 400_000)])
        try await database.flush()
        let error = await #expect(throws: StorageError.self) {
            // So that the space is not checked before.
            try await database.backUp(.daily, at: 2, leaving: -(1 << 30))
        }
        #expect(error?.code == .cannotBackUp)
        #expect((error?.cause as? SQLiteError)?.code == .full)
        #expect(try disk.scratch.backupFiles() == [first.name + ".db"])
        try database.set(["small": [1]])
        try await database.flush()
        database.close()
    }

    @Test("2: only the newest seven of each kind are kept")
    func rotation() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        var made: [Backup] = []
        for number in 0..<10 {
            try database.set(["key": [UInt8(number)]])
            try await database.flush()
            // The clock goes backwards, which generations do not.
            for kind in Backup.Kind.allCases {
                let outcome = try await database.backUp(kind, at: UInt64(1000 - number))
                made.append(try #require(outcome.backup))
            }
        }
        let kept = try database.backups()
        #expect(kept == made.suffix(7 * Backup.Kind.allCases.count).reversed().sorted(by: >))
        #expect(kept.filter { $0.kind == .daily }.count == 7)
        #expect(kept.first?.generation == database.generation)
    }
}

extension BackupOutcome {
    /// The backup that was made; nil if none was.
    var backup: Backup? {
        guard case .made(let backup) = self else { return nil }
        return backup
    }

    /// The damage that was found; nil if there was none.
    var damage: StoreDamage? {
        guard case .damaged(let damage) = self else { return nil }
        return damage
    }
}

extension Database {
    /// Makes a backup with its own writer.
    func backUp(
        _ kind: Backup.Kind, at date: UInt64, sparing spared: Backup? = nil,
        leaving reserve: Int = BackupWork.spaceToLeave
    ) async throws -> BackupOutcome {
        let writer = try makeWriter()
        do {
            let outcome = try await writer.backUp(
                kind, at: date, sparing: spared, leaving: reserve)
            await writer.close()
            return outcome
        } catch {
            await writer.close()
            throw error
        }
    }
}

extension Scratch {
    /// The files in the directory of backups, in order.
    func backupFiles() throws -> [String] {
        let path = "\(location.directory)/backups"
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    /// What Python's sqlite3 module gives for a query of a backup.
    func query(_ sql: String, of backup: Backup) throws -> String {
        try Scratch.output(
            of: "/usr/bin/python3", "-c",
            "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall())",
            backup.path, sql)
    }
}
