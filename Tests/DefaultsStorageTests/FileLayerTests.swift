import DefaultsModel
import Foundation
import TestTiers
import Testing

@testable import DefaultsStorage

/// The layers that are made of files, as rows.
///
/// They are stored like all others, but no list shows the record of the files.
@Suite(.startsPrograms) struct FileLayerTests {
    private static let layers = ["org.example.App@managed", "org.example.App@system"]
    private static let record: [UInt8] = [UInt8](repeating: 0x5A, count: 300)

    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func domain(_ text: String) throws -> Domain { try Domain(text, on: .localhost) }

    /// Makes one change of a layer: a value of each key, and the record.
    @discardableResult
    private func fill(
        _ database: Database, _ layer: String, _ keys: [String] = ["a", "b"], to byte: UInt8 = 1,
        record: [UInt8] = record
    ) throws -> ChangeSet {
        try database.commit(
            ChangeProposal(
                domain: domain(layer),
                set: keys.map { .init(key: try Key($0), archive: [byte]) }
                    + [.init(key: .fileRecord, archive: record)],
                origin: ""))
    }

    /// A database with both layers and the user's own, not flushed.
    private func filled() throws -> Database {
        let database = try scratch.open()
        try fillAll(database)
        return database
    }

    private func fillAll(_ database: Database) throws {
        for (index, layer) in Self.layers.enumerated() {
            try fill(database, layer, to: UInt8(index + 1))
        }
        try database.set(["a": [9], "own": [9]])
        try database.set(["a": [8]], in: "org.example.App@host")
    }

    /// Checks that everything is there, and that no list has the record.
    private func expectAll(in database: Database) throws {
        for (index, layer) in Self.layers.enumerated() {
            let domain = try domain(layer)
            #expect(try database.keys(of: domain).map(\.name) == ["a", "b"])
            #expect(try database.summaries(of: domain).map(\.key.name) == ["a", "b"])
            #expect(try database.summaries(of: domain).map(\.size) == [1, 1])
            #expect(try database.archive("b", in: layer) == [UInt8(index + 1)])
            #expect(try database.value(domain, .fileRecord)?.archive == Self.record)
            // It counts among the keys, and its name has no bytes.
            #expect(try database.totals(of: domain).keys == 3)
            #expect(try database.totals(of: domain).nameBytes == 2)
            let changes = try database.changes(of: domain, since: nil)
            #expect(changes.changed.map(\.key.name) == ["a", "b"])
            #expect(changes.removed.isEmpty)
        }
        #expect(try database.archive("a") == [9])
        #expect(
            try database.domains().map(\.description)
                == ["org.example.App", "org.example.App@host:localhost"])
        #expect(try database.domainsOfFiles().map(\.description) == Self.layers)
    }

    /// The damage that a full check of a database's store finds.
    private func damage(of database: Database) throws -> StoreDamage {
        let check = StoreCheck(
            of: try StoreFile(path: database.path).connect(), path: database.path)
        while try check.advance() {}
        return check.damage
    }

    @Test("The layers come back from the journal, from the store, and from both")
    func surviving() async throws {
        // Each process dies at once.
        try scratch.process { try fillAll($0) }
        var database = try scratch.open()
        try expectAll(in: database)
        try await database.flush()
        try expectAll(in: database)
        database.close()
        // The store has an older value than the journal.
        try scratch.process {
            try expectAll(in: $0)
            try fill($0, Self.layers[0], ["b"], to: 7, record: [7])
        }
        database = try scratch.open()
        #expect(try database.archive("b", in: Self.layers[0]) == [7])
        #expect(try database.value(domain(Self.layers[0]), .fileRecord)?.archive == [7])
        try fill(database, Self.layers[0])
        try await database.flush()
        database.close()
        let last = try scratch.copyWithoutRuntime()
        try expectAll(in: try last.open(boot: .random()))
    }

    @Test("A change of the record alone is announced without names", arguments: [true, false])
    func changes(isFlushed: Bool) async throws {
        let database = try filled()
        if isFlushed { try await database.flush() }
        let domain = try domain(Self.layers[0])
        let before = database.generation
        try fill(database, Self.layers[0], [], record: [1])
        if isFlushed { try await database.flush() }
        var changes = try database.changes(of: domain, since: before)
        #expect(changes.isComplete && changes.changed.isEmpty && changes.removed.isEmpty)
        // The last file is gone.
        let last = try database.commit(
            ChangeProposal(
                domain: domain, removed: [.fileRecord] + ["a", "b"].map { try Key($0) }, origin: "")
        )
        if isFlushed { try await database.flush() }
        #expect(last.removed.count == 3)
        changes = try database.changes(of: domain, since: before)
        #expect(changes.isComplete && changes.changed.isEmpty)
        #expect(changes.removed.map(\.name) == ["a", "b"])
        #expect(try database.totals(of: domain).keys == 0)
        #expect(try database.value(domain, .fileRecord) == nil)
        #expect(try database.domainsOfFiles().map(\.description) == [Self.layers[1]])
    }

    @Test("A layer whose files are empty still counts as made of files")
    func emptyFiles() async throws {
        let database = try scratch.open()
        try fill(database, Self.layers[0], [])
        for _ in 1...2 {
            #expect(try database.domainsOfFiles().map(\.description) == [Self.layers[0]])
            #expect(try database.domains().isEmpty)
            #expect(try database.keys(of: domain(Self.layers[0])).isEmpty)
            #expect(try database.changes(of: domain(Self.layers[0]), since: nil).changed.isEmpty)
            try await database.flush()
        }
    }

    @Test("A check of the store finds nothing, with the record, without it, and after removals")
    func checking() async throws {
        let database = try filled()
        try await database.flush()
        #expect(try damage(of: database).description == "Nothing is damaged.")
        _ = try database.commit(
            ChangeProposal(
                domain: domain(Self.layers[0]), removed: [.fileRecord, Key("a")], origin: ""))
        try await database.flush()
        #expect(try damage(of: database).description == "Nothing is damaged.")
        database.close()
        #expect(
            try scratch.query(
                "SELECT host, key_count, key_bytes FROM domains WHERE host LIKE '@%' ORDER BY host")
                == "[('@managed', 1, 1), ('@system', 3, 2)]")
    }

    @Test("A backup contains them and is sound, and restoring ignores them")
    func backup() async throws {
        let database = try filled()
        for number in 0..<600 {
            try fill(database, "org.example.Many@managed", ["key\(number)"])
        }
        try await database.flush()
        let backup = try #require(try await database.backUp(.manual, at: 1).backup)
        let writer = try database.makeWriter()
        let reader = try await writer.open(backup)
        while try await reader.verify() {}
        #expect(await reader.damage.isNone)
        var told: [String] = []
        while let part = try await reader.next() {
            told += part.values.map { "\($0.key) of \(part.domain)" }
        }
        #expect(
            told == [
                "a of org.example.App", "own of org.example.App",
                "a of org.example.App@host:localhost",
            ])
        await writer.close()
    }

    @Test("If the database is gone, the layers come from a backup, with the record")
    func fromBackup() async throws {
        let database = try filled()
        try await database.flush()
        _ = try #require(try await database.backUp(.manual, at: 1).backup)
        database.close()
        try FileManager.default.removeItem(atPath: scratch.store)
        let again = try scratch.open()
        try expectAll(in: again)
        // By which those who read the files know that the record may vouch for too much.
        #expect(again.lastRepair != nil)
        #expect(try damage(of: again).isNone)
    }

    @Test("A lost record is reported, and costs nothing else")
    func lostRecord() async throws {
        var database = try filled()
        try await database.flush()
        database.close()
        try scratch.execute("UPDATE entries SET checksum = checksum + 1 WHERE key = ''")
        database = try scratch.open()
        let managed = try domain(Self.layers[0])
        let error = #expect(throws: StorageError.self) { try database.value(managed, .fileRecord) }
        #expect(error?.code == .damagedRow)
        #expect(error?.description.contains("the record of the files in \(managed)") == true)
        #expect(error?.description.hasSuffix("the administrator or vendor that sets it.") == true)
        let damage = try damage(of: database).description
        #expect(damage.contains("the record of the files in \(managed)"))
        #expect(try database.keys(of: managed).map(\.name) == ["a", "b"])
        database.close()
        database = try scratch.open(damage: damage)
        let repair = try #require(scratch.repair)
        #expect(repair.contains("2 keys are lost: the record of the files of \(managed)"))
        for text in [error?.description ?? "", damage, repair] { #expect(!text.contains("''")) }
        for (index, layer) in Self.layers.enumerated() {
            #expect(try database.value(domain(layer), .fileRecord) == nil)
            #expect(try database.archive("a", in: layer) == [UInt8(index + 1)])
        }
        #expect(try database.domainsOfFiles().map(\.description) == Self.layers)
        try fill(database, Self.layers[0])
        try fill(database, Self.layers[1], to: 2)
        try await database.flush()
        try expectAll(in: database)
        #expect(try self.damage(of: database).isNone)
    }

    @Test("A store whose pages are damaged gives the layers back by their checksums")
    func salvage() async throws {
        let database = try filled()
        for number in 0..<300 {
            try fill(database, "org.example.Many@system", ["key\(number)"], to: UInt8(number % 256))
        }
        try await database.flush()
        database.close()
        try scratch.execute("DROP TABLE state")
        let again = try scratch.open()
        #expect(scratch.repair?.contains(/keys? (is|are) lost/) == false)
        #expect(try again.keys(of: domain("org.example.Many@system")).count == 300)
        #expect(try again.value(domain("org.example.Many@system"), .fileRecord) != nil)
        #expect(try damage(of: again).isNone)
    }

    @Test("A database of an earlier version accepts them, and keeps its values")
    func olderStore() async throws {
        var database = try scratch.open()
        try database.set(["a": [9], "own": [9]])
        try database.set(["a": [8]], in: "org.example.App@host")
        try await database.flush()
        database.close()
        try scratch.execute("DROP TABLE times; DROP TABLE hosts; PRAGMA user_version = 3")
        database = try scratch.open()
        #expect(try database.domainsOfFiles().isEmpty)
        for (index, layer) in Self.layers.enumerated() {
            try fill(database, layer, to: UInt8(index + 1))
        }
        try expectAll(in: database)
        try await database.flush()
        try expectAll(in: database)
        #expect(try damage(of: database).isNone)
    }

    @Test("A layer that this program does not know is left alone", arguments: ["@policy", "@"])
    func unknownLayer(column: String) async throws {
        var database = try filled()
        try await database.flush()
        database.close()
        try scratch.execute("UPDATE domains SET host = '\(column)' WHERE host = '@system'")
        database = try scratch.open()
        #expect(try database.domainsOfFiles().map(\.description) == [Self.layers[0]])
        #expect(try database.archive("a") == [9])
        try fill(database, Self.layers[1], to: 2)
        try expectAll(in: database)
        try await database.flush()
        try expectAll(in: database)
    }
}
