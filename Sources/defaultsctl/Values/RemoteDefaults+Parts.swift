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
        try await retrying {
            let (archive, generation) = try await archive(forKey: key, in: domain)
            try await set(change(archive), forKey: key, in: domain, ifStillAt: generation)
        }
    }

    /// Changes the archive of a key that may not be there, which is nil to the change, and loses
    /// nothing that others change of it meanwhile.
    func change(
        _ key: String, in domain: String, orAdd change: (KeyedArchive?) throws -> KeyedArchive
    ) async throws {
        try await retrying {
            let (archive, generation) = try await archiveIfThere(forKey: key, in: domain)
            try await set(change(archive), forKey: key, in: domain, ifStillAt: generation)
        }
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

    /// Does again what another's change meanwhile has made void.
    private func retrying(_ attempt: () async throws -> Void) async throws {
        for _ in 1..<Self.mostAttempts {
            do {
                return try await attempt()
            } catch let error as DefaultsError where error.code == .conflict {
                continue
            }
        }
        try await attempt()
    }
}
