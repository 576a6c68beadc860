internal import Synchronization

/// What keeps the secrets: the Secret Service, or the memory of a test.
///
/// Every method throws ``SecretsError``, `KeyringProblem` or `DBusError`, and `CancellationError`
/// where the task is cancelled.
protocol SecretVault: Sendable {
    /// The secret of a name; nil where there is none.
    func read(_ name: SecretName) async throws -> StoredSecret?
    /// Whether there is a secret of a name, of which nobody has to be asked.
    func contains(_ name: SecretName) async throws -> Bool
    /// Stores a secret in the place of what is there.
    func store(_ secret: StoredSecret, as name: SecretName) async throws
    /// Removes a secret; one that is not there is no error.
    func remove(_ name: SecretName) async throws
    /// Unlocks the keyring that secrets are stored in.
    func unlock() async throws
    /// Whether that keyring is locked.
    func isLocked() async throws -> Bool
}

/// Secrets for as long as the store lives, for the tests of apps.
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
