package import DefaultsModel
package import DefaultsProtocol
import DefaultsStorage

/// What else is to be known about a change.
package struct ChangeOptions {
    /// Whether its maker hears of it when it is on disk.
    var isDurable: Bool
    /// Whether it takes back an earlier change.
    var isUndo: Bool
    /// Who makes it, if others are to know that.
    var maker: ObjectIdentifier?
    /// On whose behalf it is made, for the history.
    var sponsor: ChangeSponsor?
    /// The actions that it takes back or does again.
    var takingBack: TakenBackActions?

    /// Actions of the history, each by its first generation.
    struct TakenBackActions {
        let references: [Generation]
        /// Who has made them.
        let authors: Set<ChangeAuthor>
        /// Whether they are undo actions, which are done again.
        let isRedo: Bool
    }

    package init(
        isDurable: Bool = false, isUndo: Bool = false, maker: ObjectIdentifier? = nil,
        sponsor: ChangeSponsor? = nil
    ) {
        self.sponsor = sponsor
        self.isDurable = isDurable
        self.isUndo = isUndo
        self.maker = maker
    }
}

/// The path of every change.
extension Settings {
    /// What the maker of a change gets: its generation, or why it is not on disk.
    package typealias Outcome = Result<Generation, ContractError>

    /// Makes a change of several domains, all or none.
    ///
    /// - Parameters:
    ///   - proposals: What changes in each domain. One of them may only have a token.
    ///   - caller: Whose bounds count.
    ///   - options: When and how it is made.
    ///   - reply: Called once when the change is made, or if it is to be durable, when it is on disk.
    ///     Others hear of the change after that.
    /// - Throws: `StorageError`, `LimitsExceeded`, or ``RoomAwaited``; then nothing was changed, and
    ///   `reply` is not called.
    package func change(
        _ proposals: [ChangeProposal], by caller: Caller, _ options: ChangeOptions = .init(),
        then reply: @escaping (Outcome) -> Void
    ) throws {
        var parts = try proposals.map {
            (proposal: $0, growth: try store.database.growth(by: $0))
        }
        try quotas.check(for: parts, by: caller, isUndo: options.isUndo)
        writers.identify(caller)
        let note = history.note(of: proposals, by: caller, options)
        for index in parts.indices { parts[index].proposal.note = note }
        // First the journal, then the overlay for readers, then the page of counters.
        let changes = try commit(parts, by: caller.program)
        if let takingBack = options.takingBack {
            history.note(takingBack, in: proposals, by: caller)
        }
        for proposal in proposals { quotas.noteRate(of: proposal, by: caller) }
        let generation = changes[0].generation
        let visible = changes.filter { !$0.proposal.changesNothing }
        guard options.isDurable else {
            reply(.success(generation))
            for change in visible { publish(change, by: options.maker) }
            return
        }
        for change in visible {
            announce(announcements.add(change, isReplied: false), by: options.maker)
        }
        // This must come first: it schedules the flush, and the wait then makes it urgent.
        store.noteChange()
        store.waitUntilDurable { outcome in
            reply(outcome.asReply(to: generation))
            for change in visible {
                self.announce(self.announcements.noteReply(to: change), by: options.maker)
            }
        }
    }

    /// Answers a call that changes nothing, or whose change was made before.
    func confirm(
        _ generation: Generation, isDurable: Bool = false,
        then reply: @escaping (Outcome) -> Void
    ) {
        guard isDurable else { return reply(.success(generation)) }
        store.waitUntilDurable { reply($0.asReply(to: generation)) }
    }

    /// Calls back when every change that was made so far is on disk.
    package func synchronize(then reply: @escaping (Outcome) -> Void) {
        store.waitUntilDurable { outcome in
            reply(outcome.mapError { ContractError(notDurable: $0) })
        }
    }

    /// Announces a change whose maker knows of it, and schedules its flush.
    package func publish(_ change: ChangeSet, by maker: ObjectIdentifier? = nil) {
        announce(announcements.add(change, isReplied: true), by: maker)
        store.noteChange()
    }

    /// Commits a change: writes it to the journal, shows it to readers, and counts it on the page.
    ///
    /// The caller publishes it.
    ///
    /// - Throws: `StorageError`, or ``RoomAwaited`` if there is no room until the flush in progress
    ///   has ended. In both cases nothing was changed.
    package func commit(_ proposal: ChangeProposal) throws -> ChangeSet {
        var proposal = proposal
        proposal.note = proposal.note ?? history.noteOfService()
        return try commit([(proposal, store.database.growth(by: proposal))], by: nil)[0]
    }

    private func commit(
        _ parts: [(proposal: ChangeProposal, growth: Growth)], by program: WriteRates.Program?
    ) throws -> [ChangeSet] {
        let changes = try store.commit(parts)
        history.note(changes.map(\.proposal), at: changes[0].generation, by: program)
        for (proposal, growth) in parts {
            noteChange(of: proposal.domain)
            usage.note(growth, of: proposal.domain)
        }
        writers.note(changes[0].generation, by: changes[0].origin)
        return changes
    }

    /// Commits a change that no call has requested, when there is room for it.
    ///
    /// The caller publishes it.
    package nonisolated(nonsending) func commitWhenThereIsRoom(
        _ proposal: ChangeProposal
    ) async throws -> ChangeSet {
        while true {
            // The service may have ended since this was called. So nothing may suspend between this
            // check and the commit.
            guard !store.hasEnded else { throw ContractError.isEnding }
            do {
                return try commit(proposal)
            } catch is RoomAwaited {
            } catch let error as StorageError {
                let mayPass = error.code == .pendingFull || error.code == .generationsExhausted
                guard mayPass, store.database.needsFlush else { throw error }
            }
            _ = try await store.durability().get()
            try checkNotEnding()
        }
    }

    /// Remembers the token of a transaction that changes nothing.
    ///
    /// - Throws: The errors of ``change(_:by:_:then:)``.
    func remember(_ token: Token, of domain: Domain, for caller: Caller) throws {
        let nothing = ChangeProposal(domain: domain, token: token, origin: "")
        let growth = try store.database.growth(by: nothing)
        try quotas.check(for: [(nothing, growth)], by: caller)
        try store.remember(token, of: domain)
    }
}

extension DiskKeeper.Outcome {
    /// What the maker of a durable change gets.
    fileprivate func asReply(to generation: Generation) -> Settings.Outcome {
        map { _ in generation }.mapError { ContractError(notDurable: generation, $0) }
    }
}
