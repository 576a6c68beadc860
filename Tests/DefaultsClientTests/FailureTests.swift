import DefaultsClient
import Testing

/// What goes wrong behind calls that do not throw.
@Suite struct FailureTests {
    @Test func `A change of a locked key is reported, and the value stays`() async throws {
        let defaults = Defaults.inMemory(locked: ["Loudness"])
        var failures = defaults.failures.makeAsyncIterator()
        defaults[.loudness] = 9
        #expect(defaults[.loudness] == 5)
        let failure = try #require(await failures.next())
        #expect(failure.action == .write)
        #expect(failure.keys == ["Loudness"])
        #expect(failure.domain == "org.example.Test")
        #expect(failure.error.code == .locked)
        defaults.apply(in: .host) { $0[.loudness] = 9 }
        #expect(await failures.next()?.domain == "org.example.Test@host")
    }

    @Test func `A flush fails with the first change that was refused since the last one`()
        async throws
    {
        let defaults = Defaults.inMemory(locked: ["Loudness"])
        defaults[.loudness] = 9
        defaults.apply { $0[.theme] = .dark }
        let error = await #expect(throws: DefaultsError.self) { try await defaults.flush() }
        #expect(error?.code == .locked && error?.message.contains("Loudness") == true)
        try await defaults.flush()
        // An error that another call threw does not count here.
        await #expect(throws: DefaultsError.self) {
            try await defaults.transaction { $0[.loudness] = 9 }
        }
        try await defaults.update(.theme) { $0 = .light }
        try await defaults.flush()
        defaults[.loudness] = 9
        try await defaults.update(.theme) { $0 = .dark }
        await #expect(throws: DefaultsError.self) { try await defaults.synchronize() }
    }

    @Test func `A value of another type reads as the default, and is reported once`() async throws {
        let defaults = Defaults.inMemory()
        let text = DefaultsKey("Loudness", default: "")
        defaults[text] = "loud"
        var failures = defaults.failures.makeAsyncIterator()
        for _ in 0..<3 { #expect(defaults[.loudness] == 5) }
        let error = #expect(throws: DefaultsError.self) { try defaults.value(of: .loudness) }
        #expect(error?.code == .undecodable && error?.underlyingError is DecodingError)
        #expect(error?.message.contains("is not an integer") == true, "\(error?.message ?? "")")
        #expect(throws: DefaultsError.self) { try defaults.value(of: .loudness, in: .domain) }
        defaults[text] = "louder"
        #expect(defaults[.loudness] == 5)
        for _ in 0..<2 {
            let failure = try #require(await failures.next())
            #expect(failure.action == .read)
            #expect(failure.error.underlyingError is DecodingError)
            #expect(!"\(failure.error)".contains("loud"))
        }
        // Had it been told of more often, the next would be that and not this.
        try? defaults.set(1, for: .loudness)
        defaults[DefaultsKey("Loudness", default: true)] = true
        _ = defaults[text]
        #expect(await failures.next()?.keys == ["Loudness"])
        #expect(defaults[text] == "")
    }

    @Test func `An invalid raw value reads as the default`() async throws {
        let defaults = Defaults.inMemory()
        defaults[DefaultsKey("Theme", default: "")] = "pink"
        var failures = defaults.failures.makeAsyncIterator()
        #expect(defaults[.theme] == .light)
        let failure = try #require(await failures.next())
        #expect(failure.error.code == .undecodable)
        #expect(!"\(failure.error)".contains("pink"))
    }

    @Test func `Each listener gets every failure`() async {
        let defaults = Defaults.inMemory(locked: ["*"])
        var first = defaults.failures.makeAsyncIterator()
        var second = defaults.failures.makeAsyncIterator()
        defaults[.loudness] = 9
        #expect(await first.next()?.keys == ["Loudness"])
        #expect(await second.next()?.keys == ["Loudness"])
    }
}
