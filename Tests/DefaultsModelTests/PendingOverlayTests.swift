import DefaultsModel
import Testing

/// The numbers in the names are those of the invariants of `PendingOverlay`.
@Suite struct PendingOverlayTests {
    private let domain: Domain
    private let other: Domain
    private let key: Key
    private let otherKey: Key

    init() throws {
        domain = try Domain(name: "org.example.App", layer: .domain)
        other = try Domain(name: "org.example.Other", layer: .domain)
        key = try Key("key")
        otherKey = try Key("other")
    }

    private func change(
        _ generation: UInt64, in domain: Domain? = nil, set: [(Key, [UInt8])] = [],
        removed: [Key] = []
    ) throws -> ChangeSet {
        ChangeSet(
            generation: try #require(Generation(rawValue: generation)),
            proposal: ChangeProposal(
                domain: domain ?? self.domain,
                set: set.map { .init(key: $0.0, archive: $0.1) }, removed: removed, origin: ":1.1"))
    }

    @Test("3: of several changes to a key the last one stays, and each was counted")
    func coalesces() throws {
        var overlay = PendingOverlay()
        overlay.add(try change(2, set: [(key, [1, 2, 3])]), totals: KeyTotals(keys: 1))
        let bytes = overlay.bytes
        overlay.add(try change(3, set: [(key, [4, 5, 6])]), totals: KeyTotals(keys: 1))
        #expect(overlay.entry(domain, key)?.archive == [4, 5, 6])
        #expect(overlay.entry(domain, key)?.generation.rawValue == 3)
        #expect(overlay.bytes == bytes)
        #expect(overlay.count == 2)
        #expect(overlay.beginFlush().domains[domain]?.entries.count == 1)
    }

    @Test("A removal is pending as a removal, not as nothing")
    func removals() throws {
        var overlay = PendingOverlay()
        overlay.add(try change(2, removed: [key]), totals: KeyTotals())
        #expect(
            overlay.entry(domain, key)
                == PendingEntry(
                    archive: nil, generation: try #require(Generation(rawValue: 2))))
        #expect(overlay.entry(domain, otherKey) == nil)
        #expect(overlay.entry(other, key) == nil)
    }

    @Test("1 and 2: during a flush, its changes and later ones are both seen")
    func duringFlush() throws {
        var overlay = PendingOverlay()
        overlay.add(
            try change(2, set: [(key, [1]), (otherKey, [1])]), totals: KeyTotals(keys: 2))
        let batch = overlay.beginFlush()
        overlay.add(try change(3, removed: [key]), totals: KeyTotals(keys: 1))
        #expect(overlay.entry(domain, key)?.archive == nil)
        #expect(overlay.entry(domain, otherKey)?.archive == [1])
        #expect(overlay.totals(of: domain)?.keys == 1)
        #expect(overlay.entries(of: domain).mapValues(\.archive) == [key: nil, otherKey: [1]])
        #expect(batch.domains[domain]?.entries[key]?.archive == [1])
        #expect(batch.domains[domain]?.totals.keys == 2)
        #expect(overlay.count == 2)
    }

    @Test("1: a flush that succeeds removes its changes and leaves later ones")
    func finish() throws {
        var overlay = PendingOverlay()
        overlay.add(
            try change(2, set: [(key, [1]), (otherKey, [1])]), totals: KeyTotals(keys: 2))
        _ = overlay.beginFlush()
        overlay.add(try change(3, set: [(key, [2])]), totals: KeyTotals(keys: 2))
        overlay.finishFlush()
        #expect(overlay.entry(domain, key)?.archive == [2])
        #expect(overlay.entry(domain, otherKey) == nil)
        #expect(overlay.count == 1)
        _ = overlay.beginFlush()
        overlay.finishFlush()
        #expect(overlay.isEmpty)
        #expect(overlay.bytes == 0)
        #expect(overlay.domains.isEmpty)
    }

    @Test("1 and 3: a flush that fails leaves everything, the newest of each key")
    func abandon() throws {
        var overlay = PendingOverlay()
        overlay.add(
            try change(2, set: [(key, [1]), (otherKey, [1])]), totals: KeyTotals(keys: 2))
        _ = overlay.beginFlush()
        overlay.add(try change(3, set: [(key, [2])]), totals: KeyTotals(keys: 2))
        overlay.add(try change(4, in: other, set: [(key, [3])]), totals: KeyTotals(keys: 1))
        overlay.abandonFlush()
        #expect(overlay.count == 3)
        #expect(overlay.bytesToFlush == overlay.bytes)
        let batch = overlay.beginFlush()
        #expect(batch.newest?.rawValue == 4)
        #expect(batch.domains[domain]?.entries.mapValues(\.archive) == [key: [2], otherKey: [1]])
        #expect(batch.domains[other]?.entries.mapValues(\.archive) == [key: [3]])
        overlay.finishFlush()
        #expect(overlay.bytes == 0)
    }

    @Test("5: the totals are those after the last change, or the store's if none is pending")
    func totals() throws {
        var overlay = PendingOverlay()
        #expect(overlay.totals(of: domain) == nil)
        overlay.add(
            try change(2, set: [(key, [1])]), totals: KeyTotals(keys: 7, nameBytes: 70))
        overlay.add(
            try change(3, removed: [key]), totals: KeyTotals(keys: 6, nameBytes: 67))
        #expect(overlay.totals(of: domain) == KeyTotals(keys: 6, nameBytes: 67))
        #expect(overlay.totals(of: other) == nil)
    }

    @Test(
        "The predicted growth is the real growth",
        arguments: [[], [0], [200], [0, 200, 10]])
    func growth(before sizes: [Int]) throws {
        var overlay = PendingOverlay()
        var generation: UInt64 = 2
        for size in sizes + [100] {
            let next = try change(
                generation, set: [(key, Array(repeating: 0, count: size))], removed: [otherKey])
            let foretold = overlay.bytes + overlay.growth(by: next.proposal)
            overlay.add(next, totals: KeyTotals(keys: 1))
            #expect(overlay.bytes == foretold)
            generation += 1
        }
    }

    private func token(_ number: Int) throws -> ChangeSet {
        ChangeSet(
            generation: .first,
            proposal: ChangeProposal(domain: domain, token: try Token("\(number)"), origin: ""))
    }

    @Test(
        "4: of very many tokens the newest stay, in order, even after a failed flush",
        arguments: [nil, 1, 600, 1024, 1500, 2999])
    func tokens(failureAt failure: Int?) throws {
        var overlay = PendingOverlay()
        for number in 0..<3000 {
            if number == failure { _ = overlay.beginFlush() }
            overlay.add(try token(number), totals: KeyTotals())
        }
        let newest = (3000 - Token.rememberedPerDomain..<3000).map { "\($0)" }
        #expect(overlay.changeSets.compactMap(\.token?.name).suffix(newest.count) == newest[...])
        if failure != nil { overlay.abandonFlush() }
        #expect(overlay.changeSets.compactMap(\.token?.name) == newest)
        #expect(overlay.generation(of: try Token("2999"), in: domain) == .first)
        #expect(overlay.generation(of: try Token("1000"), in: domain) == nil)
    }

    @Test("4: a token that is added again is there once, in its place")
    func repeatedToken() throws {
        var overlay = PendingOverlay()
        for number in [1, 2, 1] { overlay.add(try token(number), totals: KeyTotals()) }
        #expect(overlay.changeSets.compactMap(\.token?.name) == ["1", "2"])
    }

    @Test("The growth by a token is predicted, even if it replaces another")
    func growthByTokens() throws {
        var overlay = PendingOverlay()
        for number in (0..<1500) + [1499] {
            let next = try token(number)
            let foretold = overlay.bytes + overlay.growth(by: next.proposal)
            overlay.add(next, totals: KeyTotals())
            #expect(overlay.bytes == foretold)
        }
        let names = (1500 - Token.rememberedPerDomain..<1500).map { "\($0)".utf8.count }
        #expect(
            overlay.bytes == names.reduce(0) { $0 + $1 + PendingOverlay.entryOverhead })
    }

    @Test("The pending changes are listed in order, without replaced ones")
    func changeSets() throws {
        var overlay = PendingOverlay()
        overlay.add(
            try change(2, set: [(key, [1]), (otherKey, [1])]), totals: KeyTotals(keys: 2))
        overlay.add(try change(3, in: other, set: [(key, [9])]), totals: KeyTotals(keys: 1))
        _ = overlay.beginFlush()
        overlay.add(try change(4, removed: [otherKey]), totals: KeyTotals(keys: 1))
        let told = overlay.changeSets
        #expect(told.map(\.generation.rawValue) == [2, 3, 4])
        #expect(told.map(\.domain) == [domain, other, domain])
        #expect(told[0].set == [.init(key: key, archive: [1])])
        #expect(told[0].removed.isEmpty)
        #expect(told[1].set == [.init(key: key, archive: [9])])
        #expect(told[2].removed == [otherKey])
    }
}
