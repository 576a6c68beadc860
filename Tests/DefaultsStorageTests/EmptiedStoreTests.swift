import DefaultsModel
import Foundation
import Glibc
import Testing

@testable import DefaultsStorage

/// A store or its log that another program empties while it is in use.
///
/// SQLite takes an emptied file for a new database. That must be found to be damage, and must never look
/// like a disk that works, or like keys without values.
@Suite struct EmptiedStoreTests {
    private let scratch: Scratch
    private var store: String { "\(scratch.location.directory)/defaults.db" }
    private var log: String { "\(store)-wal" }

    init() throws {
        scratch = try Scratch()
    }

    /// A database with a value in its store and in a backup, of which its process has written nothing.
    ///
    /// SQLite does not know then how large the store is.
    private func reopened() async throws -> Database {
        let first = try scratch.open()
        try first.set(["early": [1]])
        try await first.flush()
        _ = try #require(try await first.backUp(.manual, at: 1).backup)
        first.close()
        return try scratch.open()
    }

    private func empty(_ path: String) throws { try #require(truncate(path, 0) == 0) }

    private func isDamage(_ error: any Error) -> Bool {
        (error as? StorageError)?.code == .damagedDatabase
    }

    @Test func `Reads during a flush find that the store was emptied`() async throws {
        let database = try await reopened()
        let writer = try database.makeWriter()
        // This is how a flush begins. What was read before must then be read again.
        try await writer.beginLog()
        try empty(store)
        #expect { try database.archive("early") } throws: { isDamage($0) }
        #expect { try database.keys() } throws: { isDamage($0) }
        #expect { try database.set(["late": [2]]) } throws: { isDamage($0) }
        let repair = try await writer.repair(database.identification, because: "A test.")
        let repaired = try database.reopened(after: repair)
        #expect(try repaired.archive("early") == [1])
        repaired.close()
    }

    @Test func `A flush finds that the store was emptied, and loses nothing`() async throws {
        let database = try await reopened()
        let writer = try database.makeWriter()
        try database.set(["late": [2]])
        try await writer.beginLog()
        try empty(store)
        await #expect { try await database.flush(by: writer) } throws: { isDamage($0) }
        #expect { try database.archive("early") } throws: { isDamage($0) }
        let repair = try await writer.repair(database.identification, because: "A test.")
        let repaired = try database.reopened(after: repair)
        #expect(try repaired.archive("early") == [1])
        #expect(try repaired.archive("late") == [2])
        repaired.close()
    }

    @Test func `Reads find that the log was emptied`() async throws {
        let database = try scratch.open()
        let writer = try database.makeWriter()
        try database.set(["early": [1]])
        try await database.flush(by: writer)
        try database.set(["late": [2]])
        try await database.flush(by: writer)
        try empty(log)
        #expect { try database.archive("early") } throws: { isDamage($0) }
        #expect { try database.set(["later": [3]]) } throws: { isDamage($0) }
        await writer.close()
        database.close()
    }

    @Test func `A snapshot of an emptied store is refused, and leaves the log to the repair`()
        async throws
    {
        let database = try scratch.open()
        let writer = try database.makeWriter()
        try database.set(["early": [1]])
        try await database.flush(by: writer)
        try empty(store)
        #expect { try database.snapshot() } throws: { isDamage($0) }
        let repair = try await writer.repair(database.identification, because: "A test.")
        let repaired = try database.reopened(after: repair)
        #expect(try repaired.archive("early") == [1])
        repaired.close()
    }

    @Test func `A store that was emptied and removed is not replaced by an empty one`()
        async throws
    {
        let database = try await reopened()
        let writer = try database.makeWriter()
        try database.set(["late": [2]])
        try empty(store)
        try FileManager.default.removeItem(atPath: store)
        await #expect(throws: StorageError.self) { try await database.flush(by: writer) }
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.location.directory)
        #expect(!names.contains { $0 == "defaults.db" || $0.hasSuffix(".renewed") })
        await writer.close()
        database.close()
        let next = try scratch.open()
        #expect(try next.archive("early") == [1])
        #expect(try next.archive("late") == [2])
        next.close()
    }
}
