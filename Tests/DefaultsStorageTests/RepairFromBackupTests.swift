import DefaultsModel
import Foundation
import TestTiers
import Testing

@testable import DefaultsStorage

/// What backups add to a damaged store, and what they do not.
@Suite(.startsPrograms) struct RepairFromBackupTests {
    /// A database with a backup in the middle of its life, closed.
    private func filled() async throws -> Scratch {
        let scratch = try Scratch()
        let database = try scratch.open()
        for number in 0..<200 {
            try database.set(["key\(number)": [UInt8](repeating: 1, count: 200)])
        }
        try database.set(["removed": [1], "changed": [1]], in: "org.example.Other")
        try database.set(["all": [1]], in: "org.example.Cleared")
        try await database.flush()
        _ = try #require(try await database.backUp(.daily, at: 1_795_000_000).backup)
        try database.remove("removed", in: "org.example.Other")
        try database.set(["changed": [2], "new": [3]], in: "org.example.Other")
        try database.clear("org.example.Cleared")
        try await database.flush()
        database.close()
        return scratch
    }

    private func damage(_ scratch: Scratch, _ change: (inout [UInt8]) -> Void) throws {
        var bytes = try scratch.bytes(scratch.store)
        change(&bytes)
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.store))
    }

    @Test("If the database is gone, everything in the newest backup is there, and the log says so")
    func gone() async throws {
        let scratch = try await filled()
        try FileManager.default.removeItem(atPath: scratch.store)
        let database = try scratch.open()
        #expect(try database.keys().count == 200)
        #expect(try database.archive("changed", in: "org.example.Other") == [1])
        #expect(try database.archive("removed", in: "org.example.Other") == [1])
        let repair = try #require(scratch.repair)
        #expect(repair.contains("missing or empty"))
        #expect(repair.contains("203 keys were taken from the backup 2026-11-18T110640Z-"))
        // Once more it is opened as any other.
        database.close()
        let again = try scratch.open()
        #expect(scratch.notices.filter { $0.description.contains("was rebuilt") }.count == 1)
        #expect(try again.keys().count == 200)
    }

    @Test(
        "Values of a lost page come from the backup, but not those changed or removed since")
    func page() async throws {
        let scratch = try await filled()
        // The value of a key in the middle tells the page.
        let bytes = try scratch.bytes(scratch.store)
        let key = try #require(bytes.firstRange(of: Array("key100".utf8)))
        let page = key.lowerBound / 4096
        try damage(scratch) { bytes in
            for index in page * 4096..<(page + 1) * 4096 { bytes[index] = 0xAA }
        }
        let database = try scratch.open(damage: "A page was lost.")
        #expect(try database.keys().count == 200)
        for number in 0..<200 {
            #expect(
                try database.archive("key\(number)") == [UInt8](repeating: 1, count: 200))
        }
        #expect(try database.keys(in: "org.example.Other") == ["changed", "new"])
        #expect(try database.archive("changed", in: "org.example.Other") == [2])
        #expect(try database.keys(in: "org.example.Cleared").isEmpty)
        #expect(scratch.repair?.contains("Nothing else is known to be missing.") == true)
    }

    @Test("Another name in the row of a cleared domain brings none of its keys from the backup")
    func rowOfClearedDomain() async throws {
        let scratch = try await filled()
        let root = try scratch.query("SELECT rootpage FROM sqlite_schema WHERE name = 'domains'")
        let page = try #require(Int(root.filter(\.isNumber))) - 1
        let name = Array("org.example.Cleared".utf8)
        try damage(scratch) { bytes in
            let rows = bytes[page * 4096..<(page + 1) * 4096]
            if let found = rows.firstRange(of: name) {
                bytes[found.upperBound - 1] = UInt8(ascii: "k")
            }
        }
        let database = try scratch.open(damage: "A row is damaged.")
        #expect(try database.keys(in: "org.example.Cleared").isEmpty)
        #expect(try database.keys(in: "org.example.Other") == ["changed", "new"])
    }

    @Test("A damaged backup gives what can be read of it, and an older one the rest")
    func damagedBackup() async throws {
        let scratch = try await filled()
        let again = try scratch.open()
        try again.set(["late": [9]])
        try await again.flush()
        let newest = try #require(try await again.backUp(.manual, at: 1_795_100_000).backup)
        again.close()
        try FileManager.default.removeItem(atPath: scratch.store)
        var bytes = try scratch.bytes(newest.path)
        for index in 0..<100 { bytes[index] = 0 }
        let key = try #require(bytes.firstRange(of: Array("key100".utf8)))
        bytes[key.lowerBound + 20] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: newest.path))
        let database = try scratch.open()
        #expect(try database.archive("late") == [9])
        #expect(try database.archive("key99") == [UInt8](repeating: 1, count: 200))
        #expect(try database.archive("key100") == [UInt8](repeating: 1, count: 200))
    }

    @Test(
        "If a killed process leaves no log, the newest backup gives what only the log had",
        arguments: [false, true])
    func lostLog(_ isEarlierVersion: Bool) async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["key": [1]])
        try await database.flush()
        _ = try #require(try await database.backUp(.daily, at: 1).backup)
        let killed = try scratch.copyWithoutRuntime()
        database.close()
        try FileManager.default.removeItem(atPath: killed.store + "-wal")
        if isEarlierVersion {
            // Such a process has noted no generation.
            try Data("host 1\nwritten\n".utf8).write(
                to: URL(fileURLWithPath: "\(killed.location.directory)/lock"))
        }
        let again = try killed.open()
        #expect(try again.archive("key") == [1])
        let reason = isEarlierVersion ? "older than its newest" : "lacks changes that"
        #expect(killed.repair?.contains(reason) == true, "\(killed.notices)")
    }

    @Test("A key that is newer in the backup is counted once, as one of the backup")
    func countedOnce() async throws {
        let scratch = try Scratch()
        func set(_ value: UInt8) async throws -> Database {
            let database = try scratch.open()
            for number in 0..<10 { try database.set(["key\(number)": [value]]) }
            if value == 1 { try database.set(["alone": [1]]) }
            try await database.flush()
            return database
        }
        try await set(1).close()
        let older = try scratch.bytes(scratch.store)
        let database = try await set(2)
        try database.remove("alone")
        try await database.flush()
        _ = try #require(try await database.backUp(.daily, at: 1).backup)
        let killed = try scratch.copyWithoutRuntime()
        database.close()
        // The file is as before the second values, and what came after it is gone.
        try Data(older).write(to: URL(fileURLWithPath: killed.store))
        try FileManager.default.removeItem(atPath: killed.store + "-wal")
        let again = try killed.open()
        #expect(try again.archive("key9") == [2])
        let report = try #require(killed.repair)
        #expect(report.contains("10 keys were taken from the backup"), "\(report)")
        #expect(!report.contains("were read from it"), "\(report)")
        #expect(
            report.contains("For every key, a backup had the newest readable value"), "\(report)")
    }

    @Test("If a log is missing, this is reported even if nothing can be done")
    func missingLog() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["key": [1]])
        try await database.flush()
        let killed = try scratch.copyWithoutRuntime()
        database.close()
        try FileManager.default.removeItem(atPath: killed.store + "-wal")
        let again = try killed.open(boot: .random())
        #expect(again.lastRepair?.report.contains("lacks changes that were on disk") == true)
        #expect(
            again.lastRepair?.report.contains("If there were other keys, they are lost") == true)
        #expect(killed.noticed("write-ahead log"))
        again.close()
        // One that was closed has none.
        let closed = try scratch.copyWithoutRuntime()
        #expect(try closed.open(boot: .random()).lastRepair == nil)
    }

    @Test("A backup of another database is not used")
    func foreignBackup() async throws {
        let scratch = try await filled()
        let other = try Scratch()
        let database = try other.open()
        for number in 0..<300 { try database.set(["key\(number)": [7]]) }
        try await database.flush()
        let foreign = try #require(try await database.backUp(.manual, at: 1_799_000_000).backup)
        database.close()
        let folder = scratch.location.directory + "/backups/"
        try FileManager.default.copyItem(
            atPath: foreign.path, toPath: folder + foreign.name + ".db")
        try FileManager.default.removeItem(atPath: scratch.store)
        try scratch.process { _ in }
        let repair = try #require(scratch.repair)
        #expect(repair.contains("taken from the backup 2026-11-18T110640Z-"))
        #expect(!repair.contains(foreign.name))
    }

    @Test("A damaged row brings back no cleared domain, and a damaged removal no key")
    func removals() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        for number in 0..<300 { try database.set(["key\(number)": [1]]) }
        try database.set(["kept": [1], "removed": [1]], in: "org.example.Other")
        try await database.flush()
        _ = try #require(try await database.backUp(.daily, at: 1).backup)
        try database.clear()
        try database.remove("removed", in: "org.example.Other")
        try database.set(["new": Array("a value to be damaged".utf8), "second": [2]])
        try await database.flush()
        database.close()
        try damage(scratch) { bytes in
            let value = bytes.firstRange(of: Array("a value to be damaged".utf8))
            bytes[value?.lowerBound ?? 0] ^= 1
        }
        _ = try Scratch.output(
            of: "/usr/bin/python3", "-c",
            """
            import sqlite3, sys
            connection = sqlite3.connect(sys.argv[1])
            connection.executescript(
                "UPDATE entries SET checksum = checksum + 1 WHERE key = 'removed'")
            """, scratch.store)
        let again = try scratch.open(damage: "Two rows were damaged.")
        #expect(try again.keys() == ["second"])
        #expect(try again.keys(in: "org.example.Other") == ["kept"])
        #expect(scratch.repair?.contains("1 key is lost: 'new' of org.example.App.") == true)
    }

    @Test("A file with impossible numbers neither traps nor hangs nor fills memory")
    func absurd() async throws {
        let scratch = try await filled()
        _ = try Scratch.output(
            of: "/usr/bin/python3", "-c",
            """
            import sqlite3, sys
            connection = sqlite3.connect(sys.argv[1])
            connection.executescript(
                "UPDATE domains SET key_count = 9223372036854775807, last_change = key_count;"
                "UPDATE entries SET checksum = checksum + 1 WHERE key = 'key5'")
            """, scratch.store)
        let killed = try scratch.copyWithoutRuntime()
        let database = try killed.open(damage: "Absurd.")
        #expect(try database.archive("key6") != nil)
        #expect(try database.archive("key5") != nil, "it is in the backup")
        database.close()
    }

    @Test(
        "A backup that the user put in place of the database is not undone by a newer one")
    func putBack() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["key": [1]])
        try await database.flush()
        let older = try #require(try await database.backUp(.daily, at: 1).backup)
        try database.set(["key": [2]])
        try await database.flush()
        _ = try #require(try await database.backUp(.daily, at: 2).backup)
        let last = database.generation
        database.close()
        try FileManager.default.removeItem(atPath: scratch.store)
        try FileManager.default.copyItem(atPath: older.path, toPath: scratch.store)
        let again = try scratch.open()
        #expect(try again.archive("key") == [1])
        #expect(scratch.repair == nil)
        #expect(try again.set(["key": [3]]).generation > last)
    }

    @Test(
        "Expecting a lost value is a conflict, and GetChanges reports incomplete changes")
    func expectations() async throws {
        let scratch = try await filled()
        let before = try scratch.open()
        let domain = try Domain("org.example.Other", on: .localhost)
        let changed = try #require(try before.generation(domain, Key("changed")))
        let whole = before.generation
        before.close()
        try FileManager.default.removeItem(atPath: scratch.store)
        let database = try scratch.open()
        #expect(
            try database.firstConflict(of: [.key(Key("changed"), changed)], in: domain) != nil)
        #expect(try database.firstConflict(of: [.wholeDomain(whole)], in: domain) != nil)
        #expect(try !database.changes(of: domain, since: whole).isComplete)
        // A client can tell that from forgotten removals.
        #expect(database.view.recordStart > whole)
        #expect(
            try database.firstConflict(of: [.unchanged(Key("changed"), since: whole)], in: domain)
                != nil)
        #expect(try database.set(["later": [1]]).generation > whole)
    }

    @Test("A start that is interrupted at any point of a replacement is completed by the next")
    func interrupted() async throws {
        let scratch = try await filled()
        let ready = scratch.location.directory + "/defaults.db.renewed"
        let damaged = Data("damaged".utf8)
        // The repaired store is whole and has its second name; how far its place is made differs.
        for isSetAside in [false, true] {
            let copy = try scratch.copyWithoutRuntime()
            let files = FileManager.default
            let readyCopy = copy.location.directory + "/defaults.db.renewed"
            try files.moveItem(atPath: copy.store, toPath: readyCopy)
            if !isSetAside {
                try damaged.write(to: URL(fileURLWithPath: copy.store))
                try damaged.write(to: URL(fileURLWithPath: copy.store + "-wal"))
            }
            let database = try copy.open()
            #expect(try database.keys().count == 200)
            #expect(copy.repair == nil, "it was told when it was made")
            #expect(!files.fileExists(atPath: readyCopy))
            #expect(try copy.damagedFiles().count == (isSetAside ? 0 : 2))
            database.close()
        }
        #expect(!FileManager.default.fileExists(atPath: ready))
    }

    @Test("If the whole directory is gone, the pending changes in the journal are not")
    func directoryGone() throws {
        let scratch = try Scratch()
        let before = try scratch.process { try $0.set(["key": [1]]).generation }
        try FileManager.default.removeItem(atPath: scratch.location.directory)
        let database = try scratch.open()
        #expect(try database.archive("key") == [1])
        #expect(try database.set(["key": [2]]).generation > before)
        #expect(scratch.repair?.contains("missing or empty") == true)
    }

    @Test("Of damaged stores the newest five are kept")
    func kept() async throws {
        let scratch = try await filled()
        for _ in 0..<8 {
            let database = try scratch.open(damage: "Once more.")
            #expect(try database.keys().count == 200)
            database.close()
        }
        #expect(try scratch.damagedFiles().count == StoreReplacement.mostKept)
    }

    @Test(
        "A damaged database on a full disk is left as it is, with an error",
        .enabled(if: SmallFileSystem.isAvailable, "a file system cannot be mounted here"))
    func fullDisk() async throws {
        let small = try SmallFileSystem()
        let scratch = try Scratch(in: small.path)
        let database = try scratch.open()
        try database.set(["key": [UInt8](repeating: 1, count: 100_000)])
        try await database.flush()
        database.close()
        try damage(scratch) { $0[0] = 0 }
        let before = try scratch.bytes(scratch.store)
        try small.fill()
        let error = #expect(throws: StorageError.self) { _ = try scratch.open() }
        #expect(error?.code == .cannotOpen)
        #expect(error?.description.contains("It was not changed") == true)
        #expect(try scratch.bytes(scratch.store) == before)
        try small.empty()
        #expect(try scratch.open().archive("key")?.count == 100_000)
    }
}
