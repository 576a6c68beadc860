import DefaultsModel
import Testing

@testable import DefaultsStorage

/// Tokens and expectations in a database.
@Suite struct TransactionTests {
    private let domain: Domain
    private let scratch: Scratch

    init() throws {
        domain = try Domain(name: "org.example.App", layer: .domain)
        scratch = try Scratch()
    }

    private func commit(_ database: Database, _ key: String, token: String) throws -> Generation {
        try database.commit(
            ChangeProposal(
                domain: domain, set: [.init(key: Key(key), archive: [1])], token: Token(token),
                origin: ":1.1")
        ).generation
    }

    @Test("A token is remembered pending, flushed, over a restart and over a crash")
    func tokens() async throws {
        var database = try scratch.open()
        let first = try commit(database, "a", token: "first")
        try await database.flush()
        let second = try commit(database, "b", token: "second")
        for _ in 1...2 {
            #expect(try database.outcome(of: Token("first"), in: domain) == first)
            #expect(try database.outcome(of: Token("second"), in: domain) == second)
            #expect(try database.outcome(of: Token("third"), in: domain) == nil)
            let host = try Domain(name: domain.name, layer: .host(.localhost))
            #expect(try database.outcome(of: Token("first"), in: host) == nil)
            database.close()
            database = try scratch.open()
        }
        try await database.flush()
        #expect(try database.outcome(of: Token("second"), in: domain) == second)
    }

    @Test("The token of what was no change is remembered over a crash, and costs no generation")
    func tokenOfNoChange() async throws {
        let given = try scratch.process { database in
            try database.set(["a": [1]])
            try database.remember(Token("same"), of: domain)
            #expect(database.pendingChanges == 1)
            return database.generation
        }
        let database = try scratch.open()
        #expect(database.generation == given)
        #expect(try database.outcome(of: Token("same"), in: domain) == given)
        try await database.flush()
        #expect(try database.outcome(of: Token("same"), in: domain) == given)
        #expect(!database.needsFlush)
    }

    @Test("A token outlives the rewriting of the journal")
    func tokenInRewrittenJournal() throws {
        try scratch.process { database in
            _ = try commit(database, "a", token: "early")
            let large = [UInt8](repeating: 1, count: 1 << 20)
            for number in 0..<12 { try database.set(["large": large + [UInt8(number)]]) }
        }
        #expect(try scratch.open().outcome(of: Token("early"), in: domain)?.rawValue == 2)
    }

    @Test("Of a domain's tokens the newest are remembered, and no more than so many")
    func bound() async throws {
        let database = try scratch.open()
        try database.set(["a": [1]])
        let kept = Token.rememberedPerDomain
        for half in 0..<2 {
            for number in 0..<kept {
                try database.remember(Token("\(half) \(number)"), of: domain)
            }
            try await database.flush()
        }
        #expect(try database.outcome(of: Token("0 \(kept - 1)"), in: domain) == nil)
        #expect(try database.outcome(of: Token("1 0"), in: domain) == database.generation)
        database.close()
        #expect(try scratch.query("SELECT count(*) FROM tokens") == "[(\(kept),)]")
    }

    @Test("Expectations of keys and of the domain hold by generation, pending and flushed")
    func expectations() async throws {
        let database = try scratch.open()
        let first = try database.set(["a": [1]]).generation
        let second = try database.set(["b": [1]]).generation
        let other = try database.set(["x": [1]], in: "org.example.Other").generation
        func holds(_ subject: String, _ number: UInt64) throws -> Bool {
            try database.firstConflict(of: [Expectation(subject, number)], in: domain) == nil
        }
        for _ in 1...2 {
            #expect(try holds("a", first.rawValue))
            #expect(try !holds("a", second.rawValue))
            #expect(try !holds("a", 0))
            #expect(try holds("absent", 0))
            #expect(try !holds("absent", first.rawValue))
            #expect(try holds("", second.rawValue))
            #expect(try holds("", other.rawValue))
            #expect(try !holds("", first.rawValue))
            #expect(try !holds("", other.rawValue + 1))
            #expect(try !holds("", 0))
            try await database.flush()
        }
        try database.remove("a", "b")
        #expect(try holds("", 0))
        #expect(try holds("a", 0))
        #expect(try !holds("a", first.rawValue))
        #expect(try !holds("", other.rawValue))
    }
}
