import DefaultsModel
import Foundation
import SQLite
import TestTiers
import Testing

@testable import DefaultsStorage

/// Empty domains and surplus tokens, which a database must not collect without limit.
@Suite(.startsPrograms) struct ForgettingTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private func tidy(_ database: Database) async throws {
        let writer = try database.makeWriter()
        while try await writer.tidy() {}
        await writer.close()
    }

    @Test("Domains that were made and removed do not stay for ever")
    func emptyDomains() async throws {
        let database = try scratch.open()
        for number in 0..<6000 {
            try database.set(["key": [1]], in: "org.example.D\(number)")
        }
        try await database.flush()
        for number in 0..<6000 where number != 17 { try database.clear("org.example.D\(number)") }
        try await database.flush()
        try await tidy(database)
        #expect(try database.domains().map(\.name) == ["org.example.D17"])
        database.close()
        let kept = 2 * Forgetting.emptyDomainsKept
        let rows = try scratch.query("SELECT count(*) < \(kept) FROM domains")
        #expect(rows == "[(1,)]")
        #expect(try scratch.query("SELECT count(*) FROM entries") == "[(1,)]")
        #expect(try scratch.size(scratch.store) < 1 << 20)
    }

    @Test("Changes since a forgotten time are the whole domain, and marked so")
    func changesAfterForgetting() async throws {
        let database = try scratch.open()
        let domain = try Domain("org.example.D0", on: .localhost)
        let before = database.generation
        let made = try database.set(["key": [1]], in: domain.name).generation
        for number in 1..<3000 { try database.set(["key": [1]], in: "org.example.D\(number)") }
        try await database.flush()
        let removed = try database.remove("key", in: domain.name).generation
        for number in 1..<3000 { try database.clear("org.example.D\(number)") }
        try await database.flush()
        #expect(try database.changes(of: domain, since: before).isComplete)
        try await tidy(database)
        let last = database.generation
        for since in [before, made, removed] {
            let changes = try database.changes(of: domain, since: since)
            #expect(!changes.isComplete || since >= removed)
        }
        #expect(try !database.changes(of: domain, since: made).isComplete)
        #expect(try database.changes(of: domain, since: last).isComplete)
        // Nothing proves that it is as it was then.
        let expected = Expectation.wholeDomain(made)
        #expect(try database.firstConflict(of: [expected], in: domain) != nil)
        #expect(try database.firstConflict(of: [.wholeDomain(last)], in: domain) == nil)
        let again = try database.set(["key": [2]], in: domain.name).generation
        #expect(again > last)
        #expect(try !database.changes(of: domain, since: made).isComplete)
        try await database.flush()
        #expect(try !database.changes(of: domain, since: made).isComplete)
        #expect(try database.changes(of: domain, since: last).changed.map(\.key.name) == ["key"])
        database.close()
    }

    @Test("Tokens of transactions that change nothing do not stay for ever")
    func tokens() async throws {
        let database = try scratch.open()
        for number in 0..<20_000 {
            try database.remember(
                Token("token"), of: Domain("org.example.D\(number)", on: .localhost))
            // Of the tokens of one flush, any may count as the oldest.
            if number == 9_999 { try await database.flush() }
        }
        try await database.flush()
        try await tidy(database)
        let last = try Domain("org.example.D19999", on: .localhost)
        #expect(try database.outcome(of: Token("token"), in: last) != nil)
        #expect(
            try !(0..<20_000).allSatisfy {
                try database.outcome(
                    of: Token("token"), in: Domain("org.example.D\($0)", on: .localhost)) != nil
            })
        database.close()
        #expect(
            try scratch.query("SELECT count(*) FROM tokens") == "[(\(Token.rememberedInAll),)]")
        let domains = try scratch.query(
            "SELECT count(*) < \(Token.rememberedInAll + 2 * Forgetting.emptyDomainsKept) FROM domains"
        )
        #expect(domains == "[(1,)]")
    }

    @Test("Tokens of domains with keys do not stay for ever while a daemon runs")
    func tokensOfARunningDaemon() async throws {
        let database = try scratch.open()
        let writer = try database.makeWriter()
        for number in 0..<24 {
            let domain = try Domain("org.example.D\(number)", on: .localhost)
            try database.set(["key": [1]], in: domain.name)
            for token in 0..<1024 { try database.remember(Token("\(token)"), of: domain) }
            let batch = try #require(database.beginFlush())
            let hasChores = try await writer.write(batch)
            database.finishFlush(batch, .success(()))
            if hasChores { while try await writer.tidy() {} }
        }
        await writer.close()
        database.close()
        #expect(
            try scratch.query("SELECT count(*) FROM tokens") == "[(\(Token.rememberedInAll),)]")
    }

    @Test("A step that forgets domains with many removed keys is short")
    func rowsOfAStep() async throws {
        let database = try scratch.open()
        let keys = (0..<8).map { "key\($0)" }
        for number in 0..<2100 {
            for key in keys { try database.set([key: [1]], in: "org.example.D\(number)") }
        }
        try await database.flush()
        for number in 0..<2100 {
            for key in keys { try database.remove(key, in: "org.example.D\(number)") }
        }
        try await database.flush()
        let connection = try StoreFile(path: scratch.store).connect()
        let count = {
            let select = try connection.prepare("SELECT count(*) FROM entries")
            return try select.step() ? select.integer(at: 0) : 0
        }
        let before = try count()
        #expect(before == 2100 * 8)
        #expect(try Forgetting(on: connection).forgetSome(isTight: false, isErased: true))
        let removed = before - (try count())
        #expect(removed > 0 && removed <= Forgetting.rowsAtOnce)
        database.close()
    }

    @Test("Tokens of an earlier version are remembered after the upgrade")
    func upgradedTokens() async throws {
        var database = try scratch.open()
        let domain = try Domain("org.example.App", on: .localhost)
        try database.remember(Token("old"), of: domain)
        try await database.flush()
        database.close()
        try scratch.execute(
            "DROP TABLE times; ALTER TABLE state DROP COLUMN forgotten; PRAGMA user_version = 4")
        database = try scratch.open()
        try await tidy(database)
        #expect(try database.outcome(of: Token("old"), in: domain) != nil)
        database.close()
    }
}
