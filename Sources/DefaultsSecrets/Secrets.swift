package import DBus
internal import Glibc
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
/// secrets[.token] = nil  // seen at once, stored in the background
/// try await secrets.save()  // until all is stored
/// ```
///
/// The keyring is any program on the user's bus that implements the [Secret Service][1], such as
/// gnome-keyring, KWallet or KeePassXC. Secrets reach it unencrypted over the user's own bus: who may
/// read that may ask the keyring, too. In this process values that were read stay in memory as long
/// as the store.
///
/// [1]: https://specifications.freedesktop.org/secret-service/latest/
public struct Secrets: Sendable {
    let store: SecretStore

    /// The secrets of a domain in the user's keyring.
    ///
    /// It never fails and never waits: the keyring is looked for when the first secret is. All
    /// `Secrets` of a domain that are there at the same time are the same, whoever makes them, and may
    /// be used by all threads.
    ///
    /// - Parameters:
    ///   - domain: The domain: not empty, and without a NUL character; the app's ID as a rule.
    ///   - timeout: The longest that the bus and the service are waited for with each question; the
    ///     user is waited for without a bound.
    public init(domain: String, timeout: Duration = .seconds(25)) {
        self.init(domain: domain, on: .session, timeout: timeout)
    }

    /// The secrets of a domain in a keyring on another bus.
    package init(domain: String, on bus: Address, timeout: Duration = .seconds(25)) {
        store = .shared(SecretStore.Place(domain: domain, bus: bus, timeout: timeout))
    }

    init(store: SecretStore) {
        self.store = store
    }

    /// The name of the domain.
    public var domain: String { store.domain }

    /// Secrets in the memory of this process, for tests: the same in everything but that no keyring
    /// has them.
    ///
    /// ```swift
    /// let login = Login(secrets: .inMemory())
    /// ```
    ///
    /// Each call makes new ones, which end with the last reference to them.
    public static func inMemory(domain: String = "org.example.Test") -> Secrets {
        Secrets(store: SecretStore(domain: domain, vault: MemoryVault()))
    }

    // MARK: The application's own

    private static let chosen = Mutex<Secrets?>(nil)

    /// The application's secrets, which ``Secret`` uses where it is told no others.
    ///
    /// An application says once, at the beginning of `main`, which they are:
    ///
    /// ```swift
    /// Secrets.standard = Secrets(domain: "org.example.Game")
    /// ```
    ///
    /// Where it does not, the domain has the ID of the Flatpak that the program runs in, and otherwise
    /// the name of the program's file.
    public static var standard: Secrets {
        get {
            chosen.withLock { chosen in
                let secrets = chosen ?? Secrets(domain: programIdentity)
                chosen = secrets
                return secrets
            }
        }
        set { chosen.withLock { $0 = newValue } }
    }

    private static var programIdentity: String {
        if let id = getenv("FLATPAK_ID").map({ String(cString: $0) }), !id.isEmpty { return id }
        return CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "program"
    }

    // MARK: Without waiting

    /// A secret as last read or set, without waiting.
    ///
    /// Before it was read or set it is the key's default; ``isLoaded(_:)`` tells. A value that is set
    /// is seen at once, and stored in the background, in order. Where that fails, ``errors`` tells,
    /// the next ``save()`` throws, and the value is again what it was before.
    public subscript<Value>(key: SecretKey<Value>) -> Value {
        get { store.shown(key.name, as: Value.self) ?? key.defaultValue }
        nonmutating set { setInBackground(newValue, for: key) }
    }

    private func setInBackground<Value>(_ value: Value, for key: SecretKey<Value>) {
        do throws(SecretsError) {
            let name = try SecretName(domain: domain, key: key.name)
            let secret = try StoredSecret.encoding(value, as: name)
            store.add(secret, showing: key.shown(value, storedAs: secret), for: key.name)
        } catch {
            store.report(error, for: key.name)
        }
    }

    /// Whether a secret was read or set, so that the subscript tells it.
    public func isLoaded<Value>(_ key: SecretKey<Value>) -> Bool {
        store.shown(key.name, as: Value.self) != nil
    }

    /// The errors of changes that were stored in the background.
    public var errors: SecretsErrors { SecretsErrors(feed: store.errors, key: nil) }
}

extension Secrets: CustomStringConvertible, CustomReflectable {
    /// The domain; never a secret.
    public var description: String { "the secrets of \(domain)" }
    /// The domain alone; never a secret.
    public var customMirror: Mirror { Mirror(self, children: ["domain": domain]) }
}
