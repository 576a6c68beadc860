import DefaultsClient
import DefaultsSecrets
import KeyedArchive
import Observation
import PropertyList
import Testing

// The code of the public declarations' comments, so that it compiles.

private func observe() async {
    let playSound = ObservedDefault(.playSound)
    for await isOn in Observations({ playSound.value }) { show(isOn) }
}

private func follow() async {
    for await change in defaults.changes() {
        if let change = change.values(of: .playSound) { show(change.newValue) }
    }
}

private func register() {
    defaults.register {
        $0[.playSound] = false
    }
}

private func playInMemory() {
    let defaults = Defaults.inMemory(domain: "org.example.Game")
    defaults[.playSound] = false
    #expect(!Game(defaults: defaults).makesNoise)
}

private func migrateTwice() async throws {
    try await defaults.migrate([
        DefaultsMigration(to: 1) { edits in
            try edits.move(.loudness, to: .volume) { Double($0) / 10 }
        },
        DefaultsMigration(to: 2) { edits in try edits.copy(.playSound, to: .playMusic) },
        DefaultsMigration(to: 3) { edits in
            try edits.set(true, for: .showWhatIsNew)
            try edits.change(.volume) { $0 = min($0, 1) }
        },
    ])
}

// MARK: The contract's calls

private func call(_ archive: KeyedArchive) async throws {
    let defaults = try await RemoteDefaults.connect()
    try await defaults.set(archive, forKey: "PlaySound", in: "org.example.Game")

    var transaction = DefaultsTransaction()
    transaction.set("PlaySound", to: archive)
    transaction.remove("PlayMusic")
    try await defaults.apply(transaction, in: "org.example.Game")

    let (game, menu) = (transaction, transaction)
    try await defaults.applyAll([("org.example.Game", game), ("org.example.Menu", menu)])
}

private func look(_ defaults: RemoteDefaults) async throws {
    let (archive, layer) = try await defaults.lookUp("Theme", in: "org.example.App")
    if layer == .managed { show(archive) }
}

// MARK: Secrets

struct Signature: Codable {}

extension AnySecretKey {
    static let token = SecretKey<String?>("Token")
    static let sign = SecretKey("Sign", default: Signature())
    static let identity = SecretKey<Identity?>("Identity")
}

struct Identity: Codable {
    var name: String
}

struct Session {
    @Secret(.token) var token

    func start() async throws {
        try await $token.load()  // a locked keyring asks the user
        if let token { connect(with: token) }
    }

    func signIn(with new: String) async throws {
        token = new  // seen at once, stored in the background
        try await $token.flush()  // until it is stored
    }
}

private func keep() async throws {
    Secrets.standard = Secrets(domain: "org.example.Game")
    let secrets = Secrets(domain: "org.example.Game")
    try await secrets.set("s3cr3t", for: .token)
    if let token = try await secrets.value(of: .token) { connect(with: token) }
    secrets[.token] = nil  // seen at once, stored in the background
    try await secrets.flush()  // until all is stored
    try await secrets.update(.identity) { $0?.name = "Ada" }
    Task {
        for await error in secrets.failures { show(error.message) }
    }
}

private struct Login {
    let secrets: Secrets
}

private func signIn() {
    let login = Login(secrets: .inMemory())
    show(login)
}

private func signInLocked() {
    let login = Login(secrets: .inMemory(failing: SecretsError(.locked)))
    show(login)
}

private func signInRefused() {
    let login = Login(secrets: .inMemory(failing: SecretsError(.dismissed), for: [.token]))
    show(login)
}

// MARK: The formats

private enum Versions {
    struct AccountV1: Codable {
        var first: String
        var last: String
    }

    struct Account: Codable, ArchiveVersioned {
        static var archiveVersion: Int { 2 }
        var name: String
    }

    static func migrate(_ decoder: inout KeyedArchiveDecoder) {
        decoder.migrate(from: 1, as: AccountV1.self, to: Account.self) { old in
            Account(name: old.first + " " + old.last)
        }
    }
}

private enum Fields {
    struct Account: Codable {
        var username: String
        var isAdmin: Bool
    }

    static func read(_ bytes: [UInt8]) throws {
        let account = try KeyedArchiveDecoder().decode(Account.self, from: bytes)
        show(account)
    }
}

private func look() throws {
    let archive = try KeyedArchive(json: #"{"$class": "Account", "username": "ada"}"#)
    show(archive)
}

private func build() throws {
    var builder = ValueFormBuilder()
    try builder.beginDictionary()
    try builder.key("$class")
    try builder.string("Account")
    try builder.key("username")
    try builder.string("ada")
    try builder.endDictionary()
    let archive = builder.finish()
    show(archive)
}

private func list(_ bytes: [UInt8]) throws {
    let list = try PropertyList(bytes)
    if case .array(let references) = list.value(at: list.root) {
        for element in list.elements(of: references) { print(list.value(at: element)) }
    }
}

private func write() {
    let title: Text = "Dune"
    if let string = title.string { print(string) }
}

private func writeList() {
    var writer = PropertyListWriter()
    let title = writer.add(string: "Dune")
    let list = writer.add(array: [title, title])
    let bytes = writer.finish(root: list)
    show(bytes)
}

private func show(_ value: Any) {}
private func connect(with token: String) {}

private func readLayer() throws {
    let prescribed = try defaults.value(of: .volume, in: .managed)
    show(prescribed as Any)
}

private func flush() async throws {
    try await defaults.flush(within: .seconds(5))
}
