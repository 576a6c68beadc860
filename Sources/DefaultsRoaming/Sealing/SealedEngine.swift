package import DBus
import RoamingTerms

// Invariants
//
// 1. The inner engine gets no name and no value that is not sealed, except the wrapped key.
// 2. What comes from the inner engine is used only if someone with the key has sealed it.
// 3. Nothing is exchanged before it is known that the place has only what was sealed.

/// An engine that keeps from its place what it holds: names and values are encrypted on this machine.
///
/// It wraps another engine, which sees keys of one domain, ``RoamTerms/sealed``. Beside them is the
/// wrapped key, which is of no use without the passphrase.
package actor SealedEngine: Engine {
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }
    private nonisolated let loop: EventLoop
    private nonisolated let inner: any Engine
    private var state: State
    /// What the place has and nobody with the key has sealed, with the reason.
    private var unsealed: [RoamingKey: String] = [:]

    /// Finds the key of the place, before anything is exchanged.
    ///
    /// Its argument looks at what the place has.
    package typealias KeyFinder =
        @Sendable (_ look: @Sendable () async throws -> SealedPlace) async throws -> MasterKey

    private enum State {
        case unmet(KeyFinder)
        /// The finder is gone, and with it the passphrase that it may have.
        case met(MasterKey, Seal)
    }

    /// Wraps an engine.
    ///
    /// - Parameters:
    ///   - inner: The engine.
    ///   - loop: The loop of both.
    ///   - findKey: Finds the key, at the first meeting.
    package init(
        _ inner: any Engine, on loop: EventLoop, findingKey findKey: @escaping KeyFinder
    ) {
        self.inner = inner
        self.loop = loop
        state = .unmet(findKey)
    }

    package nonisolated var pollInterval: Duration? { inner.pollInterval }

    /// What this engine or the inner one refuses, by the names that the inner one has for it.
    package var refusals: [RoamingKey: String] {
        get async { unsealed.merging(await inner.refusals) { own, _ in own } }
    }

    package var problems: [String] { get async { await inner.problems } }

    package func notePulled(upTo revision: UInt64) async throws {
        try await inner.notePulled(upTo: revision)
    }

    package func forget(_ replica: ReplicaID) async throws { try await inner.forget(replica) }

    package func onNews(_ body: @escaping @Sendable () -> Void) async throws {
        try await inner.onNews(body)
    }

    package func close() async { await inner.close() }

    /// The seal, which is there after the first meeting.
    private func currentSeal() throws -> Seal {
        guard case .met(_, let seal) = state else {
            throw EngineError(.refused, "The place was not met, so its key is not known.")
        }
        return seal
    }
}

// MARK: Meeting

extension SealedEngine {
    package func meet(
        _ replica: ReplicaID, named name: String, known: [UInt8]?,
        lastBatch: (number: UInt64, nonce: [UInt8], isAnswered: Bool)?
    ) async throws -> Meeting {
        let size = MasterKey.identitySize
        let innerKnown = known.map { Array($0.dropLast(size)) }
        if case .unmet(let findKey) = state {
            let key = try await findKey {
                // Without the key, the name cannot be sealed yet.
                _ = try await self.inner.meet(
                    replica, named: "new", known: innerKnown, lastBatch: lastBatch)
                return try await self.look()
            }
            state = .met(key, Seal(key))
        }
        let seal = try currentSeal()
        let meeting = try await inner.meet(
            replica, named: seal.seal(machine: name, of: replica), known: innerKnown,
            lastBatch: lastBatch)
        // With another key, nothing that is known here is at the place.
        let isOther = known.map { !$0.suffix(size).elementsEqual(seal.identity) } ?? false
        return Meeting(
            state: isOther ? .mustJoinAnew : meeting.state, place: meeting.place + seal.identity,
            revision: meeting.revision, shared: meeting.shared)
    }

    /// Looks at all that the place has.
    private func look() async throws -> SealedPlace {
        var place = SealedPlace()
        var page: Page
        var (before, revision): (UInt64, UInt64) = (0, 0)
        repeat {
            before = revision
            page = try await inner.pull(after: revision, limit: 1000)
            for version in page.versions {
                guard let archive = version.archive else { continue }
                guard version.key.domain == Seal.domain else {
                    throw EngineError.unsealed
                }
                if version.key.name == RoamTerms.wrappedKey {
                    place.wrappedKey = WrappedKey(archive: archive)
                } else {
                    place.hasValues = true
                }
            }
            revision = page.revision
            // Losers that nobody keeps yet would be more without end.
        } while page.hasMore && revision > before
        return place
    }

    package func machines() async throws -> [Machine] {
        let seal = try currentSeal()
        return try await inner.machines().map {
            Machine(
                id: $0.id, name: seal.open(machine: $0.name, of: $0.id) ?? "unknown", seen: $0.seen)
        }
    }
}

/// What a place has, for someone who does not know its key yet.
package struct SealedPlace: Sendable, Equatable {
    /// The wrapped key.
    package var wrappedKey: WrappedKey?
    /// Whether there are sealed values.
    package var hasValues = false

    package init() {}
}

extension EngineError {
    static let unsealed = EngineError(
        .refused,
        "This place has values that are not encrypted. Use another place for encrypted ones, or roam "
            + "without --encrypt.")

    /// What a machine says that roams without encryption.
    static let sealed = EngineError(
        .refused,
        "The values at this place are encrypted. Run 'defaultsctl roam enable --encrypt'.")
}

// MARK: Pulling

extension SealedEngine {
    package func pull(after revision: UInt64, limit: Int) async throws -> Page {
        let seal = try currentSeal()
        let page = try await inner.pull(after: revision, limit: limit)
        var versions: [Version] = []
        for version in page.versions {
            guard let (key, archive) = try open(version.key, version.archive, with: seal) else {
                continue
            }
            versions.append(
                Version(
                    key: key, archive: archive, time: version.time, replica: version.replica,
                    mark: version.mark))
        }
        return Page(
            versions: versions, losers: try await open(page.losers, with: seal),
            revision: page.revision, hasMore: page.hasMore)
    }

    /// Opens a value of the place; nil if it cannot be used.
    private func open(
        _ sealed: RoamingKey, _ archive: [UInt8]?, with seal: Seal
    ) throws -> (key: RoamingKey, archive: [UInt8]?)? {
        guard sealed.domain == Seal.domain else {
            guard archive == nil else { throw EngineError.unsealed }
            // The place was emptied by its former users.
            return nil
        }
        guard let archive else { return refuse(sealed, "nobody with the key has removed it") }
        if sealed.name == RoamTerms.wrappedKey {
            guard case .met(let key, _) = state,
                WrappedKey(archive: archive)?.wraps(key) == true
            else {
                return refuse(
                    sealed,
                    "it is another key than this machine's; if it is yours, run 'defaultsctl roam "
                        + "enable --encrypt'")
            }
            unsealed[sealed] = nil
            return (WrappedKey.key, archive)
        }
        guard let opened = seal.open(archive, named: sealed.name) else {
            return refuse(sealed, "nobody with the key has encrypted it so")
        }
        unsealed[sealed] = nil
        return opened
    }

    private func refuse(
        _ sealed: RoamingKey, _ reason: String
    ) -> (key: RoamingKey, archive: [UInt8]?)? {
        unsealed[sealed] = reason
        return nil
    }

    /// Opens what lost.
    ///
    /// What nobody can use is dropped, and the inner engine forgets it.
    private func open(_ losers: [Loser], with seal: Seal) async throws -> [Loser] {
        var (opened, dropped): ([Loser], [Loser]) = ([], [])
        for loser in losers {
            // An earlier wrapped key is the same key with an earlier passphrase.
            if loser.key.name != RoamTerms.wrappedKey, loser.key.domain == Seal.domain,
                let archive = loser.archive,
                let value = seal.open(archive, named: loser.key.name)
            {
                opened.append(
                    Loser(
                        name: loser.name, key: value.key, archive: value.archive, time: loser.time,
                        replica: loser.replica))
            } else {
                dropped.append(loser)
            }
        }
        if !dropped.isEmpty { try await inner.noteKept(dropped) }
        return opened
    }
}

// MARK: Pushing

extension SealedEngine {
    package func push(_ batch: Batch) async throws -> (outcomes: [Outcome], losers: [Loser]) {
        let seal = try currentSeal()
        var keys: [RoamingKey: RoamingKey] = [:]
        var edits: [Edit] = []
        var tooLarge: [RoamingKey] = []
        for edit in batch.edits {
            let (key, archive) = Self.seal(edit.key, edit.archive, with: seal)
            keys[key] = edit.key
            if let archive, archive.count > RoamTerms.largestValue { tooLarge.append(edit.key) }
            edits.append(
                Edit(
                    key: key, archive: archive, age: edit.age, base: edit.base,
                    earliest: edit.earliest))
        }
        guard tooLarge.isEmpty else { throw EngineError.tooLarge(tooLarge) }
        do {
            let (outcomes, losers) = try await inner.push(
                Batch(number: batch.number, nonce: batch.nonce, edits: edits))
            return (
                outcomes.compactMap { outcome in
                    keys[outcome.key].map {
                        Outcome(
                            key: $0, result: outcome.result, mark: outcome.mark, time: outcome.time)
                    }
                },
                try await open(losers, with: seal)
            )
        } catch let error as EngineError {
            guard case .full(let sealed) = error.kind else { throw error }
            throw EngineError(.full(sealed.compactMap { keys[$0] }), error.description)
        }
    }

    package func noteKept(_ losers: [Loser]) async throws {
        let seal = try currentSeal()
        try await inner.noteKept(
            losers.map { loser in
                let (key, archive) = Self.seal(loser.key, loser.archive, with: seal)
                return Loser(
                    name: loser.name, key: key, archive: archive, time: loser.time,
                    replica: loser.replica)
            })
    }

    private static func seal(
        _ key: RoamingKey, _ archive: [UInt8]?, with seal: Seal
    ) -> (key: RoamingKey, archive: [UInt8]?) {
        if key == WrappedKey.key {
            return (RoamingKey(domain: Seal.domain, name: RoamTerms.wrappedKey), archive)
        }
        return (
            RoamingKey(domain: Seal.domain, name: seal.name(of: key)), seal.seal(archive, of: key)
        )
    }
}

extension EngineError {
    fileprivate static func tooLarge(_ keys: [RoamingKey]) -> EngineError {
        EngineError(
            .full(keys),
            "encrypted, it has more than \(RoamTerms.largestValue) bytes, and such values do not roam"
        )
    }
}
