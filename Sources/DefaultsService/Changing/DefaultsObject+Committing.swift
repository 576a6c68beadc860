import DBus
import DefaultsModel
import DefaultsStorage

/// Thrown where a change finds no room, and there will be some soon.
struct RoomAwaited: Error {}

/// The commit of a change, for which there must be room among those that are not on disk yet.
extension DefaultsObject {
    /// Commits a change.
    ///
    /// - Throws: As ``findingRoom(_:)``.
    func commit(_ proposal: ChangeProposal) throws -> ChangeSet {
        let change = try findingRoom { () throws(StorageError) in try database.commit(proposal) }
        statistics.changes += 1
        writers.note(change.generation, by: change.origin)
        return change
    }

    /// Remembers the token of a transaction that was no change.
    ///
    /// - Throws: As ``findingRoom(_:)``.
    func remember(_ token: Token, of domain: Domain) throws {
        try findingRoom { () throws(StorageError) in try database.remember(token, of: domain) }
        noteChange()
    }

    /// Adds to what is not on disk yet; where the numbers for changes have run out, more are got by a
    /// flush.
    ///
    /// - Throws: `StorageError`, and ``RoomAwaited`` where there is no room before the flush under
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
            // Where the disk fails, the schedule says when it is tried again.
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
