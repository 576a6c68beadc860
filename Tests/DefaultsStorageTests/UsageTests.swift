import DefaultsModel
import TestTiers
import Testing

@testable import DefaultsStorage

/// What programs have stored, as the database counts it.
@Suite(.startsPrograms) struct UsageTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func domain(_ name: String = "org.example.App") throws -> Domain {
        try Domain(name, on: .localhost)
    }

    @Test("The sizes of values are counted while they are pending, on disk, and after a start")
    func counted() async throws {
        var database = try scratch.open()
        try database.set(["a": [1, 2, 3], "bc": [4]])
        #expect(
            try database.totals(of: domain()) == KeyTotals(keys: 2, nameBytes: 3, valueBytes: 4))
        try await database.flush()
        try database.set(["a": [9]])
        try database.remove("bc")
        #expect(
            try database.totals(of: domain()) == KeyTotals(keys: 1, nameBytes: 1, valueBytes: 1))
        try await database.flush()
        database.close()
        database = try scratch.open()
        #expect(
            try database.totals(of: domain()) == KeyTotals(keys: 1, nameBytes: 1, valueBytes: 1))
        try database.clear()
        #expect(try database.totals(of: domain()) == KeyTotals())
        database.close()
    }

    @Test("A database of an earlier version gets the sizes of its values")
    func upgraded() async throws {
        var database = try scratch.open()
        try database.set(["a": [1, 2, 3], "b": [4]])
        try database.remove("b")
        try await database.flush()
        database.close()
        try scratch.execute(
            "DROP TABLE times; ALTER TABLE domains DROP COLUMN value_bytes; PRAGMA user_version = 5"
        )
        database = try scratch.open()
        #expect(
            try database.totals(of: domain()) == KeyTotals(keys: 1, nameBytes: 1, valueBytes: 3))
        database.close()
    }

    @Test("A backup of an earlier version is verified without these sizes")
    func earlierBackup() async throws {
        let database = try scratch.open()
        try database.set(["a": [1, 2, 3]])
        try await database.flush()
        database.close()
        try scratch.execute(
            "DROP TABLE times; ALTER TABLE domains DROP COLUMN value_bytes; PRAGMA user_version = 5"
        )
        let check = try StoreCheck(
            of: StoreFile(path: scratch.store).connect(), path: scratch.store)
        while try check.advance() {}
        #expect(check.damage.isNone, "\(check.damage)")
    }

    @Test("A wrong size is found")
    func wrong() async throws {
        let database = try scratch.open()
        try database.set(["a": [1, 2, 3]])
        try await database.flush()
        database.close()
        try scratch.execute("UPDATE domains SET value_bytes = 4")
        let check = try StoreCheck(
            of: StoreFile(path: scratch.store).connect(), path: scratch.store)
        while try check.advance() {}
        #expect(!check.damage.isNone)
    }

    @Test("An application has its domain and those below it, in all layers that it can write")
    func application() async throws {
        let database = try scratch.open()
        for name in [
            "org.example.App", "org.example.App.Helper", "org.example.App@host",
            "org.example.App-Other", "org.example.Application", "org.example", "org.example.AppX.Y",
        ] {
            try database.set(["key": [1, 2]], in: name)
            if name.hasSuffix("Helper") { try await database.flush() }
        }
        let pattern = DomainPattern(domainAndBelow: try domain())
        #expect(try database.usage(of: pattern).domains == 3)
        #expect(try database.usage(of: pattern).bytes == 15)
        #expect(try database.usage(of: nil).domains == 7)
        try await database.flush()
        #expect(try database.usage(of: pattern).keys == 3)
        try database.clear("org.example.App.Helper")
        #expect(try database.usage(of: pattern).domains == 2)
        database.close()
    }

    @Test(
        "All domains together have what each of them has, pending or on disk, without those of files"
    )
    func all() async throws {
        let database = try scratch.open()
        func compare() throws {
            var sum = Usage()
            for (domain, totals) in try database.view.totals() where domain.layer.isWritable {
                sum.add(totals)
            }
            #expect(try database.usage(of: nil) == sum)
            #expect(sum.domains > 0)
        }
        try database.set(["a": [1, 2, 3], "bc": [4]])
        try database.set(["d": [5]], in: "org.example.App@host")
        try database.set(["e": [6, 7]], in: "org.example.Other@managed")
        try compare()
        try await database.flush()
        try compare()
        try database.set(["a": [9], "f": [1, 2]])
        try database.set(["g": [1]], in: "org.example.New")
        try database.clear("org.example.App@host")
        try compare()
        try await database.flush()
        try compare()
        database.close()
    }

    @Test("A domain that has only tokens is in use")
    func tokens() async throws {
        let database = try scratch.open()
        let pattern = DomainPattern(domainAndBelow: try domain())
        try database.remember(Token("token"), of: domain("org.example.App.A"))
        #expect(try database.domainsInUse(pattern, atMost: 9) == 1)
        try await database.flush()
        try database.set(["key": [1]], in: "org.example.App.B")
        #expect(try database.domainsInUse(pattern, atMost: 9) == 2)
        #expect(try database.domainsInUse(pattern, atMost: 1) == 1)
        database.close()
    }

    @Test("Very many tokens of some domains do not make those of others forgotten")
    func fairness() async throws {
        let database = try scratch.open()
        let writer = try database.makeWriter()
        func flush() async throws {
            let batch = try #require(database.beginFlush())
            let hasChores = try await writer.write(batch)
            database.finishFlush(batch, .success(()))
            if hasChores { while try await writer.tidy() {} }
        }
        try database.remember(Token("mine"), of: domain("org.example.Quiet"))
        try await flush()
        for number in 0..<20 {
            let greedy = try domain("org.example.Greedy\(number)")
            for token in 0..<1024 { try database.remember(Token("\(token)"), of: greedy) }
            try await flush()
        }
        #expect(
            try database.outcome(of: Token("mine"), in: domain("org.example.Quiet")) != nil)
        await writer.close()
        database.close()
        let most = Token.rememberedInAll
        #expect(try scratch.query("SELECT count(*) <= \(most) FROM tokens") == "[(1,)]")
    }
}
