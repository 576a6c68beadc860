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

    func read(_ name: SecretName) -> StoredSecret? { secrets.withLock { $0[name] } }

    func contains(_ name: SecretName) -> Bool { read(name) != nil }

    func store(_ secret: StoredSecret, as name: SecretName) {
        secrets.withLock { $0[name] = secret }
    }

    func remove(_ name: SecretName) { secrets.withLock { $0[name] = nil } }

    func unlock() {}

    func isLocked() -> Bool { false }
}
