import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage

/// Thrown if a change finds no room among those that are not on disk yet, and there will be some soon.
struct RoomAwaited: Error {}

/// The one path of every change.
extension DefaultsObject {
    /// Makes the change that a call asks for, and answers the call.
    ///
    /// If the reply or the signal cannot be sent, the change is still made and goes to disk.
    ///
    /// - Throws: As ``commit(_:)``, or why the reply cannot be sent.
    func make(
        _ proposal: ChangeProposal, for call: MethodCall, isDurable: Bool = false
    ) throws {
        // The journal, then what readers see, then the page of counters.
        let change = try commit(proposal)
        guard isDurable else {
            // After the reply: the signal. The disk follows when its time has come.
            defer { publish(change) }
            return try reply(to: call, change.generation)
        }
        announce(announcements.add(change, isReplied: false))
        // This comes first: it schedules the flush that the wait makes urgent.
        noteChange()
        waitUntilDurable { outcome in
            self.reply(to: call, change.generation, once: outcome)
            self.announce(self.announcements.noteReply(to: change))
        }
    }

    /// Answers a call that changes nothing, or whose change was made before.
    func answer(_ call: MethodCall, at generation: Generation, isDurable: Bool = false) throws {
        guard isDurable else { return try reply(to: call, generation) }
        waitUntilDurable { self.reply(to: call, generation, once: $0) }
    }

    /// Announces a change that is answered or that no call has asked for, and schedules its flush.
    func publish(_ change: ChangeSet) {
        announce(announcements.add(change, isReplied: true))
        noteChange()
    }

    private func reply(to call: MethodCall, _ generation: Generation) throws {
        try call.reply { try GenerationReply.write(generation.rawValue, to: &$0) }
    }

    /// Answers when the flush has succeeded or failed.
    private func reply(
        to call: MethodCall, _ generation: Generation, once outcome: DiskKeeper.Outcome
    ) {
        switch outcome {
        case .success:
            // If the reply cannot be sent, the caller gets that error instead, or it has left.
            try? reply(to: call, generation)
        case .failure(let error):
            call.fail(DefaultsError(notDurable: generation, error))
        }
    }
}

// MARK: Room

extension DefaultsObject {
    /// Commits a change: writes it to the journal, shows it to readers, and counts it on the page.
    ///
    /// - Throws: `StorageError`, and ``RoomAwaited`` if there is no room before the flush under way has
    ///   ended. Nothing was changed then.
    func commit(_ proposal: ChangeProposal) throws -> ChangeSet {
        let change = try findingRoom { () throws(StorageError) in try database.commit(proposal) }
        statistics.changes += 1
        writers.note(change.generation, by: change.origin)
        return change
    }

    /// Remembers the token of a transaction that was no change.
    ///
    /// - Throws: As ``commit(_:)``.
    func remember(_ token: Token, of domain: Domain) throws {
        try findingRoom { () throws(StorageError) in try database.remember(token, of: domain) }
        noteChange()
    }

    /// Adds to what is not on disk yet; if the numbers for changes have run out, more are got by a
    /// flush.
    ///
    /// - Throws: `StorageError`, and ``RoomAwaited`` if there is no room before the flush under
    ///   way has ended. Until then no other change has room either, so that small ones do not keep
    ///   a large one waiting for ever.
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
            // If the disk fails, the schedule says when it is tried again.
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
