import DefaultsSecrets
import Foundation
import Testing

// The code of the articles, so that it compiles; a test sees to it that all of it is here.

extension AnySecretKey {
    static let identity = SecretKey<Identity?>("Identity")
}

struct Identity: Codable, Hashable {
    var name: String
    var privateKey: [UInt8]
}

let secrets = Secrets(domain: "org.example.Game")

func connect() async throws {
    guard let token = try await secrets.value(of: .token) else { return askToSignIn() }
    use(token)
}

func signOut() async throws {
    try await secrets.reset(.token)
}

struct Login {
    @Secret(.token, in: secrets) var token

    func start() async throws {
        try await $token.load()
    }

    func signIn(with new: String) async throws {
        token = new
        try await $token.flush()
    }
}

func rename(to name: String) async throws {
    try await secrets.update(.identity) { $0?.name = name }
}

func keep(_ password: String) async throws {
    do {
        try await secrets.set(password, for: .token)
    } catch let error as SecretsError {
        switch error.code {
        case .dismissed: break
        case .noService: show("Without a keyring you have to sign in each time.")
        default: show(error.message)
        }
    }
}

private func use(_ token: String) {}
private func askToSignIn() {}
private func show(_ message: String) {}

struct DocumentationTests {
    @Test func `an app's test works without a keyring`() async throws {
        let login = Secrets.inMemory()
        login[.token] = "t0k3n"
        try await login.flush()
        #expect(try await login.value(of: .token) == "t0k3n")
        let locked = Secrets.inMemory(failing: SecretsError(.locked))
        await expect(.locked) { try await locked.value(of: .token) }
        let refused = Secrets.inMemory(failing: SecretsError(.dismissed), for: [.token])
        await expect(.dismissed) { try await refused.value(of: .token) }
    }

    @Test(arguments: ["DefaultsSecrets.md", "WhereAValueBelongs.md"])
    func `all code of the articles is compiled here`(_ article: String) throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
        let text = try String(
            contentsOf: tests.appending(
                path: "../../Sources/DefaultsSecrets/DefaultsSecrets.docc/\(article)"),
            encoding: .utf8)
        let compiled = try ["DocumentationTests.swift", "KeyringTests.swift"].map {
            try String(contentsOf: tests.appending(path: $0), encoding: .utf8)
        }.joined().split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        for block in text.components(separatedBy: "```swift\n").dropFirst() {
            let code = block.components(separatedBy: "```")[0].split(separator: "\n")
            for line in code.map({ $0.trimmingCharacters(in: .whitespaces) }) {
                #expect(compiled.contains(line), "\(article)")
            }
        }
    }
}
