import DefaultsModel
import Foundation
import SQLite
import TestTiers
import Testing

@testable import DefaultsStorage

/// Domains with very many entries that are removed as a whole.
@Suite(.startsPrograms) struct DroppedDomainTests {
    private static let large = "org.example.Large"
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private func fill(_ database: Database, _ count: Int, byte: UInt8 = 3) throws {
        for number in 0..<count { try database.set(["key\(number)": [byte]], in: Self.large) }
    }

    private func tidy(_ database: Database) async throws {
        let writer = try database.makeWriter()
        while try await writer.tidy() {}
        await writer.close()
    }

    /// The result of a query on the files as they are, while the database is open.
    private func rows(_ sql: String) throws -> String {
        try scratch.copyAll().query(sql)
    }

    /// The store's rows about dropped domains.
    private func dropped() throws -> String {
        try rows("SELECT count(*), min(name) FROM domains WHERE host LIKE '!%'")
    }

    @Test(
        "A disk full of very many small values recovers when their domain is removed",
        .enabled(if: SmallFileSystem.isAvailable, "only root may mount a small file system"),
        arguments: [false, true])
    func healed(isInterleaved: Bool) async throws {
        let disk = try SmallFileSystem(mebibytes: 80)
        let place = try Scratch(in: "\(disk.path)/scratch")
        let runtime = try Scratch()
        let database = try Database(
            at: DatabaseLocation(
                directory: place.location.directory, runtimeDirectory: "\(runtime.root)/run")
        ) { _ in }
        let value = [UInt8](repeating: 3, count: 900)
        for number in 0..<26_000 {
            try database.set(["key\(number)": value], in: Self.large)
            // Every page has a row that stays.
            if isInterleaved, number % 4 == 0 { try database.set(["kept\(number)": [1]]) }
            if number % 2000 == 0 { try await database.flush() }
        }
        try database.set(["kept": [1]])
        try await database.flush()
        let writer = try database.makeWriter()
        while try await writer.tidy() {}
        #expect(database.reserveSize == DiskReserve.size)
        try disk.fill()
        try database.clear(Self.large)
        let batch = try #require(database.beginFlush())
        #expect(try await writer.write(batch))
        database.finishFlush(batch, .success(()))
        while try await writer.tidy() {}
        await writer.close()
        let keys = try database.keys().count
        #expect(keys == (isInterleaved ? 6501 : 1))
        database.close()
        #expect(try place.size(place.store) < 2 << 20)
        #expect(try place.query("SELECT count(*) FROM entries") == "[(\(keys),)]")
        #expect(try place.query("PRAGMA integrity_check") == "[('ok',)]")
    }

    @Test("A large domain that is removed and set again has its later values, tidied up or not")
    func setAgain() async throws {
        var database = try scratch.open()
        let domain = try Domain(Self.large, on: .localhost)
        try fill(database, 1000)
        try database.remember(Token("before"), of: domain)
        try await database.flush()
        let before = database.generation
        try database.clear(Self.large)
        try database.set(["key7": [4]], in: Self.large)
        try await database.flush()
        let expectNew = { () throws in
            #expect(try database.keys(in: Self.large) == ["key7"])
            #expect(try database.archive("key7", in: Self.large) == [4])
            #expect(try database.archive("key8", in: Self.large) == nil)
            #expect(try !database.changes(of: domain, since: before).isComplete)
            #expect(try database.outcome(of: Token("before"), in: domain) != nil)
            #expect(try database.domains() == [domain])
        }
        #expect(try dropped() == "[(1, '\(Self.large)')]")
        try expectNew()
        database.close()
        // The next process goes on.
        database = try scratch.open()
        try expectNew()
        try await tidy(database)
        try expectNew()
        #expect(try dropped() == "[(0, None)]")
        #expect(try rows("SELECT count(*) FROM entries") == "[(1,)]")
        database.close()
        database = try scratch.open()
        try expectNew()
        database.close()
    }

    @Test(
        "A domain that is dropped many times, and forgotten, gets no entries of another"
    )
    func numbers() async throws {
        let database = try scratch.open()
        for round in 0..<4 {
            try fill(database, 300, byte: UInt8(round))
            try await database.flush()
            try database.clear(Self.large)
            try await database.flush()
            try database.set(["key": [9]], in: "org.example.D\(round)")
            try await database.flush()
            #expect(try database.keys(in: "org.example.D\(round)") == ["key"])
        }
        #expect(try dropped() == "[(4, '\(Self.large)')]")
        #expect(try database.keys(in: Self.large).isEmpty)
        try await tidy(database)
        #expect(try rows("SELECT count(*) FROM entries") == "[(4,)]")
        #expect(try dropped() == "[(0, None)]")
        database.close()
    }

    @Test("A process that ends, or is killed, right after a removal leaves work for the next one")
    func leftForTheNext() async throws {
        let database = try scratch.open()
        try fill(database, 1000)
        try await database.flush()
        let writer = try database.makeWriter()
        while try await writer.tidy() {}
        #expect(await !writer.mayHoldRemovedValues)
        try database.clear(Self.large)
        try await database.flush(by: writer)
        #expect(await writer.mayHoldRemovedValues)
        await writer.close()
        database.close()
        let next = try scratch.open()
        let other = try next.makeWriter()
        #expect(await other.mayHoldRemovedValues)
        while try await other.tidy() {}
        #expect(await !other.mayHoldRemovedValues)
        await other.close()
        next.close()
    }

    @Test("The row of a dropped domain stays as long as a long read keeps its entries in the file")
    func longRead() async throws {
        let database = try scratch.open()
        try fill(database, 6000)
        try await database.flush()
        let writer = try database.makeWriter()
        try await writer.beginLog()
        try database.clear(Self.large)
        try await database.flush(by: writer)
        let reading = try database.snapshot()
        while try await writer.tidy() {}
        #expect(await writer.mayHoldRemovedValues)
        #expect(try rows("SELECT count(*) FROM entries") == "[(0,)]")
        #expect(try dropped() == "[(1, '\(Self.large)')]")
        reading.close()
        try database.set(["later": [1]])
        let second = try #require(database.beginFlush())
        try await writer.write(second)
        database.finishFlush(second, .success(()))
        while try await writer.tidy() {}
        #expect(await !writer.mayHoldRemovedValues)
        #expect(try dropped() == "[(0, None)]")
        await writer.close()
        database.close()
    }

    @Test("A dropped domain is not damage, neither in a check nor in reading a backup")
    func check() async throws {
        let database = try scratch.open()
        try fill(database, 1000)
        try database.set(["kept": [1]])
        try await database.flush()
        try database.clear(Self.large)
        try await database.flush()
        let writer = try database.makeWriter()
        guard case .made(let backup) = try await writer.backUp(.manual) else {
            Issue.record("no backup")
            return
        }
        let reader = try await writer.open(backup)
        while try await reader.verify() {}
        #expect(await reader.damage.isNone)
        var keys: [Key] = []
        while let part = try await reader.next() { keys += part.values.map(\.key) }
        #expect(keys == [try Key("kept")])
        await writer.close()
        database.close()
    }
}
