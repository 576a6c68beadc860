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
    public func value<Value>(of key: SecretKey<Value>) async throws -> Value {
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
        let secret = try await store.vault.read(name)
        let value = try secret.map { try key.coding.decode($0, name) } ?? key.defaultValue
        store.note(ShownValue(value: value), for: key.name, asOf: settled)
        return (value, settled)
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
    ///   have stored the secret; ``value(of:)`` returns what it has.
    public func set<Value>(_ value: Value, for key: SecretKey<Value>) async throws {
        try await naming(key) { name in
            let secret = try key.coding.encode(value, name)
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
    /// - Parameters:
    ///   - key: The key.
    ///   - body: Changes the value. It may be called several times, so it should have no other effect.
    /// - Returns: The value that was stored.
    /// - Throws: The errors of ``value(of:)`` and ``set(_:for:)``, and what the closure throws.
    ///   Nothing is stored then.
    @discardableResult
    public nonisolated(nonsending) func update<Value>(
        _ key: SecretKey<Value>, _ body: (inout Value) throws -> Void
    ) async throws -> Value {
        let name = try SecretName(domain: domain, key: key.name)
        while true {
            var (value, settled) = try await explaining(name) { try await read(key, name) }
            guard let settled else { continue }
            try body(&value)
            let secret = try key.coding.encode(value, name)
            let shown = key.shown(value, storedAs: secret)
            let isStored = try await explaining(name) {
                do {
                    try await store.store(secret, showing: shown, for: key.name, asOf: settled)
                    return true
                } catch is SecretStore.Overtaken {
                    return false
                }
            }
            if isStored { return shown.value }
        }
    }

    /// Removes a secret, and returns when the keyring has removed it.
    ///
    /// If there is no such secret, nothing happens.
    ///
    /// - Throws: The errors of ``set(_:for:)``.
    public func reset(_ key: AnySecretKey) async throws {
        try await naming(key) { _ in
            try await store.store(nil, showing: key.shownDefault, for: key.name)
        }
    }

    /// Whether the keyring has a secret, after earlier changes are stored.
    ///
    /// The user is not asked.
    public func isSet(_ key: AnySecretKey) async throws -> Bool {
        try await naming(key) { name in
            try await store.settle(key.name)
            return try await store.vault.contains(name)
        }
    }

    /// Waits until all changes that were made so far are stored.
    ///
    /// Call it before the program ends, if secrets were set in the background.
    ///
    /// - Parameter bound: How long to wait at most; nil for no limit, because the user may be asked.
    /// - Throws: ``SecretsError`` if a change in the background was not stored since the last call: the
    ///   first one, sorted by the names of the keys. ``failures`` reports all of them. The code is
    ///   `timedOut` after that time, and the changes are still sent. `CancellationError` if the task is
    ///   cancelled.
    public func flush(within bound: Duration? = nil) async throws {
        try await flush(store.keys, within: bound)
    }

    func flush(_ keys: [String], within bound: Duration?) async throws {
        try await limiting(bound) { [store] in
            for key in keys { try await store.settle(key) }
        }
        let failures = keys.compactMap { store.takeFailure(of: $0) }
        if let failure = failures.first { throw failure }
    }

    private func limiting(
        _ bound: Duration?, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        guard let bound else { return try await body() }
        let hasEnded = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await body()
                return true
            }
            group.addTask {
                try await Task.sleep(for: bound)
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? true
        }
        guard hasEnded else { throw SecretsError.notFlushed(domain: domain, within: bound) }
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

    private func naming<Result>(
        _ key: AnySecretKey, _ body: (SecretName) async throws -> Result
    ) async throws -> Result {
        let name = try SecretName(domain: domain, key: key.name)
        return try await explaining(name) { try await body(name) }
    }

    private nonisolated(nonsending) func explaining<Result>(
        _ name: SecretName?, _ body: nonisolated(nonsending) () async throws -> Result
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
