/// A secret as a property: read without waiting, stored in the background.
///
/// ```swift
/// extension SecretKeys {
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
/// The value is what was last read or set, the key's default before that. So who changes a part of
/// it, as by appending to a list, loads it before, or calls ``update(_:)``: to set what was never
/// loaded replaces what the keyring has.
///
/// It is shared with all else
/// that uses the same key of the same ``Secrets``. No description, mirror or dump of it shows it.
@propertyWrapper
public struct Secret<Value: Codable & Sendable>: Sendable {
    /// The key of the secret.
    public let key: SecretKey<Value>
    /// The store that the secret is in.
    public let secrets: Secrets

    /// A property for a secret.
    ///
    /// - Parameters:
    ///   - key: Its key.
    ///   - secrets: The store that it is in: the application's own, as it is now, unless told
    ///     otherwise.
    public init(_ key: SecretKey<Value>, in secrets: Secrets = .standard) {
        self.key = key
        self.secrets = secrets
    }

    /// The value as last read or set; a new one is seen at once, and stored in the background.
    public var wrappedValue: Value {
        get { secrets[key] }
        nonmutating set { secrets[key] = newValue }
    }

    /// The secret itself, to load, save and remove it.
    public var projectedValue: Secret<Value> { self }
}

// MARK: What `$` gives

extension Secret {
    /// Whether the value is known: it was loaded, or set.
    public var isLoaded: Bool { secrets.isLoaded(key) }

    /// Reads the value from the keyring, as ``Secrets/value(for:)`` does.
    @discardableResult
    public func load() async throws -> Value { try await secrets.value(for: key) }

    /// Changes a part of the value that the keyring has, as ``Secrets/update(_:_:)`` does.
    @discardableResult
    public func update<Result>(_ change: (inout Value) throws -> Result) async throws -> Result {
        try await secrets.update(key, change)
    }

    /// Waits until what was set is stored, as ``Secrets/save(_:)`` does.
    public func save() async throws { try await secrets.save(key) }

    /// Removes the secret, as ``Secrets/remove(_:)`` does.
    public func remove() async throws { try await secrets.remove(key) }

    /// Whether the keyring has the secret, as ``Secrets/isSet(_:)`` tells.
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
