import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import Logging

/// Somebody who waits for the disk: a caller of Synchronize or of a durable change, or the end.
struct DurabilityWaiter {
    /// The flush that writes the last of what was acknowledged before the wait began.
    let flush: UInt64
    /// Called once, with the durable generation or with what the disk said.
    let resume: (Result<Generation, StorageError>) -> Void
}

extension DefaultsObject {
    func synchronize(_ call: MethodCall) {
        waitUntilDurable { outcome in
            switch outcome {
            case .success(let generation):
                // A reply that cannot be sent has answered with that error, or nobody is there.
                try? call.reply {
                    try Contract.Synchronize.writeReply(generation.rawValue, to: &$0)
                }
            case .failure(let error):
                call.fail(DefaultsError(notDurable: error))
            }
        }
    }

    /// Flushes, and calls back when every change made so far is on disk.
    ///
    /// It comes after the end of what is done to the store by now.
    func waitUntilDurable(_ resume: @escaping (Result<Generation, StorageError>) -> Void) {
        if let lastOutcome { return resume(lastOutcome) }
        let isAtRest = !isFlushing && !mending.isDue
        guard let flush = database.flushOfPending ?? (isAtRest ? nil : database.flushesBegun) else {
            return resume(.success(database.durableGeneration))
        }
        waiters.append(DurabilityWaiter(flush: flush, resume: resume))
        demandFlush()
    }

    /// Flushes, and waits until every change made so far is on disk, the disk refuses, or the time is
    /// over.
    ///
    /// - Returns: The durable generation or what the disk said; nil where the time is over.
    func durability(within limit: Duration) async -> Result<Generation, StorageError>? {
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

    /// Has what is pending written at once; during a flush, what is not in it right after.
    func demandFlush() {
        // The schedule was not told of a ceiling that is to be raised.
        if database.needsFlush, !isFlushing, schedule.due == nil {
            schedule.changed(at: .now, pendingBytes: database.pendingBytes)
        }
        schedule.demanded(at: .now)
        scheduleFlush()
    }

    /// Says that a change or a token is pending, and flushes when its time has come.
    func noteChange() {
        schedule.changed(at: .now, pendingBytes: database.pendingBytes)
        scheduleFlush()
    }

    /// Flushes where it is time, and else sets the timer where none is set.
    ///
    /// A timer that was set for an earlier change fires, sees that a later one has moved the time,
    /// and is set again: cheaper than to move it at each change.
    func scheduleFlush() {
        guard !isFlushing, !longCalls.isBeforeFlush, lastOutcome == nil else { return }
        if mending.isDue { return beginMending() }
        guard let due = schedule.due else { return }
        let delay = ContinuousClock.now.duration(to: due)
        guard delay > .zero else { return flush() }
        guard flushTimer == nil else { return }
        flushTimer = connection.loop.schedule(after: delay) {
            self.assumeIsolated { object in
                object.flushTimer = nil
                object.scheduleFlush()
            }
        }
    }

    /// Begins to write everything that is pending, unless a flush is under way: the end of that
    /// one looks again (invariant 3).
    func flush() {
        guard !isFlushing, lastOutcome == nil, let batch = database.beginFlush() else { return }
        flushTimer?.cancel()
        flushTimer = nil
        isFlushing = true
        schedule.flushBegan()
        Task(executorPreference: connection.loop) { await self.write(batch) }
    }

    private func write(_ batch: FlushBatch) async {
        let began = ContinuousClock.now
        do {
            let hasChores = try await writer.write(batch)
            database.finishFlush(batch, .success(()))
            logger.debug("wrote \(batch.rowCount) rows in \(began.duration(to: .now))")
            flushSucceeded()
            if hasChores { tidyUp() }
        } catch {
            database.finishFlush(batch, .failure(error))
            flushFailed(error)
        }
    }

    private func flushSucceeded() {
        isFlushing = false
        statistics.flushes += 1
        schedule.flushSucceeded()
        Memory.returnFreePages()
        if flushError != nil {
            logger.notice("The disk takes changes again; everything pending is written.")
            (flushError, trouble.disk) = (nil, "")
        }
        let durable = database.durableGeneration
        // No flush has begun since, so the last that was begun is the one that has ended.
        let last = database.flushesBegun
        let reached = waiters.filter { $0.flush <= last }
        waiters.removeAll { $0.flush <= last }
        for waiter in reached { waiter.resume(.success(durable)) }
        goOn()
        backUpDaily()
    }

    /// Lets those go on that the flush has kept waiting, and flushes again if it is time.
    ///
    /// A long call that waits comes first: it cannot begin during a flush, and programs that ask for the
    /// disk without a pause would keep it waiting for ever.
    private func goOn() {
        endAwaitingRoom()
        guard longCalls.isAwaited else { return scheduleFlush() }
        longCalls.isBeforeFlush = true
        resumeLongCalls()
        connection.loop.perform {
            self.assumeIsolated { object in
                object.longCalls.isBeforeFlush = false
                object.scheduleFlush()
            }
        }
    }

    /// The changes stay pending, readable and in the crash journal; whoever waits is told, and
    /// the next attempt comes by the schedule's back-off.
    private func flushFailed(_ error: StorageError) {
        isFlushing = false
        longCalls.isLogReady = false
        statistics.failedFlushes += 1
        schedule.flushFailed(at: .now)
        if flushError?.isRepeated(by: error) != true {
            logger.error("\(error)")
            trouble.disk = error.description
        }
        flushError = error
        // Those who wait wait for the store that is made anew.
        if !error.isDamage || !mend(because: error.description) {
            let refused = waiters
            waiters = []
            for waiter in refused { waiter.resume(.failure(error)) }
        }
        goOn()
    }
}
