import DefaultsClient
import DefaultsProtocol
import KeyedArchive

/// Changes that depend on what is there.
extension RemoteDefaults {
    /// How often such a change is tried while others change the same keys; each time one of them
    /// succeeds.
    private static var mostAttempts: Int { 100 }

    /// Does again what another's change meanwhile has made void.
    func retrying<Result>(_ attempt: () async throws -> Result) async throws -> Result {
        for _ in 1..<Self.mostAttempts {
            do {
                return try await attempt()
            } catch let error as DefaultsError where error.code == .conflict {
                continue
            }
        }
        return try await attempt()
    }

    /// Gives a key another name; a value that has that name already is replaced, as on macOS.
    func move(_ key: String, to newKey: String, in domain: String) async throws {
        try await retrying {
            let (archive, generation) = try await archive(forKey: key, in: domain)
            guard newKey != key else { return }
            var transaction = DefaultsTransaction()
            transaction.set(newKey, to: archive)
            transaction.remove(key)
            transaction.expected[key] = generation
            try await apply(transaction, in: domain)
        }
    }

    /// The archive of a key and its generation; nil and 0 where there is none.
    func archiveIfThere(
        forKey key: String, in domain: String
    ) async throws -> (archive: KeyedArchive?, generation: UInt64) {
        do {
            let (archive, generation) = try await archive(forKey: key, in: domain)
            return (archive, generation)
        } catch let error as DefaultsError where error.code == .notFound {
            return (nil, 0)
        }
    }
}
