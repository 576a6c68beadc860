import TestTiers
import Testing

@testable import DefaultsSecrets

/// Changes on their way to the keyring; numbers are those of the invariants of `SecretStore`.
@Suite(.startsPrograms) struct ChangesTests {
    @Test func `one change is in flight, and the newest of a key waits for it (1, 2)`()
        async throws
    {
        var scripted = Scripted()
        let secrets = scripted.secrets
        for number in 1...5 { secrets[.password] = "\(number)" }
        secrets[.token] = "t"
        #expect(secrets[.password] == "5")
        #expect(await scripted.question() == "store Password '1'")
        await scripted.vault.answer()
        #expect(await scripted.question() == "store Password '5'")
        await scripted.vault.answer()
        #expect(await scripted.question() == "store Token 't'")
        await scripted.vault.answer()
        try await secrets.flush()
        #expect(secrets[.password] == "5")
    }

    @Test func `a refused change is reset to the value that was stored last (3, 4)`() async throws {
        var scripted = Scripted()
        let secrets = scripted.secrets
        secrets[.password] = "1"
        #expect(await scripted.question() == "store Password '1'")
        await scripted.vault.answer()
        try await secrets.flush()
        var errors = secrets.failures.makeAsyncIterator()
        secrets[.password] = "2"
        #expect(await scripted.question() == "store Password '2'")
        await scripted.vault.refuse()
        let password = Secret(.password, in: secrets)
        await expect(.dismissed) { try await password.flush() }
        #expect(secrets[.password] == "1")
        let error = await errors.next()
        #expect(error?.code == .dismissed)
        #expect(error?.key == "Password")
    }

    @Test
    func `a refused change with a newer one waiting leaves that one alone (3, 4)`() async throws {
        var scripted = Scripted()
        let secrets = scripted.secrets
        secrets[.password] = "1"
        #expect(await scripted.question() == "store Password '1'")
        secrets[.password] = "2"
        var errors = secrets.failures.makeAsyncIterator()
        await scripted.vault.refuse()
        #expect(await scripted.question() == "store Password '2'")
        #expect(secrets[.password] == "2")
        await scripted.vault.answer()
        #expect(await errors.next()?.code == .dismissed)
        // What counts is that the newest is stored.
        try await secrets.flush()
        #expect(secrets[.password] == "2")
    }

    @Test
    func `an update that another change overtakes starts again with that value`() async throws {
        var scripted = Scripted()
        let secrets = scripted.secrets
        let update = Task { try await secrets.update(.password) { $0 += "+" } }
        #expect(await scripted.question() == "read Password")
        secrets[.password] = "new"
        #expect(await scripted.question() == "store Password 'new'")
        await scripted.vault.answer(text: "old")
        await scripted.vault.answer()
        #expect(await scripted.question() == "read Password")
        await scripted.vault.answer(text: "new")
        #expect(await scripted.question() == "store Password 'new+'")
        await scripted.vault.answer()
        #expect(try await update.value == "new+")
        #expect(secrets[.password] == "new+")
    }

    @Test func `updates at the same time lose nothing`() async throws {
        let secrets = Secrets.inMemory()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...50 {
                group.addTask { try await secrets.update(.codes) { $0.append(number) } }
            }
            try await group.waitForAll()
        }
        #expect(try await secrets.value(of: .codes).sorted() == Array(1...50))
    }

    @Test func `an update whose closure throws stores nothing`() async throws {
        let secrets = Secrets.inMemory()
        await #expect(throws: Unwilling.self) {
            try await secrets.update(.password) { password in
                password = "x"
                throw Unwilling()
            }
        }
        #expect(try await secrets.isSet(.password) == false)
        #expect(secrets[.password] == "guest")
    }

    @Test func `waiting for a replaced change means waiting for the newer one (1)`() async throws {
        var scripted = Scripted()
        let secrets = scripted.secrets
        secrets[.password] = "1"
        #expect(await scripted.question() == "store Password '1'")
        let setting = Task { try await secrets.set("2", for: .password) }
        while secrets[.password] != "2" { await Task.yield() }
        secrets[.password] = "3"
        await scripted.vault.answer()
        #expect(await scripted.question() == "store Password '3'")
        await scripted.vault.refuse()
        await expect(.dismissed) { try await setting.value }
        #expect(secrets[.password] == "1")
    }

    @Test func `a set that is cancelled before it is sent is never sent (3)`() async throws {
        var scripted = Scripted()
        let secrets = scripted.secrets
        secrets[.token] = "t"
        #expect(await scripted.question() == "store Token 't'")
        let setting = Task { try await secrets.set("2", for: .password) }
        while secrets[.password] != "2" { await Task.yield() }
        setting.cancel()
        await #expect(throws: CancellationError.self) { try await setting.value }
        #expect(secrets[.password] == "guest")
        secrets[.account] = nil
        await scripted.vault.answer()
        #expect(await scripted.question() == "remove Account")
        await scripted.vault.answer()
        try await secrets.flush()
    }

    @Test func `a set that is cancelled in flight is stopped, and no other change is (3)`()
        async throws
    {
        var scripted = Scripted()
        let secrets = scripted.secrets
        let setting = Task { try await secrets.set("2", for: .password) }
        #expect(await scripted.question() == "store Password '2'")
        secrets[.token] = "t"
        setting.cancel()
        await #expect(throws: CancellationError.self) { try await setting.value }
        #expect(await scripted.question() == "broken off")
        #expect(await scripted.question() == "store Token 't'")
        await scripted.vault.answer()
        try await secrets.flush()
        #expect(secrets[.password] == "guest")
    }

    @Test func `a caller of save can stop waiting, and the change continues`() async throws {
        var scripted = Scripted()
        let secrets = scripted.secrets
        secrets[.password] = "1"
        #expect(await scripted.question() == "store Password '1'")
        let saving = Task { try await secrets.flush() }
        saving.cancel()
        await #expect(throws: CancellationError.self) { try await saving.value }
        await scripted.vault.answer()
        try await secrets.flush()
        #expect(secrets[.password] == "1")
    }

    @Test func `a read comes after earlier sets`() async throws {
        var scripted = Scripted()
        let secrets = scripted.secrets
        secrets[.password] = "1"
        #expect(await scripted.question() == "store Password '1'")
        async let read = secrets.value(of: .password)
        await scripted.vault.answer()
        #expect(await scripted.question() == "read Password")
        await scripted.vault.answer(text: "elsewhere")
        #expect(try await read == "elsewhere")
        #expect(secrets[.password] == "elsewhere")
    }

    @Test func `a read that a change overtakes does not hide it`() async throws {
        var scripted = Scripted()
        let secrets = scripted.secrets
        let read = Task { try await secrets.value(of: .password) }
        #expect(await scripted.question() == "read Password")
        secrets[.password] = "new"
        #expect(await scripted.question() == "store Password 'new'")
        await scripted.vault.answer(text: "old")
        #expect(try await read.value == "old")
        #expect(secrets[.password] == "new")
        await scripted.vault.answer()
        try await secrets.flush()
        #expect(secrets[.password] == "new")
    }

    @Test func `a read that begins while a change is in flight shows nothing`() async throws {
        var scripted = Scripted()
        let (secrets, store) = (scripted.secrets, scripted.secrets.store)
        secrets[.password] = "new"
        let settled = store.settled("Password")
        #expect(await scripted.question() == "store Password 'new'")
        await scripted.vault.answer()
        try await secrets.flush()
        store.note(ShownValue(value: "old"), for: "Password", asOf: settled)
        #expect(secrets[.password] == "new")
        store.note(ShownValue(value: "elsewhere"), for: "Password", asOf: store.settled("Password"))
        #expect(secrets[.password] == "elsewhere")
    }

    @Test func `a change outlives the last reference to its store`() async throws {
        let vault = ScriptedVault()
        var questions = vault.questions.makeAsyncIterator()
        do {
            let secrets = Secrets(store: SecretStore(domain: "org.example.Game", vault: vault))
            secrets[.password] = "1"
            secrets[.password] = "2"
            secrets[.token] = "3"
        }
        for question in ["store Password '2'", "store Token '3'"] {
            var asked = await questions.next()
            if asked == "store Password '1'" {
                await vault.answer()
                asked = await questions.next()
            }
            #expect(asked == question)
            await vault.answer()
        }
    }

    @Test func `listeners get the failures from now on, each of what it asked for`() async throws {
        let secrets = Secrets.inMemory()
        secrets[SecretKey("\0early", default: 0)] = 1
        var all = secrets.failures.makeAsyncIterator()
        var own = Secret(SecretKey("\0own", default: 0), in: secrets).failures.makeAsyncIterator()
        secrets[SecretKey("\0other", default: 0)] = 1
        secrets[SecretKey("\0own", default: 0)] = 1
        #expect(await own.next()?.key == "\0own")
        #expect(await all.next()?.key == "\0other")
        #expect(await all.next()?.key == "\0own")
    }

    @Test func `a failure without a listener is one line on standard error`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            let secrets = Secrets.inMemory(failing: SecretsError(.locked, message: "It is locked."))
            for secret in ["scream", "shout"] {
                secrets[.password] = secret
                try? await secrets.flush()
            }
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("secrets: ") }
        #expect(lines == ["secrets: It is locked."])
        #expect(!text.contains("scream") && !text.contains("shout"))
    }

    @Test func `a flush waits for the given time, and the change continues`() async throws {
        var scripted = Scripted()
        let secrets = scripted.secrets
        secrets[.password] = "1"
        #expect(await scripted.question() == "store Password '1'")
        let error = await expect(.timedOut) { try await secrets.flush(within: .milliseconds(1)) }
        #expect(error?.domain == "org.example.Game")
        await scripted.vault.answer()
        try await secrets.flush(within: .seconds(3600))
        #expect(secrets[.password] == "1")
    }

    @Test func `a value that cannot be stored at all is reported, and reset`() async throws {
        let secrets = Secrets.inMemory()
        let large = SecretKey("Large", default: "")
        secrets[large] = String(repeating: "x", count: StoredSecret.maximumSize + 1)
        #expect(secrets[large] == "")
        await expect(.tooLarge) { try await secrets.flush() }
        let odd = SecretKey("Odd", default: Unencodable())
        await expect(.unencodable) { try await secrets.set(Unencodable(), for: odd) }
        await expect(.invalidName) {
            try await Secrets.inMemory(domain: "").set("x", for: .password)
        }
    }
}

struct Unencodable: Codable, Sendable {
    init() {}
    init(from decoder: any Decoder) {}
    func encode(to encoder: any Encoder) throws { throw CancellationError() }
}

struct Unwilling: Error {}
