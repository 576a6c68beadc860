import DBus
import TestTiers
import Testing

@testable import DefaultsSecrets

/// The property, and what is printed of secrets.
@Suite(.startsPrograms) struct SecretTests {
    struct Login: Sendable {
        @Secret(.token) var token
        @Secret(.password) var password: String
        @Secret private var account: Account?

        init(secrets: Secrets) {
            _token = Secret(.token, in: secrets)
            _password = Secret(.password, in: secrets)
            _account = Secret(.account, in: secrets)
        }
    }

    @Test func `a property is the default before it is loaded, and shared by all its users`()
        async throws
    {
        let secrets = Secrets.inMemory()
        let login = Login(secrets: secrets)
        #expect(login.token == nil)
        #expect(login.password == "guest")
        #expect(!login.$password.isLoaded)
        try await secrets.set("p", for: .password)
        #expect(login.password == "p")
        #expect(login.$password.isLoaded)
        #expect(try await login.$token.load() == nil)
        #expect(login.$token.isLoaded)
    }

    @Test func `a property that is set is saved, and removed`() async throws {
        let secrets = Secrets.inMemory()
        let login = Login(secrets: secrets)
        login.token = "t"
        try await login.$token.flush()
        #expect(try await login.$token.isSet)
        #expect(try await secrets.value(of: .token) == "t")
        try await login.$token.reset()
        #expect(login.token == nil)
        #expect(try await login.$token.isSet == false)
    }

    @Test func `all secrets of a domain that exist share one store`() async throws {
        let one = Secrets(domain: "org.example.Shared", on: .address("unix:path=/nowhere"))
        let other = Secrets(domain: "org.example.Shared", on: .address("unix:path=/nowhere"))
        let third = Secrets(domain: "org.example.Other", on: .address("unix:path=/nowhere"))
        #expect(one.store === other.store)
        #expect(one.store !== third.store)
    }

    @Test func `no description of a secret, a store or an error contains the value`() async throws {
        let secrets = Secrets.inMemory()
        let login = Login(secrets: secrets)
        login.token = "s3cr3t"
        try await secrets.set(Account(name: "s3cr3t", codes: []), for: .account)
        try await secrets.flush()
        let stored = StoredSecret(bytes: Array("s3cr3t".utf8), contentType: "text/plain")
        var text =
            "\(login) \(secrets) \(login.$token) \(SecretKey("K", default: "s3cr3t")) \(stored)"
        for subject: Any in [
            login, secrets, login.$token, SecretKey("K", default: "s3cr3t"), [stored],
            Result<Secret<String?>, any Error>.success(login.$token),
        ] {
            dump(subject, to: &text)
            text += String(reflecting: subject)
        }
        let number = SecretKey("Account", default: 7)
        do { try await secrets.value(of: number) } catch { text += "\(error)" }
        do { try await secrets.value(of: number) } catch { dump(error, to: &text) }
        #expect(!text.contains("s3cr3t"))
        #expect(text.contains("Account"))
    }

    @Test func `a value of an optional type is not taken for nil`() async throws {
        let secrets = Secrets.inMemory()
        let number = SecretKey<Int?>("Number")
        let flag = SecretKey<Bool?>("Flag", default: true)
        try await secrets.set(0, for: number)
        try await secrets.set(nil, for: flag)
        #expect(try await secrets.value(of: number) == 0)
        // Nil is not kept, so that it is the default for all.
        #expect(secrets[flag] == true)
        #expect(try await secrets.value(of: flag) == true)
    }

    @Test func `one name with two types has a value for each`() async throws {
        let secrets = Secrets.inMemory()
        secrets[SecretKey("Name", default: "text")] = "x"
        #expect(secrets[SecretKey("Name", default: 7)] == 7)
        #expect(!secrets.isLoaded(SecretKey("Name", default: 7)))
        try await secrets.flush()
    }
}
