internal import Synchronization

/// Where secrets are stored: in the Secret Service, or in the memory of a test.
///
/// Every method throws ``SecretsError``, `KeyringProblem` or `DBusError`, and `CancellationError` if
/// the task is cancelled.
protocol SecretVault: Sendable {
    /// The secret with a name; nil if there is none.
    func read(_ name: SecretName) async throws -> StoredSecret?
    /// Whether there is a secret with a name. The user is not asked.
    func contains(_ name: SecretName) async throws -> Bool
    /// Stores a secret, or replaces it.
    func store(_ secret: StoredSecret, as name: SecretName) async throws
    /// Removes a secret. It is no error if there is none.
    func remove(_ name: SecretName) async throws
    /// Unlocks the keyring that secrets are stored in.
    func unlock() async throws
    /// Whether that keyring is locked.
    func isLocked() async throws -> Bool
}

/// Secrets in memory, for the tests of apps.
final class MemoryVault: SecretVault {
    private let secrets = Mutex<[SecretName: StoredSecret]>([:])
    /// What calls throw; nil if none fails.
    private let error: SecretsError?
    /// The keys whose calls fail; nil for all calls.
    private let keys: Set<String>?

    init(error: SecretsError? = nil, keys: Set<String>? = nil) {
        self.error = error
        self.keys = keys
    }

    private func check(_ name: SecretName? = nil) throws(SecretsError) {
        guard let error, keys?.contains(name?.key ?? "") ?? true else { return }
        throw error
    }

    func read(_ name: SecretName) throws -> StoredSecret? {
        try check(name)
        return secrets.withLock { $0[name] }
    }

    func contains(_ name: SecretName) throws -> Bool { try read(name) != nil }

    func store(_ secret: StoredSecret, as name: SecretName) throws {
        try check(name)
        secrets.withLock { $0[name] = secret }
    }

    func remove(_ name: SecretName) throws {
        try check(name)
        secrets.withLock { $0[name] = nil }
    }

    func unlock() throws { try check() }

    func isLocked() throws -> Bool {
        try check()
        return false
    }
}
