import DefaultsModel
import Foundation
import SQLite
import TestTiers
import Testing

@testable import DefaultsStorage

/// The numbers in the names are those of the invariants of `Database`.
@Suite(.startsPrograms) struct FlushFailureTests {
    /// Takes the right to write from the writer, as long as it lives.
    private func obstruct(_ database: Database) throws -> Connection {
        let connection = try Connection(
            path: database.path, flags: .readWrite, vfs: "unix-excl")
        try connection.execute("BEGIN IMMEDIATE")
        return connection
    }

    @Test("5: a flush that fails loses nothing, and the next one writes everything")
    func failure() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        let writer = try database.makeWriter()
        try database.set(["a": [1], "b": [1]])
        do {
            let obstruction = try obstruct(database)
            let batch = try #require(database.beginFlush())
            try database.set(["a": [2]])
            let error = await #expect(throws: StorageError.self) { try await writer.write(batch) }
            database.finishFlush(batch, .failure(try #require(error)))
            #expect(error?.code == .cannotWrite)
            #expect((error?.cause as? SQLiteError)?.code == .busy)
            #expect(database.pendingChanges == 2)
            #expect(database.durableGeneration == .first)
            #expect(try database.archive("a") == [2])
            #expect(try database.archive("b") == [1])
            try obstruction.execute("ROLLBACK")
        }
        try await database.flush(by: writer)
        await writer.close()
        #expect(database.durableGeneration == database.generation)
        #expect(try scratch.journal().map { try scratch.size($0) } == [JournalHeader.size])
        database.close()
        #expect(
            try scratch.query("SELECT key, archive FROM entries ORDER BY key")
                == "[('a', b'\\x02'), ('b', b'\\x01')]")
    }

    @Test("5: a process that dies after failed flushes loses nothing")
    func deathAfterFailures() async throws {
        let scratch = try Scratch()
        do {
            let database = try scratch.open()
            let obstruction = try obstruct(database)
            for number in 0..<5 {
                try database.set(["key": [UInt8(number)], "key\(number)": [1]])
                await #expect(throws: StorageError.self) { try await database.flush() }
            }
            try obstruction.execute("ROLLBACK")
        }
        let database = try scratch.open()
        #expect(try database.keys() == ["key", "key0", "key1", "key2", "key3", "key4"])
        #expect(try database.archive("key") == [4])
        #expect(database.generation.rawValue == 6)
    }

    /// Invariant 5 of `Journal`.
    @Test("Repeated failed flushes leave few segments, and lose nothing")
    func segmentsAreBounded() throws {
        let scratch = try Scratch()
        try scratch.process { database in
            for number in 0..<200 {
                try database.set(["key": [UInt8(number)], "key\(number)": [1]])
                let batch = try #require(database.beginFlush())
                database.finishFlush(batch, .failure(.noHome()))
                #expect(try scratch.journal().count <= Journal.maximumSealed + 2)
            }
        }
        let database = try scratch.open()
        #expect(try database.keys().count == 201)
        #expect(try database.archive("key") == [199])
        #expect(database.generation.rawValue == 201)
    }

    @Test("A flush without pending changes does nothing")
    func nothingToFlush() throws {
        let scratch = try Scratch()
        #expect(try scratch.open().beginFlush() == nil)
    }

    @Test("A token or a cleared domain during a flush is on disk after the next one")
    func flushOfPending() throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        let domain = try Domain(name: "org.example.App", layer: .domain)
        #expect(database.flushOfPending == nil)
        try database.set(["key": [1]])
        #expect(database.flushOfPending == 1)
        let first = try #require(database.beginFlush())
        #expect(database.flushOfPending == 1)
        try database.remember(Token("token"), of: domain)
        #expect(database.flushOfPending == 2)
        database.finishFlush(first, .success(()))
        let second = try #require(database.beginFlush())
        #expect(database.flushOfPending == 2)
        try database.set(["key": [1]])
        try database.clear()
        #expect(database.pendingBytes == 0)
        #expect(database.flushOfPending == 3)
        database.finishFlush(second, .failure(.noHome()))
        #expect(database.flushOfPending == 3)
        let third = try #require(database.beginFlush())
        database.finishFlush(third, .success(()))
        #expect(database.flushOfPending == nil)
    }

    /// Invariant 2 of `GenerationCounter`, too.
    @Test("3: above the ceiling no number is given until a flush has raised it")
    func ceiling() async throws {
        let scratch = try Scratch()
        try scratch.process { _ in }
        let other = UniqueID.random()
        // The store cannot be written when the counter jumps to its ceiling.
        let obstruction = try Connection(
            path: "\(scratch.location.directory)/defaults.db", flags: .readWrite, vfs: "unix-excl")
        try obstruction.execute("BEGIN IMMEDIATE")
        let database = try scratch.open(boot: other)
        #expect(scratch.noticed("Changes are refused"))
        #expect(database.needsFlush)
        let error = #expect(throws: StorageError.self) { try database.set(["key": [1]]) }
        #expect(error?.code == .generationsExhausted)
        #expect(try database.archive("key") == nil)
        try obstruction.execute("ROLLBACK")
        try await database.flush()
        #expect(!database.needsFlush)
        let change = try database.set(["key": [1]])
        #expect(change.generation.rawValue >= 3 + Generation.ceilingDistance)
    }
}
