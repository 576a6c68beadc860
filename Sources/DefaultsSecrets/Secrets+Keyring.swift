/// What asks the keyring, and waits for its answer.
///
/// Every method throws ``SecretsError`` where that fails, and `CancellationError` where the task is
/// cancelled. A question that the user is being asked for it is taken back then, unless it is one of
/// gnome-keyring's for unlocking: that one stays until it is answered.
extension Secrets {
    /// Reads a secret, after what was set before; a locked keyring asks the user.
    ///
    /// - Returns: The secret; the key's default where there is none.
    @discardableResult
    public func value<Value>(for key: SecretKey<Value>) async throws -> Value {
        try await naming(key) { name in
            try await read(key, name).value
        }
    }

    /// The secret, and the state of its changes that it belongs to.
    private func read<Value>(
        _ key: SecretKey<Value>, _ name: SecretName
    ) async throws -> (value: Value, settled: UInt64?) {
        try await store.settle(key.name)
        let settled = store.settled(key.name)
        let value = try await store.vault.read(name)?.decoded(as: Value.self, name)
        store.note(value ?? key.defaultValue, for: key.name, asOf: settled)
        return (value ?? key.defaultValue, settled)
    }

    /// Stores a secret, and returns when the keyring has it; a locked keyring asks the user.
    ///
    /// Nil removes it. It is seen by the subscript at once, and no more where this throws. Where the
    /// task is cancelled, or the error is `timedOut` or `interrupted`, the keyring may have it all the
    /// same; ``value(for:)`` tells.
    public func set<Value>(_ value: Value, for key: SecretKey<Value>) async throws {
        try await naming(key) { name in
            let secret = try StoredSecret.encoding(value, as: name)
            try await store.store(
                secret, showing: key.shown(value, storedAs: secret), for: key.name)
        }
    }

    /// Changes a part of a secret: reads it from the keyring, and stores it when it is changed.
    ///
    /// ```swift
    /// try await secrets.update(.identity) { $0?.name = "Ada" }
    /// ```
    ///
    /// No other change by this process comes between, or the closure is called again with what that
    /// one has set. Keyrings know no such thing between processes: the last one to store wins.
    ///
    /// - Throws: As ``value(for:)`` and ``set(_:for:)``, and what the closure throws; nothing is stored
    ///   then.
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

    /// Removes a secret, and returns when the keyring has it no more; one that is not there is no
    /// error.
    ///
    /// Of a removal that fails, the same holds as of ``set(_:for:)``.
    public func remove<Value>(_ key: SecretKey<Value>) async throws {
        try await naming(key) { _ in
            try await store.store(nil, showing: key.defaultValue, for: key.name)
        }
    }

    /// Whether the keyring has a secret, after what was set before; the user is never asked.
    public func isSet<Value>(_ key: SecretKey<Value>) async throws -> Bool {
        try await naming(key) { name in
            try await store.settle(key.name)
            return try await store.vault.contains(name)
        }
    }

    /// Waits until all that was set is stored.
    ///
    /// A program that sets a secret in the background and ends calls this before.
    ///
    /// - Throws: ``SecretsError`` where a change that was made in the background, since the last such
    ///   call, is not stored: the first by the names of the keys. ``errors`` tells all.
    public func save() async throws {
        let keys = store.keys
        for key in keys { try await store.settle(key) }
        let failures = keys.compactMap { store.takeFailure(of: $0) }
        if let failure = failures.first { throw failure }
    }

    /// Waits until what was set for a key is stored, as ``save()`` does for all.
    public func save<Value>(_ key: SecretKey<Value>) async throws {
        try await store.settle(key.name)
        if let failure = store.takeFailure(of: key.name) { throw failure }
    }

    /// Unlocks the keyring that secrets are stored in, where it is locked: the user is asked.
    ///
    /// There is no need to call it before others, which do the same; it is for an app that asks when
    /// it suits the user.
    public func unlock() async throws {
        try await explaining(nil) { try await store.vault.unlock() }
    }

    /// Whether the keyring that secrets are stored in is locked; not where the user has none yet.
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
