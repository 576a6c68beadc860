import DefaultsSecrets
import TestTiers
import Testing

/// What the tests of apps use, and the application's own secrets.
@Suite(.startsPrograms) struct StandInTests {
    @Test func `secrets in memory that fail throw the given error at every call`() async throws {
        let failure = SecretsError(.locked, message: "It is locked.")
        let secrets = Secrets.inMemory(failing: failure)
        await #expect(throws: failure) { try await secrets.value(of: .token) }
        await #expect(throws: failure) { try await secrets.set("x", for: .token) }
        await #expect(throws: failure) { try await secrets.update(.token) { $0 = "x" } }
        await #expect(throws: failure) { try await secrets.reset(.token) }
        await #expect(throws: failure) { _ = try await secrets.isSet(.token) }
        await #expect(throws: failure) { try await secrets.unlock() }
        await #expect(throws: failure) { _ = try await secrets.isLocked }
        var failures = secrets.failures.makeAsyncIterator()
        secrets[.token] = "x"
        await #expect(throws: failure) { try await secrets.flush() }
        #expect(await failures.next() == failure)
        #expect(secrets[.token] == nil)
    }

    @Test func `secrets in memory fail for the given keys only`() async throws {
        let failure = SecretsError(.dismissed, domain: "org.example.Game", key: "Token")
        let secrets = Secrets.inMemory(failing: failure, for: [.token, .account])
        await #expect(throws: failure) { try await secrets.set("x", for: .token) }
        await #expect(throws: failure) { try await secrets.value(of: .account) }
        try await secrets.set("x", for: .password)
        #expect(try await secrets.value(of: .password) == "x")
        #expect(try await !secrets.isLocked)
        #expect(failure.key == "Token" && failure.domain == "org.example.Game")
        #expect(!failure.message.isEmpty)
    }

    @Test func `keys have their names, also without their types`() async throws {
        let keys: [AnySecretKey] = [.token, .password]
        #expect(keys.map(\.name) == ["Token", "Password"])
        let secrets = Secrets.inMemory()
        try await secrets.set("x", for: .password)
        for key in keys { try await secrets.reset(key) }
        #expect(secrets[.password] == "guest")
        #expect(try await !secrets.isSet(keys[1]))
    }

    @Test func `standard secrets that were used before they are set cause one line`()
        async throws
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            _ = Secrets.standard.domain
            Secrets.standard = Secrets(domain: "org.example.Game")
            Secrets.standard = Secrets(domain: "org.example.Other")
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("secrets: ") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("'org.example.Game'") == true)
    }

    @Test(arguments: [true, false])
    func `standard secrets that are set first, or to the same domain, are set in silence`(
        isUsedBefore: Bool
    ) async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            [isUsedBefore] in
            let domain = isUsedBefore ? Secrets.standard.domain : "org.example.Game"
            Secrets.standard = Secrets(domain: domain)
            Secrets.standard = Secrets(domain: "org.example.Other")
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(!text.contains("secrets: "))
    }
}
