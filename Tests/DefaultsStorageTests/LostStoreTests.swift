import DefaultsModel
import Foundation
import TestTiers
import Testing

@testable import DefaultsStorage

/// Files of the store that disappear, or are replaced, during use.
///
/// The numbers in the names are those of the invariants of `DurableWriter`.
@Suite(.startsPrograms) struct LostStoreTests {
    private let scratch: Scratch
    private var directory: String { scratch.location.directory }
    private var store: String { "\(directory)/defaults.db" }

    init() throws {
        scratch = try Scratch()
    }

    /// What can be lost, by its name, and whether another program's file is there afterwards.
    enum Loss: String, CaseIterable, CustomTestStringConvertible {
        case directory, database, log, lock
        case replacedDatabase = "database, replaced by another file"
        case replacedLog = "log, replaced by another file"

        var testDescription: String { rawValue }
    }

    private func lose(_ loss: Loss) throws {
        let files = FileManager.default
        switch loss {
        case .directory: try files.removeItem(atPath: directory)
        case .database: try files.removeItem(atPath: store)
        case .log: try files.removeItem(atPath: "\(store)-wal")
        case .lock: try files.removeItem(atPath: "\(directory)/lock")
        case .replacedDatabase: try replace(store)
        case .replacedLog: try replace("\(store)-wal")
        }
    }

    private func replace(_ path: String) throws {
        try Data("somebody else's".utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    /// The writer is made before the loss, as a daemon's is.
    private func contents(of scratch: Scratch) throws -> [String: [UInt8]] {
        let database = try scratch.open(boot: .random())
        var contents: [String: [UInt8]] = [:]
        for key in try database.keys() { contents[key] = try database.archive(key) }
        return contents
    }

    @Test(
        "1: lost files are made again by the next flush, with everything in them",
        arguments: Loss.allCases
    )
    func madeAnew(_ loss: Loss) async throws {
        let database = try scratch.open()
        let writer = try database.makeWriter()
        let large = [UInt8](repeating: 7, count: 100_000)
        try database.set(["early": [1], "large": large])
        try await database.flush(by: writer)
        try database.set(["pending": [2]])
        try lose(loss)
        #expect(try database.archive("large") == large)
        try await database.flush(by: writer)
        #expect(database.pendingChanges == 0)
        #expect(!database.needsFlush)
        #expect(try database.archive("early") == [1])
        // And on, in the new files.
        try database.set(["later": [3]])
        try await database.flush(by: writer)
        #expect(
            try contents(of: scratch.copyWithoutRuntime())
                == ["early": [1], "large": large, "pending": [2], "later": [3]])
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(
            names.contains { $0.contains(".replaced-") } == loss.rawValue.contains("replaced"))
        // It is not damaged.
        #expect(!names.contains { $0.contains(".aside-") })
        #expect(!names.contains { $0.hasSuffix(".unfinished") || $0.hasSuffix(".renewed") })
        #expect(scratch.noticed("was written again") == (loss != .lock))
        #expect(throws: StorageError.self) { _ = try scratch.open() }
        await writer.close()
        database.close()
    }

    @Test("1: a flush is needed even if nothing is pending, and makes the store again")
    func nothingPending() async throws {
        let database = try scratch.open()
        let writer = try database.makeWriter()
        try database.set(["key": [1]])
        try await database.flush(by: writer)
        #expect(!database.needsFlush)
        try lose(.directory)
        #expect(database.needsFlush)
        #expect(database.flushOfPending == 2)
        try await database.flush(by: writer)
        #expect(!database.needsFlush)
        #expect(try contents(of: scratch.copyWithoutRuntime()) == ["key": [1]])
    }

    @Test("1: if the store cannot be made again, nothing is lost, and it is reported, until it can")
    func cannotBeMade() async throws {
        let database = try scratch.open()
        let writer = try database.makeWriter()
        try database.set(["early": [1]])
        try await database.flush(by: writer)
        try lose(.directory)
        // A file where the directory is to be.
        try Data().write(to: URL(fileURLWithPath: directory))
        try database.set(["late": [2]])
        let second = try #require(database.beginFlush())
        let error = await #expect(throws: StorageError.self) { try await writer.write(second) }
        database.finishFlush(second, .failure(try #require(error)))
        #expect(error?.code == .cannotWrite)
        #expect(error?.description.contains("a new copy cannot be written") == true)
        #expect(database.pendingChanges == 1)
        #expect(try database.keys() == ["early", "late"])
        try FileManager.default.removeItem(atPath: directory)
        try await database.flush(by: writer)
        #expect(database.pendingChanges == 0)
        #expect(try contents(of: scratch.copyWithoutRuntime()) == ["early": [1], "late": [2]])
    }

    @Test("1: a copy that does not have the store's name yet gets it at the next start")
    func interrupted() async throws {
        do {
            let database = try scratch.open()
            try database.set(["key": [1]])
            try await database.flush()
            database.close()
        }
        try FileManager.default.moveItem(atPath: store, toPath: "\(store).renewed")
        try replace(store)
        try replace("\(store)-wal")
        #expect(try scratch.open().archive("key") == [1])
    }

    @Test("1: a copy from before the store got its name back does not replace it")
    func broughtBack() async throws {
        let database = try scratch.open()
        let writer = try database.makeWriter()
        try await writer.failBehindCopy()
        #expect(FileManager.default.fileExists(atPath: "\(store).renewed"))
        try database.set(["key": [1]])
        try await database.flush(by: writer)
        #expect(!FileManager.default.fileExists(atPath: "\(store).renewed"))
        #expect(try contents(of: scratch.copyWithoutRuntime()) == ["key": [1]])
    }

    @Test("2: nothing is written if another process has taken the lock in the meantime")
    func otherOwner() async throws {
        let database = try scratch.open()
        let writer = try database.makeWriter()
        try database.set(["key": [1]])
        try lose(.directory)
        let other = try scratch.open()
        let batch = try #require(database.beginFlush())
        let error = await #expect(throws: StorageError.self) { try await writer.write(batch) }
        #expect(error?.description.contains("is in use by process") == true)
        database.finishFlush(batch, .failure(try #require(error)))
        #expect(database.pendingChanges == 1)
        #expect(try database.archive("key") == [1])
        other.close()
    }

    @Test("The size of the store is read without losing SQLite's lock on it")
    func sizeKeepsLock() async throws {
        let database = try scratch.open()
        try database.set(["key": [1]])
        try await database.flush()
        #expect(database.storeSize > 0)
        #expect(try scratch.query("SELECT count(*) FROM entries") == "database is locked")
    }
}

extension DurableWriter {
    /// Leaves what a failed attempt to make the store again leaves when the copy is complete.
    fileprivate func failBehindCopy() throws {
        try StoreReplacement(of: file).make(orThrow: { .storeLost(file.path, $0) }) {
            try openConnection.copy(to: $0)
        }
    }
}
