import DBus
import DefaultsModel
import DefaultsStorage
import Logging

/// A store that is found to be damaged is made anew on the writer's thread while everybody goes on:
/// the call that has met the damage waits, and is answered from the new store. All wait only while
/// that is opened.
extension DefaultsObject {
    /// Has the store made anew.
    ///
    /// - Parameter damage: What was found.
    /// - Returns: Whether it will be: not where that was done, or tried, a moment ago.
    @discardableResult
    func mend(because damage: String) -> Bool {
        guard lastOutcome == nil else { return false }
        let isNew = !mending.isDue && !mending.isUnderWay
        guard mending.note(damage) else {
            if trouble.damage.isEmpty { trouble.damage = damage }
            return false
        }
        if isNew {
            logger.error("\(damage)")
            // The call that has met it comes to its end first.
            Task(executorPreference: connection.loop) { await self.scheduleFlush() }
        }
        return true
    }

    /// Begins; no flush is under way, and none begins before the end.
    func beginMending() {
        isFlushing = true
        flushTimer?.cancel()
        flushTimer = nil
        let damage = mending.begin()
        Task(executorPreference: connection.loop) { await self.mend(damage) }
    }

    private func mend(_ damage: String) async {
        await snapshotsClosed()
        do throws(StorageError) {
            let touched = try await makeAnew(because: damage)
            writer = try database.makeWriter()
            longCalls.isLogReady = false
            announce(touched, at: database.generation)
        } catch {
            return abandon(because: error)
        }
        (isFlushing, isRoomAwaited) = (false, false)
        // First, as the rescue may have brought an older value of a layer that is made of files.
        await readLayers()
        // Those who wait for the disk waited for a flush of the database before.
        let waiting = waiters
        waiters = []
        for waiter in waiting { waitUntilDurable(waiter.resume) }
        if database.needsFlush { noteChange() }
        await connection.resumePostponedCalls()
    }

    /// - Returns: The domains that are not as they were; none where it was not possible.
    /// - Throws: Where the database cannot be used any more.
    private func makeAnew(because damage: String) async throws(StorageError) -> [RescuedDomain] {
        let rescue: CompletedRescue
        do throws(StorageError) {
            rescue = try await writer.rescue(database.identification, because: damage)
        } catch {
            // Or the next start might find another store than is written from now on.
            guard error.code == .cannotOpen else { throw error }
            logger.error("\(error)")
            trouble.damage = error.description
            mending.end(.failed)
            return []
        }
        database = try database.reopened(after: rescue)
        statistics.rescues += 1
        trouble.damage = ""
        mending.end(.done)
        return rescue.domains
    }
}

extension StorageError {
    /// Whether it tells that the store is damaged.
    var isDamage: Bool { code == .damagedRow || code == .damagedDatabase }
}
