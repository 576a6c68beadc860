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
        #expect(failure.error.code == .locked)
        #expect(failure.error.lockedKeys.values.map(\.self) == [["PlaySound"]])
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
        #expect(await failures.next()?.error.underlyingError is Refusal)
        let error = #expect(throws: DefaultsError.self) { try defaults.set(Bad(), for: key) }
        #expect(error?.code == .unencodable && error?.underlyingError is Refusal)
        defaults.apply {
            $0[.loudness] = 9
            $0[key] = Bad()
        }
        #expect(await failures.next()?.keys == ["Bad"])
        let other = await #expect(throws: DefaultsError.self) {
            try await defaults.transaction { $0[key] = Bad() }
        }
        #expect(other?.code == .unencodable)
        #expect(defaults.keys(in: .domain) == [])
    }

    @Test func `The program that sets a value reads what all others read`() async throws {
        struct Rounded: Codable, Equatable {
            var number: Double
            init(_ number: Double) { self.number = number }
            init(from decoder: any Decoder) throws {
                number = Double(try Int(from: decoder))
            }
            func encode(to encoder: any Encoder) throws { try Int(number).encode(to: encoder) }
        }
        let key = DefaultsKey("Number", default: Rounded(0))
        var changes = defaults.changes(of: key).makeAsyncIterator()
        defaults[key] = Rounded(2.5)
        #expect(defaults[key] == Rounded(2))
        #expect(await changes.next()?.newValue == Rounded(2))
        #expect(try await defaults.update(key) { $0.number += 1.5 } == Rounded(3))
        defaults.apply {
            $0[key] = Rounded(7.5)
            #expect($0[key] == Rounded(7))
        }
    }

    @Test func `A value that its type cannot read back is reported to the program that sets it`()
        async throws
    {
        struct OneWay: Codable {
            struct Refusal: Error {}
            init() {}
            init(from decoder: any Decoder) throws { throw Refusal() }
            func encode(to encoder: any Encoder) throws { try 1.encode(to: encoder) }
        }
        let key = DefaultsKey<OneWay?>("OneWay")
        var failures = defaults.failures.makeAsyncIterator()
        defaults[key] = OneWay()
        #expect(defaults[key] == nil)
        let failure = try #require(await failures.next())
        #expect(failure.action == .read && failure.error.underlyingError is OneWay.Refusal)
    }

    @Test func `Several keys are reset as one change, and all keys of a layer`() async throws {
        defaults[.loudness] = 9
        defaults[.volume] = 1
        defaults[.title] = "x"
        try defaults.set("host", for: .title, in: .host)
        let generation = try await defaults.transaction { $0[.playSound] = false }
        defaults.reset(.loudness, .volume)
        #expect(defaults.keys(in: .domain) == ["PlaySound", "Title"])
        #expect(try await defaults.transaction { $0[.theme] = .dark } == generation + 2)
        defaults.resetAll()
        #expect(defaults.keys(in: .domain) == [])
        #expect(defaults.keys(in: .host) == ["Title"])
        defaults.resetAll(in: .host)
        defaults.resetAll(in: .host)
        #expect(defaults.keys() == [])
    }

    @Test func `Defaults in memory refuse the keys that a test wants to fail`() async throws {
        let full = DefaultsError(.storageFailed, "The disk is full.")
        let defaults = Defaults.inMemory(failing: { $0 == "Loudness" ? full : nil })
        var failures = defaults.failures.makeAsyncIterator()
        defaults[.volume] = 1
        defaults[.loudness] = 9
        let failure = try #require(await failures.next())
        #expect(failure.keys == ["Loudness"] && failure.error == full)
        #expect(defaults[.loudness] == 5 && defaults[.volume] == 1)
        await #expect(throws: full) {
            try await defaults.transaction {
                $0[.volume] = 0
                $0[.loudness] = 9
            }
        }
        await #expect(throws: full) { try await defaults.update(.loudness) { $0 += 1 } }
        #expect(defaults[.volume] == 1)
    }

    @Test func `Why a key fails may depend on other defaults`() async throws {
        let other = Defaults.inMemory()
        let full = DefaultsError(.storageFailed, "The disk is full.")
        let defaults = Defaults.inMemory(failing: { _ in other[.playSound] ? full : nil })
        await #expect(throws: full) { try await defaults.transaction { $0[.loudness] = 9 } }
        other[.playSound] = false
        try await defaults.transaction { $0[.loudness] = 9 }
        #expect(defaults[.loudness] == 9)
    }

    @Test func `If the service is known to be unreachable, calls that wait fail at once`() async {
        // There is no bus at this address.
        let defaults = Defaults(
            domain: "org.example.Unreached", on: .address("unix:path=/nowhere"), arguments: [])
        // This is the first use, so that it is not known yet.
        let first = await #expect(throws: DefaultsError.self) {
            try await defaults.transaction { $0[.loudness] = 9 }
        }
        let second = await #expect(throws: DefaultsError.self) {
            try await defaults.update(.loudness) { $0 = 9 }
        }
        #expect(first == second && first?.code == .unreachable)
        #expect(first?.message.hasSuffix(" Nothing was changed.") == true)
        #expect(defaults[.loudness] == 5)
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
