import DefaultsModel
import Foundation
import Testing

@testable import DefaultsStorage

/// A database as it was at one moment.
@Suite struct SnapshotTests {
    private let domain: Domain

    init() throws { domain = try Domain(name: "org.example.App", layer: .domain) }

    private func set(_ names: String..., to byte: UInt8, in database: Database) throws {
        _ = try database.commit(
            ChangeProposal(
                domain: domain,
                set: try names.map { .init(key: try Key($0), archive: [byte]) }, origin: ""))
    }

    @Test func `A snapshot shows its contents, whatever is changed, flushed and removed later`()
        async throws
    {
        let scratch = try Scratch()
        let database = try scratch.open()
        let writer = try database.makeWriter()
        try set("stored", "both", to: 1, in: database)
        try await database.flush(by: writer)
        try set("pending", "both", to: 2, in: database)
        let snapshot = try database.snapshot()
        let generation = database.generation
        try set("stored", "later", to: 3, in: database)
        try await database.flush(by: writer)
        _ = try database.commit(ChangeProposal(clearing: domain, origin: ""))
        try await database.flush(by: writer)
        let view = snapshot.view
        #expect(view.generation == generation)
        #expect(try view.keys(of: domain).map(\.name) == ["both", "pending", "stored"])
        #expect(try view.totals(of: domain).keys == 3)
        for (name, byte) in [("both", 2), ("pending", 2), ("stored", 1)] as [(String, UInt8)] {
            #expect(try view.value(domain, Key(name))?.archive == [byte])
        }
        #expect(try view.changes(of: domain, since: nil).changed.count == 3)
        snapshot.close()
        #expect(try database.keys(of: domain) == [])
        await writer.close()
        database.close()
    }

    @Test func `Closing a snapshot leaves the log, which the database removes at its end`()
        async throws
    {
        let scratch = try Scratch()
        let database = try scratch.open()
        let writer = try database.makeWriter()
        try set("key", to: 1, in: database)
        try await database.flush(by: writer)
        try database.snapshot().close()
        #expect(database.logSize > 0)
        try await writer.beginLog()
        #expect(database.logSize == 0)
        try set("key", to: 2, in: database)
        try await database.flush(by: writer)
        await writer.close()
        database.close()
        let log = "\(scratch.location.directory)/defaults.db-wal"
        #expect(!FileManager.default.fileExists(atPath: log))
    }

    @Test func `The number of changed keys is known without reading them`() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        let writer = try database.makeWriter()
        for number in 0..<5 { try set("key \(number)", to: 1, in: database) }
        try await database.flush(by: writer)
        let since = database.generation
        try set("key 0", "key 1", to: 2, in: database)
        let view = database.view
        #expect(try !view.hasMoreChanges(than: 2, of: domain, since: since))
        #expect(try view.hasMoreChanges(than: 1, of: domain, since: since))
        #expect(try view.hasMoreChanges(than: 4, of: domain, since: nil))
        #expect(try !view.hasMoreChanges(than: 5, of: domain, since: nil))
        await writer.close()
        database.close()
    }
}
