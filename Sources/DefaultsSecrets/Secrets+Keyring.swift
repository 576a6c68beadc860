/// Calls that ask the keyring and wait for its answer.
///
/// Each throws ``SecretsError`` if it fails, and `CancellationError` if the task is cancelled. A
/// question to the user is withdrawn then. The exception is gnome-keyring's question for unlocking,
/// which stays until it is answered.
extension Secrets {
    /// Reads a secret from the keyring, after earlier changes are stored.
    ///
    /// If the keyring is locked, it asks the user.
    ///
    /// - Returns: The secret, or the key's default if there is none.
    /// - Throws: ``SecretsError`` if the keyring cannot be read, or has a value that is not of the
    ///   key's type; `CancellationError` if the task is cancelled.
    @discardableResult
    public func value<Value>(for key: SecretKey<Value>) async throws -> Value {
        try await naming(key) { name in
            try await read(key, name).value
        }
    }

    /// The secret, and the number of the last change that it contains; nil if a change is in flight.
    private func read<Value>(
        _ key: SecretKey<Value>, _ name: SecretName
    ) async throws -> (value: Value, settled: UInt64?) {
        try await store.settle(key.name)
        let settled = store.settled(key.name)
        let value = try await store.vault.read(name)?.decoded(as: Value.self, name)
        store.note(value ?? key.defaultValue, for: key.name, asOf: settled)
        return (value ?? key.defaultValue, settled)
    }

    /// Stores a secret, and returns when the keyring has it.
    ///
    /// If the keyring is locked, it asks the user.
    ///
    /// Setting nil removes the secret. The subscript returns the new value at once, and the old one
    /// again if this throws.
    ///
    /// - Throws: ``SecretsError`` if the secret is not stored; `CancellationError` if the task is
    ///   cancelled. After that one, and after the codes `timedOut` and `interrupted`, the keyring may
    ///   have stored the secret; ``value(for:)`` returns what it has.
    public func set<Value>(_ value: Value, for key: SecretKey<Value>) async throws {
        try await naming(key) { name in
            let secret = try StoredSecret.encoding(value, as: name)
            try await store.store(
                secret, showing: key.shown(value, storedAs: secret), for: key.name)
        }
    }

    /// Changes a part of a secret: reads it from the keyring, changes it and stores it.
    ///
    /// ```swift
    /// try await secrets.update(.identity) { $0?.name = "Ada" }
    /// ```
    ///
    /// If this process changes the secret meanwhile, the closure is called again with the new value.
    /// Keyrings do not support that between processes: the last one that stores the secret wins.
    ///
    /// - Returns: The result of the closure.
    /// - Throws: The errors of ``value(for:)`` and ``set(_:for:)``, and what the closure throws.
    ///   Nothing is stored then.
    @discardableResult
    public func update<Value, Result>(
        _ key: SecretKey<Value>, _ change: (inout Value) throws -> Result
    ) async throws -> Result {
        let name = try SecretName(domain: domain, key: key.name)
        while true {
            var (value, settled) = try await explaining(name) { try await read(key, name) }
            guard let settled else { continue }
            let result = try change(&value)
            let secret = try StoredSecret.encoding(value, as: name)
            let shown = key.shown(value, storedAs: secret)
            let isStored = try await explaining(name) {
                do {
                    try await store.store(secret, showing: shown, for: key.name, asOf: settled)
                    return true
                } catch is SecretStore.Overtaken {
                    return false
                }
            }
            if isStored { return result }
        }
    }

    /// Removes a secret, and returns when the keyring has removed it.
    ///
    /// If there is no such secret, nothing happens.
    ///
    /// - Throws: The errors of ``set(_:for:)``.
    public func remove<Value>(_ key: SecretKey<Value>) async throws {
        try await naming(key) { _ in
            try await store.store(nil, showing: key.defaultValue, for: key.name)
        }
    }

    /// Whether the keyring has a secret, after earlier changes are stored.
    ///
    /// The user is not asked.
    public func isSet<Value>(_ key: SecretKey<Value>) async throws -> Bool {
        try await naming(key) { name in
            try await store.settle(key.name)
            return try await store.vault.contains(name)
        }
    }

    /// Waits until all changes are stored.
    ///
    /// Call it before the program ends, if secrets were set in the background.
    ///
    /// - Throws: ``SecretsError`` if a change in the background was not stored since the last call: the
    ///   first one, sorted by the names of the keys. ``errors`` reports all of them.
    public func save() async throws {
        let keys = store.keys
        for key in keys { try await store.settle(key) }
        let failures = keys.compactMap { store.takeFailure(of: $0) }
        if let failure = failures.first { throw failure }
    }

    /// Waits until the changes of one secret are stored, as ``save()`` does for all.
    public func save<Value>(_ key: SecretKey<Value>) async throws {
        try await store.settle(key.name)
        if let failure = store.takeFailure(of: key.name) { throw failure }
    }

    /// Unlocks the keyring that new secrets are stored in.
    ///
    /// If it is locked, it asks the user.
    ///
    /// Other calls unlock the keyring themselves. Call this to choose the time when the user is asked.
    public func unlock() async throws {
        try await explaining(nil) { try await store.vault.unlock() }
    }

    /// Whether the keyring that new secrets are stored in is locked; false if the user has none yet.
    public var isLocked: Bool {
        get async throws {
            try await explaining(nil) { try await store.vault.isLocked() }
        }
    }

    private func naming<Value, Result>(
        _ key: SecretKey<Value>, _ body: (SecretName) async throws -> Result
    ) async throws -> Result {
        let name = try SecretName(domain: domain, key: key.name)
        return try await explaining(name) { try await body(name) }
    }

    private func explaining<Result>(
        _ name: SecretName?, _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw SecretsError(error, domain: domain, name: name)
        }
    }
}
