import DefaultsModel
import SQLite
import TestTiers
import Testing

@testable import DefaultsStorage

/// The removals that a database remembers, and their cost.
@Suite(.startsPrograms) struct RemovalTests {
    private let domain: Domain
    private let scratch: Scratch

    init() throws {
        domain = try Domain(name: "org.example.App", layer: .domain)
        scratch = try Scratch()
    }

    /// Removes as many keys as are given, a few in each change.
    private func remove(_ numbers: Range<Int>, from database: Database) throws {
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 50) {
            let keys = try (start..<min(start + 50, numbers.upperBound)).map {
                try Key("key \($0)")
            }
            _ = try database.commit(ChangeProposal(domain: domain, removed: keys, origin: ""))
        }
    }

    @Test("A flush that forgets removals during a read does not make the answer seem complete")
    func forgottenMeanwhile() async throws {
        let database = try scratch.open()
        let kept = FlushTransaction.removalsKept
        let before = database.generation
        try remove(0..<2 * kept, from: database)
        try await database.flush()
        try remove(2 * kept..<3 * kept, from: database)
        let batch = try #require(database.beginFlush())
        var writer: FlushTransaction? = FlushTransaction(
            on: try StoreFile(path: database.path).connect())
        // The writer's thread may commit between any two statements.
        let trace = StatementTrace(of: database) { _ in
            #expect(throws: Never.self) { try writer?.write(batch, at: 1000) }
            writer = nil
        }
        let changes = try database.changes(of: domain, since: before)
        #expect(writer == nil)
        #expect(!changes.isComplete || changes.removed.count == 3 * kept)
        withExtendedLifetime(trace) {}
        database.finishFlush(batch, .success(()))
        #expect(try !database.changes(of: domain, since: before).isComplete)
        database.close()
    }

    @Test("A read of a whole domain costs nothing for the removals that it remembers")
    func costOfRemovals() async throws {
        let database = try scratch.open()
        try database.set(["a": [1], "b": [2]])
        try await database.flush()
        let read = { () throws in
            #expect(try database.keys() == ["a", "b"])
            #expect(try database.summaries(of: domain).map(\.size) == [1, 1])
        }
        let before = try StatementTrace.steps(of: database, read)
        #expect(before > 0)
        try remove(0..<2 * FlushTransaction.removalsKept, from: database)
        try await database.flush()
        #expect(try StatementTrace.steps(of: database, read) == before)
        database.close()
    }

    @Test(
        "A database without an index gets it when it is opened",
        arguments: ["present", "removals", "entries_by_generation", "tokens_by_age"])
    func missingIndex(name: String) async throws {
        let database = try scratch.open()
        try database.set(["a": [1]])
        try await database.flush()
        database.close()
        let index = "SELECT sql FROM sqlite_schema WHERE name = '\(name)'"
        let made = try scratch.query(index)
        #expect(made.contains("CREATE INDEX"))
        #expect(try scratch.query("DROP INDEX \(name)") == "[]")
        #expect(try scratch.query(index) == "[]")
        do {
            let obstruction = try StoreFile(path: database.path).connect()
            try obstruction.execute("BEGIN IMMEDIATE")
            let without = try scratch.open()
            #expect(scratch.noticed("An index of the keys could not be made"))
            #expect(try without.keys() == ["a"])
            try obstruction.execute("ROLLBACK")
            without.close()
        }
        #expect(try scratch.query(index) == "[]")
        let with = try scratch.open()
        #expect(try with.keys() == ["a"])
        with.close()
        #expect(try scratch.query(index) == made)
    }
}
