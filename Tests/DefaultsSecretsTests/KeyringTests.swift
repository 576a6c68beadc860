import DefaultsSecrets
import TestSupport
import TestTiers
import Testing

extension AnySecretKey {
    static let token = SecretKey<String?>("Token")
    static let password = SecretKey("Password", default: "guest")
    static let account = SecretKey<Account?>("Account")
    static let codes = SecretKey("Codes", default: [Int]())
}

struct Account: Codable, Hashable, Sendable {
    var name: String
    var codes: [Int]
}

/// What the keyring of a desktop does with our secrets.
@Suite(.startsPrograms, .enabled(if: Keyring.canRun, "\(Keyring.obstacle ?? "")"))
struct KeyringTests {
    @Test func `a value set in one store can be read in another`() async throws {
        let keyring = try Keyring()
        let secrets = keyring.secrets()
        try await secrets.set("s3cr3t ☃", for: .token)
        try await secrets.set(Account(name: "ada", codes: [1, -2]), for: .account)
        try await secrets.set([], for: .codes)
        let others = keyring.secrets()
        #expect(try await others.value(of: .token) == "s3cr3t ☃")
        #expect(try await others.value(of: .account) == Account(name: "ada", codes: [1, -2]))
        #expect(try await others.value(of: .codes) == [])
        #expect(try await keyring.secrets("org.example.Other").value(of: .token) == nil)
    }

    @Test func `a missing secret is the default, and removing it is not an error`() async throws {
        let keyring = try Keyring()
        let secrets = keyring.secrets()
        #expect(try await secrets.value(of: .password) == "guest")
        #expect(try await secrets.isSet(.password) == false)
        try await secrets.reset(.password)
    }

    @Test func `setting nil and removing take the secret out of the keyring`() async throws {
        let keyring = try Keyring()
        let secrets = keyring.secrets()
        try await secrets.set("one", for: .token)
        try await secrets.set("two", for: .password)
        try await secrets.set(nil, for: .token)
        try await secrets.reset(.password)
        #expect(secrets[.token] == nil)
        #expect(secrets[.password] == "guest")
        #expect(try await keyring.secrets().isSet(.token) == false)
        #expect(try await keyring.secrets().value(of: .password) == "guest")
    }

    @Test(arguments: [
        "", "bplist00", "a\0b", "line\nline\n", String(repeating: "é", count: 100_000),
    ])
    func `any text is read as it was set`(_ text: String) async throws {
        let keyring = try Keyring()
        try await keyring.secrets().set(text, for: .password)
        #expect(try await keyring.secrets().value(of: .password) == text)
    }

    @Test func `a new secret replaces the old one`() async throws {
        let keyring = try Keyring()
        let secrets = keyring.secrets()
        for number in 1...3 { try await secrets.set("secret \(number)", for: .token) }
        #expect(try await keyring.secrets().value(of: .token) == "secret 3")
        let found = await keyring.run(["secret-tool", "search", "--all", "key", "Token"])
        #expect(found.output.contains("[/3]") == false)
        #expect(found.output.lines(with: "secret = ") == ["secret = secret 3"])
    }

    @Test func `secret-tool reads stored secrets, and its list names domain and key`() async throws
    {
        let keyring = try Keyring()
        try await keyring.secrets().set("s3cr3t", for: .token)
        let attributes = [
            "xdg:schema", "org.defaultsd.Secret", "domain", "org.example.Game", "key", "Token",
        ]
        let found = await keyring.run(["secret-tool", "lookup"] + attributes)
        #expect(try found.requireOutput() == "s3cr3t")
        let list = await keyring.run(["secret-tool", "search"] + attributes)
        #expect(list.output.contains("label = org.example.Game: Token\n"))
    }

    @Test func `secrets stored by secret-tool can be read`() async throws {
        let keyring = try Keyring()
        _ = try await keyring.run(
            [
                "secret-tool", "store", "--label", "mine", "xdg:schema", "org.defaultsd.Secret",
                "domain", "org.example.Game", "key", "Token",
            ], input: "from elsewhere"
        ).requireOutput()
        let secrets = keyring.secrets()
        #expect(try await secrets.value(of: .token) == "from elsewhere")
        // And is replaced, not doubled.
        try await secrets.set("ours", for: .token)
        #expect(try await keyring.secrets().value(of: .token) == "ours")
    }

    @Test func `a secret in another collection is replaced, too, and removed`() async throws {
        let keyring = try Keyring()
        let secrets = keyring.secrets()
        func storeElsewhere() async throws {
            _ = try await keyring.run(
                [
                    "secret-tool", "store", "--collection", "session", "--label", "mine",
                    "xdg:schema", "org.defaultsd.Secret", "domain", "org.example.Game", "key",
                    "Token",
                ], input: "elsewhere"
            ).requireOutput()
        }
        func stored() async throws -> [String] {
            try await keyring.run(["secret-tool", "search", "--all", "key", "Token"])
                .requireOutput().lines(with: "secret = ").sorted()
        }
        try await storeElsewhere()
        #expect(try await secrets.value(of: .token) == "elsewhere")
        try await secrets.set("ours", for: .token)
        #expect(try await stored() == ["secret = ours"])
        try await storeElsewhere()
        #expect(try await stored() == ["secret = elsewhere", "secret = ours"])
        try await secrets.reset(.token)
        #expect(try await secrets.isSet(.token) == false)
    }

    @Test func `text in place of an object is an error that does not quote it`() async throws {
        let keyring = try Keyring()
        let text = SecretKey<String?>("Account")
        try await keyring.secrets().set("s3cr3t", for: text)
        let error = await #expect(throws: SecretsError.self) {
            try await keyring.secrets().value(of: .account)
        }
        #expect(error?.code == .undecodable)
        #expect(error?.key == "Account")
        #expect("\(error as Any)".contains("s3cr3t") == false)
    }

    @Test func `a service that ends between two calls is started again`() async throws {
        let keyring = try Keyring()
        let secrets = keyring.secrets()
        try await secrets.set("one", for: .token)
        try await keyring.crash()
        #expect(try await secrets.value(of: .token) == "one")
        try await keyring.crash()
        try await secrets.set("two", for: .token)
        #expect(try await keyring.secrets().value(of: .token) == "two")
    }

    @Test func `a bus that ends between two calls is an error, and does not trap`() async throws {
        let keyring = try Keyring()
        let secrets = keyring.secrets()
        try await secrets.set("one", for: .token)
        keyring.bus.stop()
        let error = await #expect(throws: SecretsError.self) {
            try await secrets.value(of: .token)
        }
        #expect(error?.code == .noBus)
        #expect(secrets[.token] == "one")
    }
}

extension String {
    /// The lines that hold a text.
    func lines(with text: String) -> [String] {
        split(separator: "\n").map(String.init).filter { $0.contains(text) }
    }
}
