import DefaultsModel
import Foundation
import SQLite
import Testing

@testable import DefaultsStorage

/// Empty domains and surplus tokens, of which a database must not keep more and more.
@Suite struct ForgettingTests {
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

    @Test("Changes since a time that is forgotten are the whole domain, and say so")
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
        }
        try await database.flush()
        try await tidy(database)
        let first = try Domain("org.example.D0", on: .localhost)
        let last = try Domain("org.example.D19999", on: .localhost)
        #expect(try database.outcome(of: Token("token"), in: last) != nil)
        #expect(
            try !(0..<20_000).allSatisfy {
                try database.outcome(
                    of: Token("token"), in: Domain("org.example.D\($0)", on: .localhost)) != nil
            })
        _ = first
        database.close()
        #expect(
            try scratch.query("SELECT count(*) FROM tokens") == "[(\(Token.rememberedInAll),)]")
        let domains = try scratch.query(
            "SELECT count(*) < \(Token.rememberedInAll + 2 * Forgetting.emptyDomainsKept) FROM domains"
        )
        #expect(domains == "[(1,)]")
    }

    @Test("Tokens of an earlier version are remembered after the upgrade")
    func upgradedTokens() async throws {
        var database = try scratch.open()
        let domain = try Domain("org.example.App", on: .localhost)
        try database.remember(Token("old"), of: domain)
        try await database.flush()
        database.close()
        try scratch.execute(
            "ALTER TABLE state DROP COLUMN forgotten; PRAGMA user_version = 4")
        database = try scratch.open()
        try await tidy(database)
        #expect(try database.outcome(of: Token("old"), in: domain) != nil)
        database.close()
    }
}
