import RoamingTerms

/// What callers ask for.
extension RoamService {
    /// Work on the engine that is not a round.
    typealias Errand = @Sendable () async -> Void

    /// Does something with the engine when no round and no other errand runs.
    func betweenRounds<Result: Sendable>(
        _ body: @escaping @Sendable (RoamService) async throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            // This must be checked here: other work of the loop may have run since the call above.
            guard !isStopping else { return continuation.resume(throwing: RoamError.ended) }
            errands.append {
                do {
                    guard await !self.isStopping else { throw RoamError.ended }
                    continuation.resume(returning: try await body(self))
                } catch {
                    continuation.resume(throwing: error)
                }
            }
            endSleep()
        }
    }

    func carryOutErrands() async {
        while !errands.isEmpty { await errands.removeFirst()() }
    }

    // MARK: Requests

    func changePassphrase(to passphrase: String) async throws {
        guard let settings, settings.isEncrypted, let place = settings.place else {
            throw RoamError.notEncrypted
        }
        guard !passphrase.isEmpty else { throw RoamError.emptyPassphrase }
        guard let key = try await keys.key(of: place) else { throw RoamError.noKeyHere }
        try await keys.wrap(key, passphrase)
        await roamer?.noteChange(of: [WrappedKey.key.name], in: WrappedKey.key.domain)
        try await roamNow()
    }

    /// Makes a round, and waits for its end.
    ///
    /// - Parameter offer: A passphrase for it.
    func roamNow(with offer: KeyKeeper.Offer? = nil) async throws {
        refusedKeyring = nil
        // The signals of the last changes may still be on their way.
        areSettingsDue = true
        await roamer?.noteMissedChanges()
        try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Void, any Error>) in
            // This must be checked here: other work of the loop may have run since the call above.
            guard !isStopping else { return continuation.resume(throwing: RoamError.ended) }
            // Together, so that they belong to the same round.
            waiters.append(continuation)
            if let offer { self.offer = offer }
            wake(for: .request)
        }
    }

    struct ListedMachine: Sendable {
        let id: ReplicaID
        let name: String
        let seen: Int64?
        let isThis: Bool
    }

    func machines() async throws -> [ListedMachine] {
        guard let engine, let roamer else { throw RoamError("Roaming is turned off.") }
        let own = await roamer.replicaID
        return try await engine.machines().map {
            ListedMachine(id: $0.id, name: $0.name, seen: $0.seen, isThis: $0.id == own)
        }
    }

    func forget(_ text: String) async throws {
        guard let engine, let roamer else { throw RoamError("Roaming is turned off.") }
        guard let id = ReplicaID(text) else {
            throw RoamError("'\(text)' is not the UUID of a machine.")
        }
        guard await roamer.replicaID != id else {
            throw RoamError(
                "This machine cannot forget itself; see: defaultsctl roam disable --help")
        }
        try await engine.forget(id)
    }
}

extension RoamError {
    static let ended = RoamError("The service has ended.")
    static let turnedOff = RoamError(
        "Roaming is turned off; see: defaultsctl roam enable --help")
    static let paused = RoamError(
        "Roaming is paused. To continue: defaultsctl roam resume")
}
