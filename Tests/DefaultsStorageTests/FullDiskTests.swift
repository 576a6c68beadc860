import DefaultsModel
import Foundation
import SQLite
import SystemCalls
import TestTiers
import Testing

@testable import DefaultsStorage

@Suite(
    .startsPrograms,
    .enabled(if: SmallFileSystem.isAvailable, "only root may mount a small file system"))
struct FullDiskTests {
    @Test("On a full disk changes stay pending and readable, and are written when there is space")
    func fullDisk() async throws {
        let disk = try SmallDisk()
        let database = try disk.open()
        try database.set(["before": [1]])
        try await database.flush()
        try disk.fill()
        let large = [UInt8](repeating: 3, count: 100_000)
        try database.set(["during": large])
        let error = await #expect(throws: StorageError.self) { try await database.flush() }
        #expect(error?.code == .cannotWrite)
        #expect((error?.cause as? SQLiteError)?.code == .full)
        #expect(try database.archive("before") == [1])
        #expect(try database.archive("during") == large)
        #expect(database.pendingChanges == 1)
        try disk.empty()
        try await database.flush()
        #expect(database.durableGeneration == database.generation)
        #expect(try database.archive("during") == large)
        database.close()
    }

    @Test("On a full disk removals are written, and give the disk its space back")
    func healedByRemoving() async throws {
        let disk = try SmallDisk(mebibytes: 80)
        let database = try disk.open()
        for number in 0..<24 {
            try database.set(
                ["key\(number)": [UInt8](repeating: 3, count: 1 << 20)], in: "org.example.Greedy")
            try await database.flush()
        }
        let writer = try database.makeWriter()
        while try await writer.tidy() {}
        #expect(database.reserveSize == DiskReserve.size)
        try disk.fill()
        try database.set(["during": [UInt8](repeating: 3, count: 9_000_000)])
        let refused = try #require(database.beginFlush())
        let error = await #expect(throws: StorageError.self) { try await writer.write(refused) }
        #expect((error?.cause as? SQLiteError)?.code == .full)
        database.finishFlush(refused, .failure(try #require(error)))
        // Changes that only add do not use up the reserve.
        #expect(database.reserveSize == DiskReserve.size)
        try database.remove("during")
        try database.set(["small": [1]])
        try database.clear("org.example.Greedy")
        try await database.flush(by: writer)
        #expect(database.reserveSize == 0)
        while try await writer.tidy() {}
        await writer.close()
        #expect(database.durableGeneration == database.generation)
        database.close()
        #expect(try disk.scratch.size(disk.scratch.store) < 1 << 20)
        try disk.empty()
        let next = try disk.open()
        #expect(try next.keys() == ["small"])
        #expect(try next.domains().count == 1)
        try next.set(["later": [1]])
        let later = try next.makeWriter()
        let second = try #require(next.beginFlush())
        #expect(try await later.write(second))
        next.finishFlush(second, .success(()))
        while try await later.tidy() {}
        #expect(next.reserveSize == DiskReserve.size)
        await later.close()
        next.close()
    }

    @Test("A removal that the reserve does not help does not use it up")
    func keptReserve() async throws {
        let disk = try SmallDisk(mebibytes: 80)
        let database = try disk.open()
        let keys = (0..<13_000).map { "key\($0)" }
        let value = [UInt8](repeating: 3, count: 900)
        for key in keys { try database.set([key: value], in: "org.example.Small") }
        try database.set(["large": [UInt8](repeating: 3, count: 1 << 20)])
        try await database.flush()
        let writer = try database.makeWriter()
        let refusal = {
            let batch = try #require(database.beginFlush())
            let error = await #expect(throws: StorageError.self) { try await writer.write(batch) }
            database.finishFlush(batch, .failure(try #require(error)))
            return error?.cause as? SQLiteError
        }
        while try await writer.tidy() {}
        #expect(database.reserveSize == DiskReserve.size)
        try disk.fill()
        // Each page of the domain is written.
        for key in keys.prefix(6500) { try database.remove(key, in: "org.example.Small") }
        #expect(try await refusal()?.code == .full)
        #expect(database.reserveSize == DiskReserve.size)
        // What is added would take it up.
        try database.clear("org.example.Small")
        try database.set(["large": [UInt8](repeating: 4, count: 9_000_000)])
        #expect(try await refusal()?.code == .full)
        #expect(database.reserveSize == DiskReserve.size)
        try disk.empty()
        try await database.flush(by: writer)
        await writer.close()
        database.close()
    }

    @Test("A reserve that is a file without space gets space")
    func hollowReserve() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        let path = "\(scratch.location.directory)/reserve"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        try #require(truncate(path, off_t(DiskReserve.size)) == 0)
        let writer = try database.makeWriter()
        #expect(!writer.reserve.isThere)
        while try await writer.tidy() {}
        #expect(writer.reserve.isThere)
        await writer.close()
        database.close()
    }

    @Test("After a repair for which there was no space, the writer goes on with the old store")
    func noSpaceForRepair() async throws {
        let disk = try SmallDisk()
        let database = try disk.open()
        let writer = try database.makeWriter()
        try database.set(["early": [1]])
        try await database.flush(by: writer)
        try disk.fill()
        let error = await #expect(throws: StorageError.self) {
            _ = try await writer.repair(database.identification, because: "A test.")
        }
        #expect(error?.code == .cannotOpen)
        #expect(error?.description.contains("could not be repaired") == true)
        #expect(try database.archive("early") == [1])
        try disk.empty()
        try database.set(["late": [2]])
        try await writer.write(try #require(database.beginFlush()))
        await writer.close()
    }

    @Test("On a disk too full for the lock holder's name, the database opens and is locked")
    func fullForLockHolder() throws {
        let disk = try SmallDisk()
        try disk.open().close()
        // An empty file has no block that the name could be written to.
        try Data().write(to: URL(fileURLWithPath: "\(disk.scratch.location.directory)/lock"))
        try disk.fill()
        let database = try disk.open()
        let error = #expect(throws: StorageError.self) { _ = try disk.open() }
        #expect(error?.code == .inUse)
        #expect(error?.description.contains("by another process.") == true)
        database.close()
    }

    @Test("In a full runtime directory changes go to the disk at once, and survive the process")
    func fullRuntimeDirectory() async throws {
        let memory = try SmallFileSystem()
        let scratch = try Scratch()
        let location = DatabaseLocation(
            directory: scratch.location.directory, runtimeDirectory: memory.path)
        var notices: [Notice] = []
        var database = try Database(at: location, boot: Scratch.boot) { notices.append($0) }
        try database.set(["before": [1]])
        try memory.fill()
        let large = [UInt8](repeating: 3, count: 100_000)
        try database.set(["during": large])
        try database.set(["after": [2]])
        let last = database.generation
        #expect(notices.count { $0.description.contains("cannot be written") } == 1)
        // What was there is not needed any more, and takes up no space.
        let names = FileManager.default.enumerator(atPath: memory.path)?.allObjects as? [String]
        #expect(names?.contains { $0.contains(".journal") } == false)
        #expect(
            try FileManager.default.contentsOfDirectory(
                atPath: "\(scratch.location.directory)/journal"
            ).contains { $0.hasSuffix(".journal") })
        database = try reopen(database, at: location)
        #expect(try database.keys() == ["after", "before", "during"])
        #expect(database.generation == last)
        try await database.flush()
        #expect(database.pendingChanges == 0)
        try memory.empty()
        database = try reopen(database, at: location)
        #expect(try database.keys() == ["after", "before", "during"])
        #expect(database.generation == last)
        #expect(database.journal.directory.path.hasPrefix(memory.path))
    }

    @Test(
        "If both the runtime directory and the disk are full, a change is refused until one has space",
        arguments: [true, false])
    func bothFull(isMemoryEmptied: Bool) async throws {
        let memory = try SmallFileSystem()
        let disk = try SmallFileSystem()
        let location = DatabaseLocation(
            directory: "\(disk.path)/defaultsd", runtimeDirectory: memory.path)
        var database = try Database(at: location, boot: Scratch.boot) { _ in }
        try database.set(["before": [1]])
        for fileSystem in [memory, disk] { try fileSystem.fill() }
        let generation = database.generation
        let large = [UInt8](repeating: 3, count: 100_000)
        let error = #expect(throws: StorageError.self) { try database.set(["during": large]) }
        #expect(error?.code == .cannotJournal)
        #expect((error?.cause as? SystemError)?.number == ENOSPC)
        #expect(error?.description.contains("no other can be begun") == true)
        #expect(database.generation == generation)
        #expect(try database.archive("during") == nil)
        try (isMemoryEmptied ? memory : disk).empty()
        try database.set(["during": large])
        #expect(database.generation == generation.advanced(by: 1))
        database = try reopen(database, at: location)
        #expect(try database.keys() == ["before", "during"])
    }

    @Test("A journal on a disk that is full goes to the runtime directory once that has space")
    func backToMemory() async throws {
        let memory = try SmallFileSystem()
        let disk = try SmallFileSystem()
        let location = DatabaseLocation(
            directory: "\(disk.path)/defaultsd", runtimeDirectory: memory.path)
        let database = try Database(at: location, boot: Scratch.boot) { _ in }
        try memory.fill()
        try database.set(["first": [UInt8](repeating: 1, count: 50_000)])
        #expect(database.journal.directory.path.hasPrefix(disk.path))
        try disk.fill()
        try memory.empty()
        try database.set(["second": [UInt8](repeating: 2, count: 50_000)])
        #expect(database.journal.directory.path.hasPrefix(memory.path))
        let next = try reopen(database, at: location)
        #expect(try next.keys() == ["first", "second"])
    }

    /// Opens the database as the next process would after this one was killed.
    private func reopen(_ database: Database, at location: DatabaseLocation) throws -> Database {
        database.place.giveUp()
        database.journal.close()
        return try Database(at: location, boot: Scratch.boot) { _ in }
    }

    @Test("A journal that took the last byte returns its space when the store has everything")
    func journalFillsRuntimeDirectory() async throws {
        let memory = try SmallFileSystem()
        let scratch = try Scratch()
        let location = DatabaseLocation(
            directory: scratch.location.directory, runtimeDirectory: memory.path)
        let database = try Database(at: location, boot: Scratch.boot) { _ in }
        // It cannot go to the disk instead.
        try Data().write(to: URL(fileURLWithPath: "\(location.directory)/journal"))
        for size in [50_000, 1] {
            let archive = [UInt8](repeating: 3, count: size)
            while (try? database.set(["key": archive])) != nil {}
        }
        let full = database.journalSize
        try await database.flush()
        #expect(database.journalSize < full)
        try database.set(["key": [UInt8](repeating: 4, count: 50_000)])
        let generation = database.generation
        database.close()
        let next = try Database(at: location, boot: Scratch.boot) { _ in }
        #expect(next.generation == generation)
        #expect(try next.archive("key")?.count == 50_000)
    }
}
