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
