import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import Glibc
import Logging
import Wording

/// Writes pending changes to the store when ``DiskKeeper`` says so.
extension DefaultsObject {
    /// Flushes, and calls back when every change that was made so far is on disk.
    ///
    /// The callback comes after the work on the store that is in progress or due.
    func waitUntilDurable(_ resume: @escaping (DiskKeeper.Outcome) -> Void) {
        if let end = disk.end { return resume(end) }
        let last = disk.isAtRest ? nil : database.flushesBegun
        guard let flush = database.flushOfPending ?? last else {
            return resume(.success(database.durableGeneration))
        }
        disk.add(DiskKeeper.Waiter(flush: flush, resume: resume))
        demandFlush()
    }

    /// Flushes, and waits until every change that was made so far is on disk, or the disk has
    /// refused it.
    func durability() async -> DiskKeeper.Outcome {
        await withCheckedContinuation { continuation in
            waitUntilDurable { continuation.resume(returning: $0) }
        }
    }

    /// Flushes, and waits until every change that was made so far is on disk, the disk has refused
    /// it, or the time is over.
    ///
    /// - Returns: The durable generation or the error of the disk; nil if the time is over.
    func durability(within limit: Duration) async -> DiskKeeper.Outcome? {
        await withCheckedContinuation { continuation in
            var waiting: CheckedContinuation? = continuation
            let timer = connection.loop.schedule(after: limit) {
                waiting.take()?.resume(returning: nil)
            }
            waitUntilDurable { outcome in
                timer.cancel()
                waiting.take()?.resume(returning: outcome)
            }
        }
    }

    /// Has the pending changes written at once.
    ///
    /// If a flush is in progress, the others follow directly after it.
    func demandFlush() {
        // The schedule does not know that more generations must be reserved.
        if database.needsFlush, !disk.isWorking, !disk.isFlushScheduled {
            disk.noteChange(at: now, pendingBytes: database.pendingBytes)
        }
        disk.noteDemand(at: now)
        workOnDisk()
    }

    /// Notes that a change or a token is pending, and flushes when it is due.
    func noteChange() {
        disk.noteChange(at: now, pendingBytes: database.pendingBytes)
        workOnDisk()
    }

    /// Does what is due on disk, or sets the timer for it if none is set.
    ///
    /// If the flush was moved to a later time, the timer fires early and is set again. This is
    /// cheaper than moving the timer at each change.
    func workOnDisk() {
        guard !lanes.isBeforeFlush else { return }
        switch disk.next(at: now) {
        case .repair: beginRepair()
        case .flush: flush()
        case .wait(let due): setFlushTimer(due)
        case nil: break
        }
    }

    private func setFlushTimer(_ due: SuspendingClock.Instant) {
        flushAlarm.set(after: now.duration(to: due)) { [weak self] in
            self?.assumeIsolated { $0.workOnDisk() }
        }
    }

    /// Begins to write everything that is pending.
    ///
    /// If other work on the store is in progress, this is checked again at its end.
    func flush() {
        guard disk.mayFlush, let batch = database.beginFlush() else { return }
        flushAlarm.stop()
        disk.beginFlush()
        Task(executorPreference: connection.loop) { await self.write(batch) }
    }

    private func write(_ batch: FlushBatch) async {
        let began = now
        defer { quotas.noteFlush() }
        do {
            let hasChores = try await writer.write(batch)
            database.finishFlush(batch, .success(()))
            logger.debug("wrote \(counted(batch.rowCount, "row")) in \(began.duration(to: now))")
            flushSucceeded()
            if hasChores { tidyUp() }
        } catch {
            database.finishFlush(batch, .failure(error))
            flushFailed(error)
        }
    }

    private func flushSucceeded() {
        statistics.noteFlush(at: time(nil))
        if disk.failure != nil {
            logger.log(
                .diskWorks, level: .notice,
                "The disk accepts changes again. All pending changes are written.")
            trouble.set(\.disk, "")
        }
        let reached = disk.endFlush(database.flushesBegun)
        Memory.returnFreePages()
        let durable = database.durableGeneration
        for waiter in reached { waiter.resume(.success(durable)) }
        tellStatus()
        goOn()
        backUpDaily()
    }

    /// Reports the failure to those who wait, and retries after a pause.
    ///
    /// The changes stay pending, readable and in the crash journal.
    private func flushFailed(_ error: StorageError) {
        lanes.noteLogInUse()
        statistics.noteFailedFlush()
        // What a disk that does not answer gives looks like damage.
        let shown = error.isDamage ? database.diskDoubt ?? error : error
        if disk.failFlush(shown, at: now) {
            logger.log(.diskFails, level: .error, shown.description)
            trouble.set(\.disk, shown.description)
        }
        // If the store is repaired, they wait for that.
        if !error.isDamage || !requestRepair(because: error.description) {
            for waiter in disk.takeWaiters() { waiter.resume(.failure(error)) }
        }
        goOn()
    }

    /// Resumes calls that waited for the flush, and flushes again if it is due.
    ///
    /// A long call that waits comes first: it cannot begin during a flush. Otherwise programs that
    /// call Synchronize all the time could keep it waiting forever.
    private func goOn() {
        if disk.endAwaitingRoom() {
            // The flush has made room. If it has failed, the changes are refused.
            connection.assumeIsolated { $0.resumePostponedCalls() }
        }
        guard lanes.isAwaited else { return workOnDisk() }
        lanes.goBeforeFlush()
        resumeLongCalls()
        connection.loop.perform {
            self.assumeIsolated { object in
                object.lanes.letFlush()
                object.workOnDisk()
            }
        }
    }
}
