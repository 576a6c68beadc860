import DefaultsModel
import Foundation
import TestTiers
import Testing

@testable import DefaultsStorage

/// A process that dies abandons its database without a flush and without closing it.
///
/// The numbers in the names are those of the invariants of `Database`.
@Suite(.startsPrograms) struct RecoveryTests {
    @Test("1: acknowledged changes that were not flushed are there after the process died")
    func death() async throws {
        let scratch = try Scratch()
        do {
            let database = try scratch.open()
            try database.set(["kept": [1], "gone": [1]])
            try await database.flush()
            try database.set(["late": [2]])
            try database.remove("gone")
            try database.set(["key": [3]], in: "org.example.App@host:box")
        }
        let database = try scratch.open()
        #expect(try database.keys() == ["kept", "late"])
        #expect(try database.archive("late") == [2])
        #expect(try database.archive("key", in: "org.example.App@host:box") == [3])
        #expect(database.generation.rawValue == 5)
        #expect(database.durableGeneration.rawValue == 2)
        #expect(database.pendingChanges == 3)
        #expect(scratch.noticed("3 acknowledged changes"))
        try await database.flush()
        #expect(database.durableGeneration.rawValue == 5)
        database.close()
        #expect(
            try scratch.query("SELECT name, host, key_count, key_bytes FROM domains ORDER BY host")
                == "[('org.example.App', '', 2, 8), ('org.example.App', 'box', 1, 3)]")
    }

    @Test("1: a process may die repeatedly before anything is flushed")
    func repeatedDeath() throws {
        let scratch = try Scratch()
        for number in 0..<20 {
            try scratch.process { database in
                #expect(database.generation.rawValue == UInt64(number) + 1)
                try database.set(["key\(number)": [UInt8(number)]])
            }
        }
        #expect(try scratch.open().keys().count == 20)
    }

    @Test("1: a process that dies between the commit of a flush and the trim loses nothing")
    func deathAfterCommit() async throws {
        let scratch = try Scratch()
        do {
            let database = try scratch.open()
            try database.set(["a": [1]])
            let batch = try #require(database.beginFlush())
            try database.set(["b": [2]])
            let writer = try database.makeWriter()
            try await writer.write(batch)
            await writer.close()
        }
        let database = try scratch.open()
        #expect(try database.archive("a") == [1])
        #expect(try database.archive("b") == [2])
        #expect(database.durableGeneration.rawValue == 2)
        #expect(database.pendingChanges == 1)
        #expect(database.generation.rawValue == 3)
    }

    @Test("After a flush and an orderly end the journal has one segment and no record")
    func orderlyEnd() async throws {
        let scratch = try Scratch()
        for _ in 0..<3 {
            let database = try scratch.open()
            try database.set(["key": [1]])
            try await database.flush()
            database.close()
            #expect(try scratch.journal().map { try scratch.size($0) } == [JournalHeader.size])
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: scratch.location.directory)
                    .sorted() == ["defaults.db", "journal-place", "lock"])
        }
        #expect(try scratch.open().generation.rawValue == 4)
        #expect(!scratch.noticed("No complete journal"))
    }

    @Test("Without a runtime directory the journal is beside the database")
    func noRuntimeDirectory() throws {
        let scratch = try Scratch(hasRuntimeDirectory: false)
        try scratch.process { try $0.set(["key": [1]]) }
        #expect(try scratch.journal().allSatisfy { $0.contains("/config/defaultsd/journal/") })
        #expect(try scratch.open().archive("key") == [1])
    }

    @Test("A journal beside the database is found by a process that has a runtime directory")
    func runtimeDirectoryAppears() async throws {
        let without = try Scratch(hasRuntimeDirectory: false)
        try without.process { try $0.set(["key": [1], "other": [1]]) }
        let location = DatabaseLocation(
            directory: without.location.directory, runtimeDirectory: "\(without.root)/run")
        try { () throws in
            let database = try Database(at: location, boot: Scratch.boot) { _ in }
            #expect(try database.archive("key") == [1])
            #expect(try database.set(["key": [2]]).generation.rawValue == 3)
        }()
        let database = try Database(at: location, boot: Scratch.boot) { _ in }
        #expect(try database.archive("key") == [2])
        #expect(try database.archive("other") == [1])
        #expect(database.generation.rawValue == 3)
        try await database.flush()
        #expect(try without.journal() == [])
    }

    @Test("3: in another boot the counter continues from the ceiling, with all flushed changes")
    func powerCut() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["a": [1]])
        try await database.flush()
        let lost = try database.set(["b": [2]]).generation
        let after = try scratch.copyWithoutRuntime()
        let restarted = try after.open(boot: .random())
        #expect(try restarted.keys() == ["a"])
        let landing = restarted.generation
        #expect(landing.rawValue >= 3 + Generation.ceilingDistance)
        #expect(restarted.durableGeneration == landing)
        #expect(try restarted.set(["b": [3]]).generation > lost)
        #expect(after.noticed("generations continue from \(landing.rawValue)"))
    }

    @Test("3: a second power cut before the first flush gives no number twice")
    func secondPowerCut() throws {
        let scratch = try Scratch()
        try scratch.process { _ in }
        var given: Set<Generation> = []
        var place = scratch
        for _ in 0..<3 {
            place = try place.copyWithoutRuntime()
            let database = try place.open(boot: .random())
            for key in ["a", "b"] {
                #expect(given.insert(try database.set([key: [1]]).generation).inserted)
            }
        }
    }

    @Test("3: a journal on disk that outlives the machine is replayed, and the counter jumps")
    func journalOfAnotherBoot() async throws {
        let scratch = try Scratch(hasRuntimeDirectory: false)
        try scratch.process { try $0.set(["key": [1]]) }
        let database = try scratch.open(boot: .random())
        #expect(try database.archive("key") == [1])
        #expect(database.generation.rawValue >= 2 + Generation.ceilingDistance)
        #expect(database.durableGeneration == database.generation)
        database.close()
        #expect(try scratch.query("SELECT key, generation FROM entries") == "[('key', 2)]")
    }

    @Test("3: after a backup was restored, the counter continues above every number given")
    func restoredBackup() async throws {
        let scratch = try Scratch()
        let files = FileManager.default
        let path = "\(scratch.location.directory)/defaults.db"
        try await {
            let database = try scratch.open()
            try database.set(["a": [1]])
            try await database.flush()
            database.close()
        }()
        try files.copyItem(atPath: path, toPath: "\(path).backup")
        let last = try await {
            let database = try scratch.open()
            try database.set(["a": [2]])
            try await database.flush()
            let last = try database.set(["b": [2]]).generation
            try await database.flush()
            database.close()
            return last
        }()
        try files.removeItem(atPath: path)
        try files.moveItem(atPath: "\(path).backup", toPath: path)
        let database = try scratch.open()
        #expect(try database.keys() == ["a"])
        #expect(try database.archive("a") == [1])
        #expect(try database.set(["c": [3]]).generation > last)
        #expect(scratch.noticed("continue from"))
    }

    @Test("3: restored twice from one backup, it gives no number of the first time again")
    func restoredTwice() async throws {
        let backup = try Scratch()
        let domain = try Domain(name: "org.example.App", layer: .domain)
        let original = try backup.open()
        try original.set(["old": [1]])
        try await original.flush()
        original.close()
        var given: Set<Generation> = []
        for round: UInt8 in 2..<5 {
            let restored = try backup.copyWithoutRuntime()
            let database = try restored.open(boot: .random())
            // A copy that somebody keeps of another round is not taken for one of this.
            for lost in given {
                #expect(try !database.changes(of: domain, since: lost).isComplete)
            }
            for key in ["a", "b", "old"] {
                let generation = try database.set([key: [round]]).generation
                #expect(given.insert(generation).inserted)
            }
            try await database.flush()
        }
    }

    @Test("The journal of another database is set aside, neither read nor removed")
    func foreignJournal() throws {
        let scratch = try Scratch()
        try scratch.process { try $0.set(["old": [1]]) }
        let foreign = try scratch.journalWithRecords()
        let bytes = FileManager.default.contents(atPath: foreign)
        let other = try Scratch()
        try other.open().close()
        try FileManager.default.removeItem(atPath: scratch.store)
        try FileManager.default.copyItem(atPath: other.store, toPath: scratch.store)
        try? FileManager.default.removeItem(atPath: scratch.store + "-wal")
        let database = try scratch.open()
        #expect(try database.keys() == [])
        #expect(scratch.noticed("belongs to another database"))
        #expect(FileManager.default.contents(atPath: "\(foreign).1.aside") == bytes)
    }

    @Test("The rest of a segment that was never whole is removed")
    func unfinishedSegment() throws {
        let scratch = try Scratch()
        try scratch.process { try $0.set(["key": [1]]) }
        let leftover = try scratch.journalWithRecords() + JournalSegment.unfinishedSuffix
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: leftover))
        #expect(try scratch.open().archive("key") == [1])
        #expect(!FileManager.default.fileExists(atPath: leftover))
    }
}
