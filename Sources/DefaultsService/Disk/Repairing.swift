import DBus
import DefaultsModel
import DefaultsStorage
import Logging

/// Repairing a damaged store: a sound one is made from it on the writer's thread, while everybody goes
/// on.
///
/// The call that has met the damage waits, and is answered from the new store. All calls wait only
/// while that is opened.
extension DefaultsObject {
    /// Has the store repaired.
    ///
    /// - Parameter damage: What was found, as a sentence.
    /// - Returns: Whether it will be: not if that was done, or tried, a moment ago.
    @discardableResult
    func repair(because damage: String) -> Bool {
        guard !disk.hasEnded else { return false }
        switch disk.note(damage: damage, at: .now) {
        case .repair(isNew: false): break
        case .repair(isNew: true):
            logger.error("\(damage)")
            // The call that has met it comes to its end first.
            Task(executorPreference: connection.loop) { await self.workOnDisk() }
        case .none:
            if trouble.damage.isEmpty { trouble.damage = damage }
            return false
        }
        return true
    }

    /// Begins the repair that is due.
    func repair() {
        cancelFlushTimer()
        let damage = disk.beginRepair()
        Task(executorPreference: connection.loop) { await self.repair(damage) }
    }

    private func repair(_ damage: String) async {
        await snapshotsClosed()
        let waiting: [DiskKeeper.Waiter]
        do throws(StorageError) {
            let rescue = try await rescue(because: damage)
            if let rescue { database = try database.reopened(after: rescue) }
            writer = try database.makeWriter()
            longCalls.isLogReady = false
            waiting = disk.endRepair(isSuccess: rescue != nil, at: .now)
            if let rescue { noteRepaired(rescue) }
        } catch {
            return abandon(because: error)
        }
        // First, as the rescue may have brought an older value of a layer that is made of files.
        await readLayers()
        for waiter in waiting { waitUntilDurable(waiter.resume) }
        if database.needsFlush { noteChange() }
        await connection.resumePostponedCalls()
    }

    private func noteRepaired(_ rescue: CompletedRescue) {
        statistics.rescues += 1
        trouble.damage = ""
        announce(rescue.domains, at: database.generation)
    }

    /// Makes a sound store from the damaged one.
    ///
    /// - Returns: Nil if that was not possible, and the damaged one is still in use.
    /// - Throws: `StorageError` if the database cannot be used any more.
    private func rescue(because damage: String) async throws(StorageError) -> CompletedRescue? {
        do throws(StorageError) {
            return try await writer.rescue(database.identification, because: damage)
        } catch {
            // Or the next start might find another store than is written from now on.
            guard error.code == .cannotOpen else { throw error }
            logger.error("\(error)")
            trouble.damage = error.description
            return nil
        }
    }
}

extension StorageError {
    /// Whether the store is damaged.
    var isDamage: Bool { code == .damagedRow || code == .damagedDatabase }
}
