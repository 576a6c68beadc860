import DefaultsModel
import TestTiers
import Testing

@testable import DefaultsStorage

/// The numbers in the names are those of the invariants of `Database`.
@Suite(.startsPrograms) struct DatabaseTests {
    @Test("A new database is at generation 1, and its first change is 2")
    func firstGenerations() throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        #expect(database.generation.rawValue == 1)
        #expect(database.durableGeneration.rawValue == 1)
        #expect(!database.needsFlush)
        #expect(try database.set(["key": [1]]).generation.rawValue == 2)
        #expect(database.generation.rawValue == 2)
        #expect(database.durableGeneration.rawValue == 1)
        #expect(database.pendingChanges == 1)
    }

    @Test("1: a change is seen at once, and after its flush, and by the next process")
    func seen() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["sound": [1], "music": []])
        try database.set(["sound": [9]], in: "org.example.App@host:box")
        func check(_ database: Database) throws {
            #expect(try database.archive("sound") == [1])
            #expect(try database.archive("music") == [])
            #expect(try database.archive("absent") == nil)
            #expect(try database.archive("sound", in: "org.example.App@host:box") == [9])
            #expect(try database.keys() == ["music", "sound"])
            #expect(
                try database.domains().map(\.description)
                    == ["org.example.App", "org.example.App@host:box"])
        }
        try check(database)
        try await database.flush()
        try check(database)
        #expect(database.durableGeneration == database.generation)
        #expect(database.pendingChanges == 0)
        #expect(database.pendingBytes == 0)
        database.close()
        try check(try scratch.open())
    }

    @Test("1: a removal is seen at once, and after its flush, and by the next process")
    func removals() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["a": [1], "b": [1]])
        try database.set(["a": [1]], in: "org.example.Other")
        try await database.flush()
        try database.remove("a")
        try database.remove("a", in: "org.example.Other")
        func check(_ database: Database) throws {
            #expect(try database.archive("a") == nil)
            #expect(try database.keys() == ["b"])
            #expect(try database.keys(in: "org.example.Other") == [])
            #expect(try database.domains().map(\.name) == ["org.example.App"])
        }
        try check(database)
        try await database.flush()
        try check(database)
        database.close()
        #expect(
            try scratch.query("SELECT name, key_count, key_bytes FROM domains ORDER BY name")
                == "[('org.example.App', 1, 1), ('org.example.Other', 0, 0)]")
        #expect(
            try scratch.query("SELECT key FROM entries WHERE archive IS NULL ORDER BY domain")
                == "[('a',), ('a',)]")
        try check(try scratch.open())
    }

    @Test("A value has the generation of its last change, pending or stored")
    func valueGenerations() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        let domain = try Domain(name: "org.example.App", layer: .domain)
        let change = try database.set(["key": [1]])
        try database.set(["other": [1]])
        #expect(try database.value(domain, Key("key"))?.generation == change.generation)
        try await database.flush()
        #expect(try database.value(domain, Key("key"))?.generation == change.generation)
    }

    @Test("Changes that are made during a flush stay pending and are seen")
    func changesDuringFlush() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["a": [1], "b": [1]])
        let batch = try #require(database.beginFlush())
        let later = try database.set(["a": [2]])
        let writer = try database.makeWriter()
        try await writer.write(batch)
        database.finishFlush(batch, .success(()))
        #expect(database.pendingChanges == 1)
        #expect(database.durableGeneration < later.generation)
        #expect(try database.archive("a") == [2])
        #expect(try database.archive("b") == [1])
        try await database.flush()
        #expect(database.durableGeneration == later.generation)
        #expect(try database.archive("a") == [2])
    }

    @Test("10 000 changes of one key are one row")
    func coalescing() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        for number in 0..<10_000 {
            try database.set(["key": Array(String(number).utf8)])
        }
        #expect(database.pendingChanges == 10_000)
        let batch = try #require(database.beginFlush())
        #expect(batch.changes.domains.values.map(\.entries.count) == [1])
        let writer = try database.makeWriter()
        try await writer.write(batch)
        database.finishFlush(batch, .success(()))
        await writer.close()
        database.close()
        #expect(try scratch.query("SELECT key, archive FROM entries") == "[('key', b'9999')]")
        #expect(try scratch.query("SELECT generation FROM state") == "[(10001,)]")
    }

    @Test("A layer that is read from files is empty at first")
    func readOnlyLayers() throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["key": [1]])
        for suffix in ["@managed", "@system"] {
            #expect(try database.archive("key", in: "org.example.App\(suffix)") == nil)
            #expect(try database.keys(in: "org.example.App\(suffix)") == [])
        }
    }

    @Test("Two spellings of one letter are two keys on disk too")
    func byteIdentity() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["\u{E9}": [1], "e\u{301}": [2]])
        try await database.flush()
        #expect(try database.archive("\u{E9}") == [1])
        #expect(try database.archive("e\u{301}") == [2])
        #expect(try database.keys().count == 2)
    }

    @Test(
        "6: a query about a domain or a key uses an index",
        arguments: [StoreQuery.value, StoreQuery.size, StoreQuery.keys, StoreQuery.totals])
    func queryPlans(query: String) throws {
        let scratch = try Scratch()
        try scratch.open().close()
        let plan = try Scratch.output(
            of: "/usr/bin/python3", "-c",
            """
            import sqlite3, sys
            rows = sqlite3.connect(sys.argv[1]).execute("EXPLAIN QUERY PLAN " + sys.argv[2],
                ["", "", ""][:3 if "?3" in sys.argv[2] else 2])
            print([row[3] for row in rows])
            """, "\(scratch.location.directory)/defaults.db", query)
        #expect(plan.contains("SEARCH"))
        #expect(!plan.contains("SCAN"))
    }
}
