/// A property whose value is a secret: it is read without waiting and stored in the background.
///
/// ```swift
/// extension AnySecretKey {
///     static let token = SecretKey<String?>("Token")
/// }
///
/// struct Session {
///     @Secret(.token) var token
///
///     func start() async throws {
///         try await $token.load()  // a locked keyring asks the user
///         if let token { connect(with: token) }
///     }
///
///     func signIn(with new: String) async throws {
///         token = new  // seen at once, stored in the background
///         try await $token.save()  // until it is stored
///     }
/// }
/// ```
///
/// The value is the one that was last read or set, or the key's default before that. Setting it before
/// it is loaded replaces the secret in the keyring. So load it before you change a part of it, or call
/// ``update(_:)``.
///
/// All properties with the same key and the same ``Secrets`` share the value. No description, mirror or
/// dump shows it.
@propertyWrapper
public struct Secret<Value: Codable & Sendable>: Sendable {
    /// The key of the secret.
    public let key: SecretKey<Value>
    /// The secrets that it belongs to.
    public let secrets: Secrets

    /// Makes a property for a secret.
    ///
    /// - Parameters:
    ///   - key: Its key.
    ///   - secrets: The secrets that it belongs to; by default the application's own at this moment.
    public init(_ key: SecretKey<Value>, in secrets: Secrets = .standard) {
        self.key = key
        self.secrets = secrets
    }

    /// The value as it was last read or set.
    ///
    /// A new value can be read at once, and is stored in the background.
    public var wrappedValue: Value {
        get { secrets[key] }
        nonmutating set { secrets[key] = newValue }
    }

    /// The property itself, to load, save and remove the secret.
    public var projectedValue: Secret<Value> { self }
}

// MARK: What `$` gives

extension Secret {
    /// Whether the secret was loaded or set.
    public var isLoaded: Bool { secrets.isLoaded(key) }

    /// Reads the value from the keyring, as ``Secrets/value(for:)`` does.
    @discardableResult
    public func load() async throws -> Value { try await secrets.value(for: key) }

    /// Changes a part of the value that the keyring has, as ``Secrets/update(_:_:)`` does.
    @discardableResult
    public func update<Result>(_ change: (inout Value) throws -> Result) async throws -> Result {
        try await secrets.update(key, change)
    }

    /// Waits until the changes are stored, as ``Secrets/save(_:)`` does.
    public func save() async throws { try await secrets.save(key) }

    /// Removes the secret, as ``Secrets/remove(_:)`` does.
    public func remove() async throws { try await secrets.remove(key) }

    /// Whether the keyring has the secret, as ``Secrets/isSet(_:)`` returns it.
    public var isSet: Bool {
        get async throws { try await secrets.isSet(key) }
    }

    /// The errors of changes of this secret that were stored in the background.
    public var errors: SecretsErrors {
        SecretsErrors(feed: secrets.store.errors, key: key.name)
    }
}

extension Secret: CustomStringConvertible, CustomReflectable {
    /// The key and the domain; never the value.
    public var description: String { "the secret '\(key)' of \(secrets.domain)" }
    /// The key alone; never the value.
    public var customMirror: Mirror { Mirror(self, children: ["key": key.name]) }
}
