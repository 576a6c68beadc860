package import DBus
internal import Glibc
internal import Synchronization

/// The secrets of one domain, stored in the user's keyring.
///
/// Use it for passwords, tokens and private keys, as you use `Defaults` for settings. The keyring
/// encrypts them. If it is locked, it asks the user. So reading a secret takes a while and can fail:
///
/// ```swift
/// extension AnySecretKey {
///     static let token = SecretKey<String?>("Token")
/// }
/// let secrets = Secrets(domain: "org.example.Game")
/// try await secrets.set("s3cr3t", for: .token)
/// if let token = try await secrets.value(for: .token) { connect(with: token) }
/// ```
///
/// A secret that was read or set once is available without waiting, by the subscript or ``Secret``:
///
/// ```swift
/// secrets[.token] = nil  // seen at once, stored in the background
/// try await secrets.save()  // until all is stored
/// ```
///
/// The keyring is any program on the user's bus that implements the [Secret Service][1], such as
/// gnome-keyring, KWallet or KeePassXC. Secrets are sent over the user's bus without encryption: a
/// program that can read the bus can also ask the keyring. Values that were read or set stay in the
/// memory of this process as long as there are `Secrets` of the domain.
///
/// [1]: https://specifications.freedesktop.org/secret-service/latest/
public struct Secrets: Sendable {
    let store: SecretStore

    /// Makes the secrets of a domain in the user's keyring.
    ///
    /// This does not wait and cannot fail: the keyring is searched for at the first call. All `Secrets`
    /// of a domain that exist at the same time share the same values, and all threads may use them.
    ///
    /// - Parameters:
    ///   - domain: The domain, usually the app's ID: not empty, and without a NUL character.
    ///   - timeout: How long each call waits at most for the bus and the service. The wait for the user
    ///     has no limit.
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

    /// Makes secrets in the memory of this process, for tests.
    ///
    /// They work like others, but need no keyring.
    ///
    /// ```swift
    /// let login = Login(secrets: .inMemory())
    /// ```
    ///
    /// Each call makes new, independent secrets, which end with the last reference to them.
    public static func inMemory(domain: String = "org.example.Test") -> Secrets {
        Secrets(store: SecretStore(domain: domain, vault: MemoryVault()))
    }

    // MARK: The application's own

    private static let chosen = Mutex<Secrets?>(nil)

    /// The application's own secrets, which ``Secret`` uses by default.
    ///
    /// An application sets them once, at the beginning of `main`:
    ///
    /// ```swift
    /// Secrets.standard = Secrets(domain: "org.example.Game")
    /// ```
    ///
    /// Otherwise the domain is the ID of the Flatpak that the program runs in, or else the name of the
    /// program's file.
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

    /// A secret as it was last read or set, without waiting.
    ///
    /// Before it was read or set, it is the key's default; see ``isLoaded(_:)``. A new value can be
    /// read at once, and is stored in the background, in the order of the changes. If that fails,
    /// ``errors`` reports it, the next ``save()`` throws, and the secret has its old value again.
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

    /// Whether a secret was read or set, so that the subscript returns it.
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
