import DefaultsClient
import DefaultsProtocol
import KeyedArchive

/// How the tool changes a part of a value.
extension RemoteDefaults {
    /// How often a change is tried while others change the same key; each time one of them succeeds.
    private static var mostAttempts: Int { 100 }

    /// Changes the archive of a key, and loses nothing that others change of it meanwhile.
    func change(
        _ key: String, in domain: String, by change: (KeyedArchive) throws -> KeyedArchive
    ) async throws {
        for _ in 1..<Self.mostAttempts {
            do {
                return try await changeOnce(key, in: domain, by: change)
            } catch let error as DefaultsError where error.code == .conflict {
                continue
            }
        }
        try await changeOnce(key, in: domain, by: change)
    }

    /// - Throws: `DefaultsError` with `conflict` where another has changed the key meanwhile.
    private func changeOnce(
        _ key: String, in domain: String, by change: (KeyedArchive) throws -> KeyedArchive
    ) async throws {
        let (archive, generation) = try await archive(forKey: key, in: domain)
        let changed = try change(archive)
        try await set(changed, forKey: key, in: domain, ifStillAt: generation)
    }
}
