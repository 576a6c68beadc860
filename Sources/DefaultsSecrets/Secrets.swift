package import DBus
internal import DefaultsTerms
internal import Synchronization
internal import SystemCalls

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
/// if let token = try await secrets.value(of: .token) { connect(with: token) }
/// ```
///
/// A secret that was read or set once is available without waiting, by the subscript or ``Secret``:
///
/// ```swift
/// secrets[.token] = nil  // seen at once, stored in the background
/// try await secrets.flush()  // until all is stored
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
    ///
    /// To test what the app does if the keyring fails, give an error:
    ///
    /// ```swift
    /// let login = Login(secrets: .inMemory(failing: SecretsError(.dismissed), for: [.token]))
    /// ```
    ///
    /// - Parameters:
    ///   - domain: The name of the domain.
    ///   - error: What each call throws that asks the keyring; nil if none fails.
    ///   - keys: The keys whose calls fail; nil for all keys, and for the calls without a key.
    public static func inMemory(
        domain: String = "org.example.Test", failing error: SecretsError? = nil,
        for keys: [AnySecretKey]? = nil
    ) -> Secrets {
        let vault = MemoryVault(error: error, keys: keys.map { Set($0.map(\.name)) })
        return Secrets(store: SecretStore(domain: domain, vault: vault))
    }

    // MARK: The application's own

    private struct Standard {
        let secrets: Secrets
        /// Whether the application has set them.
        let isSet: Bool
    }

    private static let chosen = Mutex<Standard?>(nil)

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
    ///
    /// If they were used before they are set to another domain, a line on standard error says so.
    public static var standard: Secrets {
        get {
            chosen.withLock { chosen in
                let standard =
                    chosen
                    ?? Standard(secrets: Secrets(domain: ProgramIdentity.domain), isSet: false)
                chosen = standard
                return standard.secrets
            }
        }
        set {
            let before = chosen.withLock { chosen in
                defer { chosen = Standard(secrets: newValue, isSet: true) }
                return chosen
            }
            if let before, !before.isSet, before.secrets.domain != newValue.domain {
                warn(of: before.secrets.domain, before: newValue.domain)
            }
        }
    }

    private static func warn(of used: String, before set: String) {
        StandardError.say(
            "Secrets.standard was used before it was set: its secrets were those of '\(used)', and not of "
                + "'\(set)'. Set it at the beginning of main.", from: "secrets")
    }

    // MARK: Without waiting

    /// A secret as it was last read or set, without waiting.
    ///
    /// Before it was read or set, it is the key's default; see ``isLoaded(_:)``. A new value can be
    /// read at once, and is stored in the background, in the order of the changes. If that fails,
    /// ``failures`` reports it, the next ``flush(within:)`` throws, and the secret has its old value
    /// again.
    public subscript<Value>(key: SecretKey<Value>) -> Value {
        get { store.shown(key.name, as: Value.self) ?? key.defaultValue }
        nonmutating set { setInBackground(newValue, for: key) }
    }

    private func setInBackground<Value>(_ value: Value, for key: SecretKey<Value>) {
        do throws(SecretsError) {
            let name = try SecretName(domain: domain, key: key.name)
            let secret = try key.coding.encode(value, name)
            store.add(secret, showing: key.shown(value, storedAs: secret), for: key.name)
        } catch {
            store.report(error, for: key.name)
        }
    }

    /// Whether a secret was read or set, so that the subscript returns it.
    public func isLoaded<Value>(_ key: SecretKey<Value>) -> Bool {
        store.shown(key.name, as: Value.self) != nil
    }

    /// The failures of changes in the background, from now on.
    ///
    /// ```swift
    /// Task {
    ///     for await error in secrets.failures { show(error.message) }
    /// }
    /// ```
    ///
    /// The newest 256 are kept for a slow consumer. If no task iterates, each failure is printed as a
    /// line on standard error. The same line is printed once.
    public var failures: AsyncStream<SecretsError> { store.failures.stream() }
}

extension Secrets: CustomStringConvertible, CustomReflectable {
    /// The domain; never a secret.
    public var description: String { "the secrets of \(domain)" }
    /// The domain alone; never a secret.
    public var customMirror: Mirror { Mirror(self, children: ["domain": domain]) }
}
