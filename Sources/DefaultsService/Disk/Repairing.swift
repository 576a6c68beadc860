import DBus
import DefaultsModel
import DefaultsStorage
import Logging

/// Repairs a damaged store: an intact one is made from it on the writer's thread, while the service
/// continues.
///
/// The call that has met the damage waits, and is answered from the new store. Other calls wait
/// only while the new store is opened.
extension DefaultsObject {
    /// Requests a repair of the store.
    ///
    /// - Parameter damage: The damage, as a sentence.
    /// - Returns: Whether the store will be repaired. It is not if a repair has succeeded or failed
    ///   a moment ago.
    @discardableResult
    func requestRepair(because damage: String) -> Bool {
        guard !disk.hasEnded else { return false }
        switch disk.note(damage: damage, at: now) {
        case .repair(isNew: false): break
        case .repair(isNew: true):
            logger.log(.damage, level: .error, damage)
            // The call that has met the damage must return first.
            Task(executorPreference: connection.loop) { await self.workOnDisk() }
        case .none:
            // A disk that does not answer is known already, and may have no damage.
            if trouble.now.damage.isEmpty, disk.failure == nil {
                logger.log(.damage, level: .error, damage)
                trouble.set(\.damage, StorageTrouble.unrepaired(database.path))
            }
            return false
        }
        return true
    }

    /// Begins the repair that is due.
    func beginRepair() {
        flushAlarm.stop()
        let damage = disk.beginRepair()
        Task(executorPreference: connection.loop) { await self.repair(damage) }
    }

    private func repair(_ damage: String) async {
        await lanes.snapshotsClosed()
        let waiting: [DiskKeeper.Waiter]
        do throws(StorageError) {
            let repair = try await rebuildStore(because: damage)
            if let repair { try reopen(after: repair) }
            lanes.noteLogInUse()
            waiting = disk.endRepair(isSuccess: repair != nil, at: now)
            if let repair { noteRepaired(repair) }
        } catch {
            guard error.code == .diskUnusable else { return abandon(because: error) }
            return await putOffRepair(because: error)
        }
        // This comes first: the repair may have brought back an older value of a layer that is made
        // from files.
        await readLayers()
        for waiter in waiting { waitUntilDurable(waiter.resume) }
        if database.needsFlush { noteChange() }
        await connection.resumePostponedCalls()
    }

    /// Goes on with the open files, because the disk does not answer: what is in memory can be read, and
    /// flushes are tried until one succeeds.
    private func putOffRepair(because error: StorageError) async {
        database.doubtDisk(because: error)
        statistics.noteFailedFlush()
        if disk.putOffRepair(error, at: now) {
            logger.log(.diskFails, level: .error, error.description)
            trouble.set(\.disk, error.description)
        }
        for waiter in disk.takeWaiters() { waiter.resume(.failure(error)) }
        _ = disk.endAwaitingRoom()
        await connection.resumePostponedCalls()
        workOnDisk()
    }

    private func noteRepaired(_ repair: CompletedRepair) {
        statistics.noteRepair()
        quotas.readAgain()
        trouble.set(\.damage, "")
        announce(repair.domains, at: database.generation)
    }

    /// Makes an intact store from the damaged one.
    ///
    /// - Returns: Nil if this failed, and the damaged store is still in use.
    /// - Throws: `.diskUnusable` if the disk does not answer, and nothing was done; another `StorageError`
    ///   if the database can no longer be used.
    private func rebuildStore(because damage: String) async throws(StorageError) -> CompletedRepair?
    {
        do throws(StorageError) {
            return try await writer.repair(database.identification, because: damage)
        } catch {
            // Otherwise the next start could find a different store than the one in use.
            guard error.code == .cannotOpen else { throw error }
            logger.error("\(error)")
            trouble.set(\.damage, error.description)
            return nil
        }
    }
}

extension StorageError {
    /// Whether the error says that the store is damaged.
    var isDamage: Bool { code == .damagedRow || code == .damagedDatabase }
}
