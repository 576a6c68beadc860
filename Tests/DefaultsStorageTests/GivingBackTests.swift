import DefaultsModel
import Foundation
import SQLite
import TestTiers
import Testing

@testable import DefaultsStorage

/// What is removed, and the space that the disk gets back.
@Suite(.startsPrograms) struct GivingBackTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    /// Sets the given number of values of one size, and writes them to disk.
    private func fill(
        _ database: Database, _ count: Int, of size: Int, in domain: String = "org.example.Large"
    ) async throws {
        for number in 0..<count {
            try database.set(["key\(number)": [UInt8](repeating: 7, count: size)], in: domain)
            if number % 16 == 15 { try await database.flush() }
        }
        try await database.flush()
    }

    @Test("A database is small again after its large values are removed, and so is its backup")
    func removed() async throws {
        let database = try scratch.open()
        try database.set(["kept": [1]])
        try await fill(database, 40, of: 1 << 20)
        #expect(try scratch.size(scratch.store) > 20 << 20)
        try database.clear("org.example.Large")
        try await database.flush()
        let writer = try database.makeWriter()
        while try await writer.tidy() {}
        guard case .made(let backup) = try await writer.backUp(.manual) else {
            Issue.record("no backup")
            return
        }
        #expect(backup.size < 1 << 20)
        await writer.close()
        database.close()
        #expect(try scratch.size(scratch.store) < 1 << 20)
        #expect(try scratch.query("PRAGMA integrity_check") == "[('ok',)]")
        #expect(try scratch.open().archive("kept") == [1])
    }

    @Test(
        "A power cut after the file was shortened is not damage, although its header is old"
    )
    func cutBeforeItsHeader() async throws {
        let database = try scratch.open()
        try database.set(["kept": [1]])
        try await fill(database, 6, of: 1 << 20)
        let writer = try database.makeWriter()
        try await writer.beginLog()
        try database.clear("org.example.Large")
        try await database.flush(by: writer)
        // The log has the smaller database, and the file the larger one.
        #expect(try await writer.tidy())
        let copy = try scratch.copyAll()
        let size = try copy.size(copy.store)
        await writer.close()
        database.close()
        let given = 512 * PageSize.ours.whole
        #expect(size > 2 * given)
        try #require(truncate(copy.store, off_t(size - given)) == 0)
        let next = try copy.open()
        #expect(copy.repair == nil)
        #expect(try next.keys() == ["kept"])
        next.close()
    }

    @Test("A database that is read while it is tidied up is small after the next flush")
    func readMeanwhile() async throws {
        let database = try scratch.open()
        let writer = try database.makeWriter()
        let flush = {
            let batch = try #require(database.beginFlush())
            let hasChores = try await writer.write(batch)
            database.finishFlush(batch, .success(()))
            return hasChores
        }
        try await fill(database, 10, of: 1 << 20)
        try await writer.beginLog()
        let read = try database.snapshot()
        try database.clear("org.example.Large")
        #expect(try await flush())
        while try await writer.tidy() {}
        read.close()
        #expect(try scratch.size(scratch.store) > 10 << 20)
        try database.set(["kept": [1]])
        #expect(try await flush())
        while try await writer.tidy() {}
        #expect(try scratch.size(scratch.store) < 1 << 20)
        await writer.close()
        database.close()
    }

    @Test("Removing large values does not write them again")
    func writtenForRemoval() async throws {
        let database = try scratch.open()
        try await fill(database, 40, of: 1 << 20)
        database.close()
        let next = try scratch.open()
        try next.clear("org.example.Large")
        try await next.flush()
        #expect(next.storeSize < 42 << 20)
        next.close()
    }

    @Test("Removed values are not in the file after it is tidied up")
    func erased() async throws {
        let database = try scratch.open()
        let secret = Array("a secret that nobody may find".utf8)
        for (number, padding) in [0, 6_000, 600_000].enumerated() {
            try database.set(
                ["key\(number)": [UInt8](repeating: 3, count: padding) + secret],
                in: "org.example.B")
        }
        try database.set(["kept": [1]])
        try await database.flush()
        try database.remove("key0", "key1", in: "org.example.B")
        try await database.flush()
        try database.clear("org.example.B")
        try await database.flush()
        let writer = try database.makeWriter()
        while try await writer.tidy() {}
        await writer.close()
        database.close()
        let file = try Data(contentsOf: URL(fileURLWithPath: scratch.store))
        #expect(file.range(of: Data(secret)) == nil)
    }

    @Test("Values that a process left in free pages are erased by the next one")
    func erasedByTheNext() async throws {
        let secret = Array("a secret that nobody may find".utf8)
        var database = try scratch.open()
        for number in 0..<100 {
            let padding = [UInt8](repeating: 3, count: 60_000)
            try database.set(["key\(number)": padding + secret], in: "org.example.Large")
        }
        try await database.flush()
        database.close()
        database = try scratch.open()
        try database.clear("org.example.Large")
        try await database.flush()
        database.close()
        database = try scratch.open()
        let writer = try database.makeWriter()
        #expect(await writer.hasFreePages)
        while try await writer.tidy() {}
        #expect(await !writer.hasFreePages)
        await writer.close()
        database.close()
        let file = try Data(contentsOf: URL(fileURLWithPath: scratch.store))
        #expect(file.range(of: Data(secret)) == nil)
    }

    @Test("Copying a store does not write to it")
    func copied() throws {
        try scratch.open().close()
        let file = StoreFile(path: scratch.store)
        let before = try scratch.bytes(scratch.store)
        let connection = try file.connect()
        connection.keepLogOnClose(true)
        try connection.copy(to: "\(scratch.root)/copy")
        #expect(try scratch.bytes(scratch.store) == before)
        #expect(try scratch.size(file.logPath) == 0)
    }

    @Test("A database of an earlier version is made small when most of it is free")
    func converted() async throws {
        try scratch.open().close()
        try scratch.execute(
            "PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM;"
                + "PRAGMA journal_mode = WAL")
        #expect(try scratch.query("PRAGMA auto_vacuum") == "[(0,)]")
        let database = try scratch.open()
        try database.set(["kept": [1]])
        try await fill(database, 10, of: 1 << 20)
        try database.clear("org.example.Large")
        try await database.flush()
        let writer = try database.makeWriter()
        while try await writer.tidy() {}
        #expect(try database.archive("kept") == [1])
        try database.set(["later": [2]])
        try await database.flush(by: writer)
        #expect(try database.keys() == ["kept", "later"])
        await writer.close()
        database.close()
        #expect(try scratch.query("PRAGMA auto_vacuum") == "[(2,)]")
        #expect(try scratch.size(scratch.store) < 1 << 20)
    }

    @Test("A removed domain does not come back in a repair before it is tidied up")
    func repairedBeforeTidying() async throws {
        let database = try scratch.open()
        try database.set(["kept": [1]])
        try await fill(database, 40, of: 100_000)
        try database.clear("org.example.Large")
        try await database.flush()
        database.close()
        let next = try scratch.open(damage: "A test.")
        #expect(try next.keys() == ["kept"])
        #expect(try next.keys(in: "org.example.Large").isEmpty)
        next.close()
    }

    @Test("A repair finds every row of a database with pointer maps, wherever the damage is")
    func repairedWithMaps() async throws {
        let database = try scratch.open()
        try await fill(database, 60, of: 200_000)
        for number in 0..<300 {
            try database.set(["small\(number)": [UInt8](repeating: 1, count: 900)])
        }
        try await database.flush()
        database.close()
        // The maps are the pages 2, 822, 1642 and so on.
        let path = scratch.store
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        for page in [1, 822] {
            try file.seek(toOffset: UInt64((page - 1) * 4096))
            try file.write(contentsOf: Data(repeating: 0x5A, count: 4096))
        }
        try file.close()
        let next = try scratch.open()
        #expect(try next.keys(in: "org.example.Large").count == 60)
        #expect(try next.keys().count == 300)
        #expect(scratch.noticed("360 keys were kept") || next.lastRepair != nil)
        next.close()
        #expect(try scratch.query("PRAGMA auto_vacuum") == "[(2,)]")
    }

    @Test("A repair that takes long reports that it continues")
    func progressOfRepair() async throws {
        let database = try scratch.open()
        try await fill(database, 16, of: 1 << 20)
        database.close()
        var told: [Int] = []
        _ = try StoreFile(path: scratch.store).repair(
            because: "A test.", at: 1000, backups: [], mayBeTorn: false, journal: nil, note: nil,
            progress: Progress(every: .zero) { told.append($0) })
        #expect(told.count >= 4)
        #expect(told == told.sorted())
    }
}
