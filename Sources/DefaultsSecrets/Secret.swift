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
///         try await $token.flush()  // until it is stored
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
public struct Secret<Value: Sendable>: Sendable {
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

    /// Reads the value from the keyring, as ``Secrets/value(of:)`` does.
    @discardableResult
    public func load() async throws -> Value { try await secrets.value(of: key) }

    /// Changes a part of the value that the keyring has, as ``Secrets/update(_:_:)`` does.
    @discardableResult
    public nonisolated(nonsending) func update(_ body: (inout Value) throws -> Void) async throws
        -> Value
    {
        try await secrets.update(key, body)
    }

    /// Waits until the changes are stored, as ``Secrets/flush(within:)`` does for all secrets.
    public func flush(within bound: Duration? = nil) async throws {
        try await secrets.flush([key.name], within: bound)
    }

    /// Removes the secret, as ``Secrets/reset(_:)`` does.
    public func reset() async throws { try await secrets.reset(key) }

    /// Whether the keyring has the secret, as ``Secrets/isSet(_:)`` returns it.
    public var isSet: Bool {
        get async throws { try await secrets.isSet(key) }
    }

    /// The failures of changes of this secret in the background, from now on.
    public var failures: AsyncStream<SecretsError> { secrets.store.failures.stream(of: key.name) }
}

extension Secret: CustomStringConvertible, CustomReflectable {
    /// The key and the domain; never the value.
    public var description: String { "the secret '\(key)' of \(secrets.domain)" }
    /// The key alone; never the value.
    public var customMirror: Mirror { Mirror(self, children: ["key": key.name]) }
}
