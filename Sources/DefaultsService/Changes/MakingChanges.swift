import DBus
import DefaultsDconf
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsXfconf

/// Thrown if a change has no room among the pending changes now, but will have room soon.
struct RoomAwaited: Error {}

/// The path of every change.
extension DefaultsObject {
    /// Makes a change for a call, and replies.
    ///
    /// If the reply or the signal cannot be sent, the change is still made and goes to disk.
    ///
    /// - Throws: The errors of ``commit(_:)``, `LimitsExceeded`, or the reason that the reply cannot
    ///   be sent.
    func make(_ proposal: ChangeProposal, for call: MethodCall) throws {
        try make([proposal], for: call)
    }

    /// Makes a change of several domains for a call, all or none, and replies.
    ///
    /// - Parameter proposals: What changes in each domain. One of them may only have a token.
    /// - Throws: The errors of ``make(_:for:)``.
    func make(
        _ proposals: [ChangeProposal], for call: MethodCall, isDurable: Bool = false,
        isUndo: Bool = false
    ) throws {
        let parts = try proposals.map { ($0, try database.growth(by: $0)) }
        let caller = Caller(of: call)
        try checkQuotas(for: parts, by: caller, isUndo: isUndo)
        // First the journal, then the overlay for readers, then the page of counters.
        let changes = try commit(parts)
        for proposal in proposals { noteRate(of: proposal, by: caller) }
        let generation = changes[0].generation
        let visible = changes.filter { !$0.proposal.changesNothing }
        guard isDurable else {
            // The signals follow the reply. The flush follows when it is due.
            defer { for change in visible { publish(change) } }
            return try reply(to: call, generation)
        }
        for change in visible { announce(announcements.add(change, isReplied: false)) }
        // This must come first: it schedules the flush, and the wait then makes it urgent.
        noteChange()
        waitUntilDurable { outcome in
            self.reply(to: call, generation, once: outcome)
            for change in visible { self.announce(self.announcements.noteReply(to: change)) }
        }
    }

    /// Replies to a call that changes nothing, or whose change was made before.
    func answer(_ call: MethodCall, at generation: Generation, isDurable: Bool = false) throws {
        guard isDurable else { return try reply(to: call, generation) }
        waitUntilDurable { self.reply(to: call, generation, once: $0) }
    }

    /// Announces a change whose call has its reply, or that no call has requested, and schedules
    /// its flush.
    func publish(_ change: ChangeSet) {
        announce(announcements.add(change, isReplied: true))
        noteChange()
    }

    private func reply(to call: MethodCall, _ generation: Generation) throws {
        // Xfconf's calls have no result.
        guard call.interface != Xfconf.interface else { return try call.reply() }
        guard call.interface != Dconf.interface else { return answerWhenPublished(call) }
        try call.reply { try GenerationReply.write(generation.rawValue, to: &$0) }
    }

    /// Replies when the flush has succeeded or failed.
    private func reply(
        to call: MethodCall, _ generation: Generation, once outcome: DiskKeeper.Outcome
    ) {
        switch outcome {
        case .success:
            // If the reply cannot be sent, the caller gets an error instead, or has left.
            try? reply(to: call, generation)
        case .failure(let error):
            call.fail(ContractError(notDurable: generation, error))
        }
    }
}

// MARK: Room

extension DefaultsObject {
    /// Commits a change: writes it to the journal, shows it to readers, and counts it on the page.
    ///
    /// - Throws: `StorageError`, or ``RoomAwaited`` if there is no room until the flush in progress
    ///   has ended. In both cases nothing was changed.
    func commit(_ proposal: ChangeProposal) throws -> ChangeSet {
        try commit([(proposal, database.growth(by: proposal))])[0]
    }

    private func commit(
        _ parts: [(proposal: ChangeProposal, growth: Growth)]
    ) throws -> [ChangeSet] {
        let changes = try findingRoom { () throws(StorageError) in try database.commit(parts) }
        statistics.noteChange()
        for (proposal, growth) in parts {
            rights.noteChange(of: proposal.domain)
            quotas.note(growth, of: proposal.domain)
        }
        writers.note(changes[0].generation, by: changes[0].origin)
        return changes
    }

    /// Remembers the token of a transaction that changes nothing.
    ///
    /// - Throws: The errors of ``make(_:for:isDurable:)``.
    func remember(_ token: Token, of domain: Domain, for call: MethodCall) throws {
        let nothing = ChangeProposal(domain: domain, token: token, origin: "")
        try checkQuotas(for: [(nothing, database.growth(by: nothing))], by: Caller(of: call))
        try findingRoom { () throws(StorageError) in try database.remember(token, of: domain) }
        noteChange()
    }

    /// Adds something to the pending changes.
    ///
    /// If the reserved generations are used up, a flush reserves more.
    ///
    /// - Throws: `StorageError`, or ``RoomAwaited`` if there is no room until the flush in progress
    ///   has ended. Until then other changes have to wait, too. Otherwise small changes could keep
    ///   a large one waiting forever.
    private func findingRoom<Result>(
        _ add: () throws(StorageError) -> Result
    ) throws -> Result {
        if disk.isRoomAwaited { throw RoomAwaited() }
        do throws(StorageError) {
            let result = try add()
            noteJournalWorks()
            return result
        } catch {
            if error.code == .cannotJournal { noteJournalFailure(error) }
            // If the disk fails, the schedule decides when to retry.
            guard disk.failure == nil else { throw error }
            switch error.code {
            case .generationsExhausted: flush()
            case .pendingFull where disk.isWorking:
                disk.awaitRoom()
                throw RoomAwaited()
            default: break
            }
            throw error
        }
    }
}
