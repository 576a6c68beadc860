import DefaultsClient
import Testing

/// Changes of several keys, and of what a value is.
@Suite struct WritingTests {
    let defaults = Defaults.inMemory()

    private struct Refusal: Error {}

    @Test func `Changes in one group take effect together`() async throws {
        defaults[.loudness] = 1
        defaults.apply {
            $0[.playSound] = false
            $0[.volume] = $0[.volume] * 2
            $0[.volume] += 1
            $0.reset(.loudness)
            #expect($0[.loudness] == 5)
            #expect(defaults[.loudness] == 1)
        }
        #expect(!defaults[.playSound])
        #expect(defaults[.volume] == 2)
        #expect(!defaults.isSet(.loudness))
        #expect(defaults.keys(in: .domain) == ["PlaySound", "Volume"])
    }

    @Test func `If one of the keys is locked, none is changed`() async throws {
        let defaults = Defaults.inMemory(locked: ["PlaySound"])
        var failures = defaults.failures.makeAsyncIterator()
        defaults.apply {
            $0[.playMusic] = false
            $0[.playSound] = false
        }
        #expect(defaults[.playMusic])
        let failure = try #require(await failures.next())
        #expect(failure.action == .write)
        #expect(failure.keys == ["PlayMusic", "PlaySound"])
        #expect((failure.error as? DefaultsError)?.code == .locked)
        await #expect(throws: DefaultsError.self) {
            try await defaults.transaction { $0[.playSound] = false }
        }
    }

    @Test func `An error of the closure changes nothing`() async {
        #expect(throws: Refusal.self) {
            try defaults.apply {
                $0[.loudness] = 9
                throw Refusal()
            }
        }
        await #expect(throws: Refusal.self) {
            try await defaults.transaction {
                $0[.loudness] = 9
                throw Refusal()
            }
        }
        #expect(!defaults.isSet(.loudness))
    }

    @Test func `Each transaction has its own generation, later than those before`() async throws {
        let first = try await defaults.transaction { $0[.loudness] = 1 }
        let second = try await defaults.transaction(in: .host) { $0[.loudness] = 2 }
        #expect(second > first)
        #expect(defaults.layer(of: .loudness) == .host)
        #expect(try await defaults.synchronize() >= second)
    }

    @Test func `A value that cannot be archived changes nothing, and is reported`() async throws {
        struct Bad: Codable, Sendable {
            init() {}
            init(from decoder: any Decoder) {}
            func encode(to encoder: any Encoder) throws { throw Refusal() }
        }
        let key = DefaultsKey<Bad?>("Bad")
        var failures = defaults.failures.makeAsyncIterator()
        defaults[key] = Bad()
        #expect(await failures.next()?.error is Refusal)
        #expect(throws: Refusal.self) { try defaults.set(Bad(), for: key) }
        defaults.apply {
            $0[.loudness] = 9
            $0[key] = Bad()
        }
        #expect(await failures.next()?.keys == ["Bad"])
        await #expect(throws: Refusal.self) { try await defaults.transaction { $0[key] = Bad() } }
        #expect(defaults.keys(in: .domain) == [])
    }

    // MARK: Updates

    @Test func `Updates by many tasks at once lose none`() async throws {
        let tasks = 20
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<tasks {
                group.addTask { try await defaults.update(.loudness) { $0 += 1 } }
            }
            try await group.waitForAll()
        }
        #expect(defaults[.loudness] == 5 + tasks)
    }

    @Test func `An update gets the effective value if its layer has none`() async throws {
        let defaults = Defaults.inMemory(system: { $0[.loudness] = 3 })
        #expect(try await defaults.update(.loudness) { $0 *= 2 } == 6)
        #expect(try await defaults.update(.loudness) { $0 *= 2 } == 12)
        #expect(try await defaults.update(.loudness, in: .host) { $0 += 1 } == 13)
        #expect(try defaults.value(of: .loudness, in: .domain) == 12)
    }

    @Test func `An update to nil removes the value`() async throws {
        defaults[.nickname] = "ada"
        try await defaults.update(.nickname) { $0 = nil }
        #expect(!defaults.isSet(.nickname))
    }

    @Test func `An update whose closure throws changes nothing`() async {
        await #expect(throws: Refusal.self) {
            try await defaults.update(.loudness) { _ in throw Refusal() }
        }
        #expect(!defaults.isSet(.loudness))
    }
}
