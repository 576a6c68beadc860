import DefaultsModel
import TestTiers
import Testing

@testable import DefaultsStorage

/// Tokens and expectations in a database.
@Suite(.startsPrograms) struct TransactionTests {
    private let domain: Domain
    private let scratch: Scratch

    init() throws {
        domain = try Domain(name: "org.example.App", layer: .domain)
        scratch = try Scratch()
    }

    @discardableResult
    private func commit(_ database: Database, _ key: String, token: String) throws -> Generation {
        try database.commit(
            ChangeProposal(
                domain: domain, set: [.init(key: Key(key), archive: [1])], token: Token(token),
                origin: ":1.1")
        ).generation
    }

    @Test("A token is remembered while pending, flushed, after a restart and after a crash")
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

    @Test("The token of a transaction without a change survives a crash, and costs no generation")
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

    @Test("A token survives the rewriting of the journal")
    func tokenInRewrittenJournal() throws {
        try scratch.process { database in
            _ = try commit(database, "a", token: "early")
            let large = [UInt8](repeating: 1, count: 1 << 20)
            for number in 0..<12 { try database.set(["large": large + [UInt8(number)]]) }
        }
        #expect(try scratch.open().outcome(of: Token("early"), in: domain)?.rawValue == 2)
    }

    /// What happens repeatedly while a domain gets tokens.
    enum TokenWay: CaseIterable {
        case oneFlush, manyFlushes, failedFlushes, unseenFlushes, crashes, rewrittenJournals
    }

    @Test(
        "Only the newest tokens of a domain are remembered, however they reach the disk",
        arguments: TokenWay.allCases)
    func bound(way: TokenWay) async throws {
        var database = try scratch.open()
        var batch: FlushBatch?
        let kept = Token.rememberedPerDomain
        let tokens = try (0..<3 * kept).map { try Token("\($0)") }
        for (number, token) in tokens.enumerated() {
            // Those of changes stand among those of no change.
            if number.isMultiple(of: 100) {
                try commit(database, "key \(number)", token: token.name)
            } else {
                try database.remember(token, of: domain)
            }
            if number % (kept / 2) == 100 { try await go(way, &database, &batch) }
        }
        try await database.flush()
        let known = try tokens.filter { try database.outcome(of: $0, in: domain) != nil }
        let newest = Array(tokens.suffix(kept))
        #expect(known == newest)
        database.close()
        let stored = try scratch.query(
            "SELECT group_concat(token, ' ') FROM (SELECT token FROM tokens ORDER BY id)")
        #expect(stored == "[('\(newest.map(\.name).joined(separator: " "))',)]")
    }

    private func go(
        _ way: TokenWay, _ database: inout Database, _ batch: inout FlushBatch?
    ) async throws {
        switch way {
        case .oneFlush: return
        case .manyFlushes: return try await database.flush()
        case .failedFlushes:
            // One that begins at one time fails at the next.
            guard let failing = batch else { return batch = database.beginFlush() }
            database.finishFlush(failing, .failure(.noHome()))
            return batch = nil
        case .unseenFlushes:
            let writer = try database.makeWriter()
            try await writer.write(#require(database.beginFlush()))
            await writer.close()
        case .crashes: break
        case .rewrittenJournals:
            for value in 0..<12 {
                try database.set(["large": Array(repeating: UInt8(value), count: 1 << 20)])
            }
        }
        database.close()
        database = try scratch.open()
    }

    @Test("Expectations of keys and of the domain compare generations, pending and flushed")
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

    @Test("Keys are unchanged since their last change or removal, pending and flushed")
    func unchangedSince() async throws {
        let database = try scratch.open()
        let before = try database.set(["a": [1], "b": [1]]).generation
        let set = try database.set(["a": [2]]).generation
        let removed = try database.remove("b").generation
        func holds(_ key: String, _ number: UInt64) throws -> Bool {
            let expectation = Expectation.unchanged(
                try Key(key), since: Generation(rawValue: number))
            return try database.firstConflict(of: [expectation], in: domain) == nil
        }
        for _ in 1...2 {
            #expect(try !holds("a", before.rawValue))
            #expect(try holds("a", set.rawValue))
            #expect(try !holds("b", set.rawValue))
            #expect(try holds("b", removed.rawValue))
            #expect(try holds("absent", 1))
            for key in ["a", "b", "absent"] {
                #expect(try !holds(key, 0))
                #expect(try !holds(key, removed.rawValue + 1))
                #expect(try !holds(key, .max))
            }
            try await database.flush()
        }
        database.close()
    }

    @Test(
        "A missing key may have been removed before the record of removals begins",
        arguments: [true, false])
    func unchangedSinceForgottenRemovals(isFlushed: Bool) async throws {
        let database = try scratch.open()
        let before = try database.set(["a": [1]]).generation
        let cleared = try database.commit(ChangeProposal(clearing: domain, origin: "")).generation
        let later = try database.set(["b": [1]]).generation
        if isFlushed { try await database.flush() }
        func holds(_ key: String, _ since: Generation) throws -> Bool {
            let expectation = Expectation.unchanged(try Key(key), since: since)
            return try database.firstConflict(of: [expectation], in: domain) == nil
        }
        for key in ["a", "absent"] {
            #expect(try !holds(key, before))
            #expect(try holds(key, cleared))
        }
        #expect(try !holds("b", cleared))
        #expect(try holds("b", later))
        database.close()
    }

    @Test("After a power cut a key may have changed after every number that is lost")
    func unchangedSincePowerCut() async throws {
        let database = try scratch.open()
        let durable = try database.set(["a": [1]]).generation
        let other = try database.set(["x": [1]], in: "org.example.Other").generation
        try await database.flush()
        // The key was different at this number, which is lost.
        let lost = try database.set(["a": [2]]).generation
        let copy = try scratch.copyWithoutRuntime()
        let after = try copy.open(boot: .random())
        func holds(_ key: String, _ since: Generation) throws -> Bool {
            let expectation = Expectation.unchanged(try Key(key), since: since)
            return try after.firstConflict(of: [expectation], in: domain) == nil
        }
        for key in ["a", "absent"] {
            for since in [durable, other] { #expect(try holds(key, since)) }
            #expect(try !holds(key, lost))
        }
        for key in ["a", "absent"] { #expect(try holds(key, after.generation)) }
        database.close()
        after.close()
        withExtendedLifetime(copy) {}
    }

    @Test("After a power cut a domain may have changed after every number that is lost")
    func expectationsAfterPowerCut() async throws {
        let database = try scratch.open()
        let durable = try database.set(["a": [1]]).generation
        let other = try database.set(["x": [1]], in: "org.example.Other").generation
        try await database.flush()
        let lost = try database.set(["a": [2]]).generation
        let after = try scratch.copyWithoutRuntime().open(boot: .random())
        let landing = after.generation
        let unknown = try Domain(name: "org.example.Unknown", layer: .domain)
        func holds(_ generation: Generation?, in domain: Domain) throws -> Bool {
            let expected = [Expectation.wholeDomain(generation)]
            return try after.firstConflict(of: expected, in: domain) == nil
        }
        for generation in [durable, other] { #expect(try holds(generation, in: domain)) }
        for generation in [lost, landing.advanced(by: 1)] {
            #expect(try !holds(generation, in: domain))
            #expect(try !holds(generation, in: unknown))
        }
        for domain in [domain, unknown] { #expect(try holds(landing, in: domain)) }
        #expect(try !holds(nil, in: domain))
        #expect(try holds(nil, in: unknown))
        database.close()
    }
}
