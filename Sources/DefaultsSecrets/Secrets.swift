public import DBus
internal import Synchronization

/// The secrets of one domain, which the user's keyring keeps.
///
/// It is to passwords, tokens and private keys what `Defaults` is to settings. The keyring encrypts
/// them, and may be locked: then the user is asked. So the truth takes a while, and can be refused:
///
/// ```swift
/// extension SecretKeys {
///     static let token = SecretKey<String?>("Token")
/// }
/// let secrets = Secrets(domain: "org.example.Game")
/// try await secrets.set("s3cr3t", for: .token)
/// if let token = try await secrets.value(for: .token) { connect(with: token) }
/// ```
///
/// What was read or set once is at hand without waiting, by subscript or by ``Secret``:
///
/// ```swift
/// secrets[.token] = nil        // seen at once, stored in the background
/// try await secrets.save()     // until all is stored
/// ```
///
/// The keyring is any program on the user's bus that implements the [Secret Service][1], such as
/// gnome-keyring, KWallet or KeePassXC. Secrets reach it unencrypted over the user's own bus: who may
/// read that may ask the keyring, too. In this process values that were read stay in memory as long
/// as the store.
///
/// [1]: https://specifications.freedesktop.org/secret-service/latest/
public final class Secrets: Sendable {
    /// The domain, the app's ID as a rule.
    public let domain: String

    let vault: any SecretVault
    let changes: SecretChanges

    /// The secrets of a domain in the user's keyring.
    ///
    /// It never fails and never waits: the keyring is looked for when the first secret is.
    ///
    /// - Parameters:
    ///   - domain: The domain: not empty, and without a NUL character; the app's ID as a rule.
    ///   - bus: The bus that the keyring is on.
    ///   - timeout: The longest that the bus and the service are waited for with each question; the
    ///     user is waited for without a bound.
    public convenience init(
        domain: String, bus: Address = .session, timeout: Duration = .seconds(25)
    ) {
        self.init(domain: domain, vault: KeyringVault(on: bus, timeout: timeout))
    }

    init(domain: String, vault: any SecretVault) {
        self.domain = domain
        self.vault = vault
        changes = SecretChanges(domain: domain, vault: vault)
    }

    /// Secrets in memory, which end with the store; for the tests of apps.
    ///
    /// ```swift
    /// let login = LoginModel(secrets: .inMemory(domain: "org.example.Game"))
    /// ```
    public static func inMemory(domain: String) -> Secrets {
        Secrets(domain: domain, vault: MemoryVault())
    }

    /// The secrets that ``Secret`` stands for where it names no others.
    ///
    /// At first their domain is the name of the program's file. An app with an ID sets them when it
    /// starts, and a test its own:
    ///
    /// ```swift
    /// Secrets.standard = Secrets(domain: "org.example.Game")
    /// ```
    public static var standard: Secrets {
        get {
            standardSecrets.withLock { standard in
                let secrets = standard ?? Secrets(domain: programName)
                standard = secrets
                return secrets
            }
        }
        set { standardSecrets.withLock { $0 = newValue } }
    }

    private static let standardSecrets = Mutex<Secrets?>(nil)

    private static var programName: String {
        CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "program"
    }

    /// A secret as last read or set, without waiting.
    ///
    /// Before it was read it is the key's default, see ``isLoaded(_:)``. A value that is set is seen
    /// at once and stored in the background, in order; where the keyring refuses it, ``errors`` tells,
    /// the next ``save()`` throws, and the value is again what it was before.
    public subscript<Value>(key: SecretKey<Value>) -> Value {
        get { changes.shown(key.name, as: Value.self) ?? key.defaultValue }
        set { setInBackground(newValue, for: key) }
    }

    private func setInBackground<Value>(_ value: Value, for key: SecretKey<Value>) {
        do throws(SecretsError) {
            let name = try SecretName(domain: domain, key: key.name)
            let secret = try StoredSecret.encoding(value, as: name)
            changes.add(secret, showing: value, for: key.name)
        } catch {
            changes.report(error, for: key.name)
        }
    }

    /// Whether a secret was read or set, so that the subscript tells it.
    public func isLoaded<Value>(_ key: SecretKey<Value>) -> Bool {
        changes.shown(key.name, as: Value.self) != nil
    }

    /// The errors of changes that were stored in the background.
    public var errors: SecretsErrors { SecretsErrors(feed: changes.errors, key: nil) }
}

extension Secrets: CustomStringConvertible, CustomReflectable {
    /// The domain; never a secret.
    public var description: String { "the secrets of \(domain)" }
    /// The domain alone; never a secret.
    public var customMirror: Mirror { Mirror(self, children: ["domain": domain]) }
}
