import DefaultsSecrets
import TestTiers
import Testing

/// Keyrings that have to prompt the user.
@Suite(.startsPrograms, .enabled(if: Keyring.canRun, "\(Keyring.obstacle ?? "")"))
struct LockedKeyringTests {
    @Test func `a locked keyring is unlocked with the user's password`() async throws {
        let keyring = try Keyring()
        let secrets = keyring.secrets()
        #expect(try await secrets.isLocked == false)
        try await secrets.set("s3cr3t", for: .token)
        try await keyring.lock()
        #expect(try await secrets.isLocked)
        #expect(try await secrets.isSet(.token))
        keyring.user(.types(password: "swordfish"))
        #expect(try await secrets.value(of: .token) == "s3cr3t")
        #expect(try await secrets.isLocked == false)
    }

    @Test func `unlock prompts the user, once`() async throws {
        let keyring = try Keyring()
        let secrets = keyring.secrets()
        try await secrets.set("s3cr3t", for: .token)
        try await keyring.lock()
        keyring.user(.types(password: "swordfish"))
        try await secrets.unlock()
        try await secrets.unlock()
        #expect(try await secrets.isLocked == false)
    }

    @Test func `a prompt that the user dismisses is an error of reading and of setting`()
        async throws
    {
        let keyring = try Keyring()
        let secrets = keyring.secrets()
        try await secrets.set("old", for: .token)
        try await keyring.lock()
        keyring.user(.dismisses)
        await expect(.dismissed) { _ = try await keyring.secrets().value(of: .token) }
        keyring.user(.dismisses)
        await expect(.dismissed) { try await secrets.set("new", for: .token) }
        #expect(secrets[.token] == "old")
        keyring.user(.dismisses)
        await expect(.dismissed) { try await secrets.reset(.token) }
        keyring.user(.dismisses)
        await expect(.dismissed) { try await secrets.unlock() }
        #expect(secrets[.token] == "old")
    }

    @Test func `several reads of a locked keyring cause one prompt`() async throws {
        let keyring = try Keyring()
        let secrets = keyring.secrets()
        try await secrets.set("one", for: .token)
        try await secrets.set("two", for: .password)
        try await secrets.set([3], for: .codes)
        try await keyring.lock()
        keyring.user(.types(password: "swordfish"))
        async let token = secrets.value(of: .token)
        async let password = secrets.value(of: .password)
        async let codes = secrets.value(of: .codes)
        #expect(try await token == "one")
        #expect(try await password == "two")
        #expect(try await codes == [3])
    }

    @Test func `a user without a keyring is asked for the password of a new one`() async throws {
        let keyring = try Keyring(loginPassword: nil)
        let secrets = keyring.secrets()
        #expect(try await secrets.value(of: .token) == nil)
        #expect(try await secrets.isLocked == false)
        try await keyring.making { try await secrets.set("s3cr3t", for: .token) }
        #expect(try await keyring.secrets().value(of: .token) == "s3cr3t")
    }

    @Test func `a user who wants no keyring is an error`() async throws {
        let keyring = try Keyring(loginPassword: nil)
        let secrets = keyring.secrets()
        keyring.user(.dismisses)
        await expect(.dismissed) { try await secrets.set("x", for: .token) }
        #expect(secrets.isLoaded(.token) == false)
    }

    @Test func `a task that is cancelled withdraws its prompt`() async throws {
        let keyring = try Keyring(loginPassword: nil)
        let secrets = keyring.secrets()
        keyring.user(.hesitates)
        let setting = Task { try await secrets.set("s3cr3t", for: .token) }
        while keyring.hasQuestionsLeft { await Task.yield() }
        setting.cancel()
        await #expect(throws: CancellationError.self) { try await setting.value }
        // The user can be asked again.
        try await keyring.making { try await secrets.set("s3cr3t", for: .token) }
        #expect(try await keyring.secrets().value(of: .token) == "s3cr3t")
    }

    @Test func `a task that is cancelled while a keyring is unlocked does not end the keyring`()
        async throws
    {
        let keyring = try Keyring()
        let secrets = keyring.secrets()
        try await secrets.set("s3cr3t", for: .token)
        try await keyring.lock()
        let daemon = try await keyring.process()
        keyring.user(.hesitates)
        let reading = Task { try await secrets.value(of: .token) }
        while keyring.hasQuestionsLeft { await Task.yield() }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        #expect(try await secrets.isLocked)
        #expect(try await keyring.process() == daemon)
    }

    @Test func `a refused change in the background is reported, and reset`() async throws {
        let keyring = try Keyring()
        let secrets = keyring.secrets()
        try await secrets.set("old", for: .token)
        try await keyring.lock()
        keyring.user(.dismisses)
        var errors = secrets.failures.makeAsyncIterator()
        secrets[.token] = "new"
        #expect(secrets[.token] == "new")
        await expect(.dismissed) { try await secrets.flush() }
        #expect(secrets[.token] == "old")
        #expect(await errors.next()?.code == .dismissed)
        // It was told: what comes next is not to blame.
        try await secrets.flush()
    }
}
