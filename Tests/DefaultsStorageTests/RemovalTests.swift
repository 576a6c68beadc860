import DefaultsModel
import Testing

@testable import DefaultsStorage

/// The removals that a database remembers, and what they cost.
@Suite struct RemovalTests {
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

    @Test("A flush that forgets removals while they are read leaves none out as if that were all")
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
            #expect(throws: Never.self) { try writer?.write(batch) }
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
}
