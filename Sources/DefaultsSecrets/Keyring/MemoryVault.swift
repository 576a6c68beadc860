internal import Synchronization

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
