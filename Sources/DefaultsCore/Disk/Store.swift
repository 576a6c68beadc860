import class DBus.EventLoop
package import DefaultsModel
package import DefaultsStorage
import Logging
import Wording

/// Thrown if a change has no room among the pending changes now, but will have room soon.
package struct RoomAwaited: Error {}

/// The database of the service, and when its pending changes are written to disk.
///
/// Invariants:
/// 1. ``DiskKeeper`` decides what is done to the store: one thing at a time, and nothing after the
///    end. The service does not end while something is in progress.
/// 2. Who waits for the disk is called once: when every change that was acknowledged before is on
///    disk, or when the disk has refused them.
/// 3. A change that waits for room keeps all later ones waiting. Otherwise small changes could keep a
///    large one waiting forever.
package final class Store {
    /// For reading: only the store itself changes it.
    package private(set) var database: Database
    private(set) var writer: DurableWriter
    /// What is done to the store, and who waits for it.
    private let disk = DiskKeeper()
    /// Fires when the next flush is due.
    private let alarm: Alarm
    /// Why changes are not written to disk, or are refused.
    private let trouble: TroubleKeeper
    private let lanes: Lanes
    private let statistics: Statistics
    private let loop: EventLoop
    private let logger: Logger
    /// Has work begun that does not end at once.
    private let begin: (Work) -> Void
    weak var observer: (any StoreObserver)?
    /// How long changes wait until they go to disk.
    var delays: () -> FlushSchedule.Delays = { .init() }
    /// What the history keeps; nil if there is none.
    var historyRules: () -> HistoryRules? = { nil }

    init(
        _ database: sending Database, _ writer: DurableWriter, lanes: Lanes,
        statistics: Statistics, on loop: EventLoop, logger: Logger,
        begin: @escaping (Work) -> Void
    ) {
        self.database = database
        self.writer = writer
        self.lanes = lanes
        self.statistics = statistics
        self.loop = loop
        self.logger = logger
        self.begin = begin
        alarm = Alarm(on: loop)
        trouble = TroubleKeeper(logger: logger)
        trouble.tell = { [unowned self] in observer?.troubled() }
    }

    private var now: SuspendingClock.Instant { loop.now }

    // MARK: Reading

    /// What can be read until the next change.
    package var view: DatabaseView { database.view }

    /// This machine, which the suffix `@host` means, and the other machines that the database
    /// knows.
    package var hosts: HostNames { database.hosts }

    /// The number of the newest change.
    package var generation: Generation { database.generation }

    /// Whether nothing is written any more.
    package var hasEnded: Bool { disk.hasEnded }

    /// Whether a flush or a repair is in progress.
    package var isWorking: Bool { disk.isWorking }

    /// Why the last flush failed; nil if it succeeded.
    var failure: StorageError? { disk.failure }

    // MARK: Room

    /// Commits a change: writes it to the journal, shows it to readers, and counts it on the page.
    ///
    /// - Throws: `StorageError`, or ``RoomAwaited``. In both cases nothing was changed.
    func commit(_ parts: [(proposal: ChangeProposal, growth: Growth)]) throws -> [ChangeSet] {
        let changes = try findingRoom { () throws(StorageError) in try database.commit(parts) }
        statistics.noteChange()
        return changes
    }

    /// Remembers the token of a transaction that changes nothing.
    ///
    /// - Throws: The errors of ``commit(_:)``.
    func remember(_ token: Token, of domain: Domain) throws {
        try findingRoom { () throws(StorageError) in try database.remember(token, of: domain) }
        noteChange()
    }

    /// Gives this machine the layers that an older backup has for it under another ID.
    ///
    /// - Parameter made: Gets each change.
    func adoptHostLayers(_ made: (ChangeSet) -> Void) throws(StorageError) {
        try database.adoptHostLayers(made)
    }

    /// Adds something to the pending changes.
    ///
    /// If the reserved generations are used up, a flush reserves more.
    private func findingRoom<Result>(
        _ add: () throws(StorageError) -> Result
    ) throws -> Result {
        if disk.isRoomAwaited { throw RoomAwaited() }
        do throws(StorageError) {
            let result = try add()
            trouble.noteJournalWorks()
            return result
        } catch {
            if error.code == .cannotJournal { trouble.noteJournalFailure(error) }
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

    // MARK: Who waits for the disk

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
    package nonisolated(nonsending) func durability() async -> DiskKeeper.Outcome {
        await withCheckedContinuation { continuation in
            waitUntilDurable { continuation.resume(returning: $0) }
        }
    }

    /// Flushes, and waits until every change that was made so far is on disk, the disk has refused
    /// it, or the time is over.
    ///
    /// - Returns: The durable generation or the error of the disk; nil if the time is over.
    package nonisolated(nonsending) func durability(
        within limit: Duration
    ) async -> DiskKeeper.Outcome? {
        await withCheckedContinuation { continuation in
            var waiting: CheckedContinuation? = continuation
            let timer = loop.schedule(after: limit) {
                waiting.take()?.resume(returning: nil)
            }
            waitUntilDurable { outcome in
                timer.cancel()
                waiting.take()?.resume(returning: outcome)
            }
        }
    }

    /// Flushes, and waits until every change is on disk, or the disk has refused it, and no work on
    /// the store is in progress.
    nonisolated(nonsending) func durabilityAtRest() async -> DiskKeeper.Outcome {
        var outcome = await durability()
        // Other work of the loop may have run since that outcome.
        while !disk.isAtRest { outcome = await durability() }
        return outcome
    }

    // MARK: Flushes

    /// Has the pending changes written at once.
    ///
    /// If a flush is in progress, the others follow directly after it.
    package func demandFlush() {
        // The schedule does not know that more generations must be reserved.
        if database.needsFlush, !disk.isWorking, !disk.isFlushScheduled {
            disk.noteChange(at: now, pendingBytes: database.pendingBytes)
        }
        disk.noteDemand(at: now)
        work()
    }

    /// Notes that a change or a token is pending, and flushes when it is due.
    func noteChange() {
        // A timer for a later time would fire too late.
        if disk.set(delays()) { alarm.stop() }
        disk.noteChange(at: now, pendingBytes: database.pendingBytes)
        work()
    }

    /// Flushes what the previous process has left, when it is due.
    func noteRecovered() {
        if database.needsFlush { noteChange() }
    }

    /// Does what is due on disk, or sets the timer for it if none is set.
    ///
    /// If the flush was moved to a later time, the timer fires early and is set again. This is
    /// cheaper than moving the timer at each change.
    func work() {
        guard !lanes.isBeforeFlush else { return }
        switch disk.next(at: now) {
        case .repair:
            alarm.stop()
            begin(.repair(because: disk.beginRepair()))
        case .flush: flush()
        case .wait(let due): alarm.set(after: now.duration(to: due)) { [weak self] in self?.work() }
        case nil: break
        }
    }

    /// Begins to write everything that is pending.
    ///
    /// If other work on the store is in progress, this is checked again at its end.
    private func flush() {
        guard disk.mayFlush, let batch = database.beginFlush(history: historyRules()) else {
            return
        }
        alarm.stop()
        disk.beginFlush()
        begin(.flush(batch))
    }

    /// Writes what a flush has begun with.
    nonisolated(nonsending) func write(_ batch: FlushBatch) async {
        let began = now
        defer { observer?.flushEnded() }
        do {
            let hasChores = try await writer.write(batch)
            database.finishFlush(batch, .success(()))
            logger.debug("wrote \(counted(batch.rowCount, "row")) in \(began.duration(to: now))")
            flushSucceeded(hasChores: hasChores)
        } catch {
            database.finishFlush(batch, .failure(error))
            flushFailed(error)
        }
    }

    private func flushSucceeded(hasChores: Bool) {
        statistics.noteFlush(at: Int(database.date.now))
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
        observer?.flushed()
        goOn()
        observer?.mayDoUpkeep(hasChores: hasChores)
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
        // The flush has made room. If it has failed, the changes are refused.
        if disk.endAwaitingRoom() { observer?.mayGoOn() }
        guard lanes.isAwaited else { return work() }
        lanes.goBeforeFlush()
        resumeLongCalls()
        flushAfterLongCalls()
    }

    /// Flushes if it is due, when the long calls that were resumed have begun.
    ///
    /// If the log is being prepared for one of them, this comes again when that is done: the flush would
    /// have to wait for it anyway.
    private func flushAfterLongCalls() {
        // The store stays on this thread.
        nonisolated(unsafe) let store = self
        loop.perform {
            guard !store.lanes.isLogBeingPrepared else { return }
            store.lanes.letFlush()
            store.work()
        }
    }

    // MARK: Repairs

    /// Requests a repair of the store.
    ///
    /// - Parameter damage: The damage, as a sentence.
    /// - Returns: Whether the store will be repaired. It is not if a repair has succeeded or failed
    ///   a moment ago.
    @discardableResult
    package func requestRepair(because damage: String) -> Bool {
        guard !disk.hasEnded else { return false }
        switch disk.note(damage: damage, at: now) {
        case .repair(isNew: false): break
        case .repair(isNew: true):
            logger.log(.damage, level: .error, damage)
            // The call that has met the damage must return first.
            begin(.disk)
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

    /// Repairs the store: an intact one is made from it on the writer's thread, while the service
    /// continues.
    ///
    /// The call that has met the damage waits, and is answered from the new store. Other calls wait
    /// only while the new store is opened.
    nonisolated(nonsending) func repair(because damage: String) async {
        await lanes.snapshotsClosed()
        let waiting: [DiskKeeper.Waiter]
        do throws(StorageError) {
            let repair = try await rebuild(because: damage)
            if let repair {
                database = try database.reopened(after: repair)
                writer = try database.makeWriter { [logger] in logger.log($0) }
            }
            lanes.noteLogInUse()
            waiting = disk.endRepair(isSuccess: repair != nil, at: now)
            if let repair {
                statistics.noteRepair()
                observer?.replaced()
                trouble.set(\.damage, "")
                observer?.repaired(repair)
            }
        } catch {
            guard error.code == .diskUnusable else { return lose(because: error) }
            return putOffRepair(because: error)
        }
        await observer?.repairEnded()
        for waiter in waiting { waitUntilDurable(waiter.resume) }
        if database.needsFlush { noteChange() }
        observer?.mayGoOn()
    }

    /// Makes an intact store from the damaged one.
    ///
    /// - Returns: Nil if this failed, and the damaged store is still in use.
    /// - Throws: `.diskUnusable` if the disk does not answer, and nothing was done; another `StorageError`
    ///   if the database can no longer be used.
    private nonisolated(nonsending) func rebuild(
        because damage: String
    ) async throws(StorageError) -> CompletedRepair? {
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

    /// Goes on with the open files, because the disk does not answer: what is in memory can be read, and
    /// flushes are tried until one succeeds.
    private func putOffRepair(because error: StorageError) {
        database.doubtDisk(because: error)
        statistics.noteFailedFlush()
        if disk.putOffRepair(error, at: now) {
            logger.log(.diskFails, level: .error, error.description)
            trouble.set(\.disk, error.description)
        }
        for waiter in disk.takeWaiters() { waiter.resume(.failure(error)) }
        _ = disk.endAwaitingRoom()
        observer?.mayGoOn()
        work()
    }

    // MARK: Snapshots

    /// Takes a snapshot of the database, for an answer that is made on another thread; nil if a second
    /// connection cannot be opened.
    ///
    /// - Throws: ``LaneAwaited`` if no snapshot may be taken now.
    package func snapshot() throws -> DatabaseSnapshot? {
        if !lanes.isLogReady, lanes.beginLog() { begin(.prepareLog) }
        guard !lanes.isBusy(.answers), lanes.isLogReady, disk.isAtRest else {
            throw lanes.wait()
        }
        return try? database.snapshot()
    }

    /// Notes that a snapshot was closed.
    package func noteSnapshotClosed() {
        lanes.noteSnapshotClosed(logSize: disk.hasEnded ? nil : database.logSize)
    }

    /// Restarts the log, because otherwise a later flush would have to wait for a snapshot to close.
    nonisolated(nonsending) func prepareLog() async {
        // If the disk refuses, the next flush retries, and waits for the snapshot.
        try? await writer.beginLog()
        lanes.endLog()
        resumeLongCalls()
        if lanes.isBeforeFlush { flushAfterLongCalls() }
    }

    /// Resumes the long calls that were postponed.
    package func resumeLongCalls() {
        if lanes.takeWaiting() { observer?.mayGoOn() }
    }

    // MARK: The end

    /// Writes nothing more, and closes the database.
    ///
    /// - Parameter outcome: The answer to everyone who asks for the disk from now on.
    nonisolated(nonsending) func close(with outcome: DiskKeeper.Outcome) async {
        disk.end(with: outcome)
        alarm.stop()
        await writer.close()
        database.close()
    }

    /// Ends at once, because the database can no longer be used.
    ///
    /// The crash journal keeps the acknowledged changes for the next process.
    private func lose(because error: StorageError) {
        disk.end(with: .failure(error))
        database.leavePage()
        observer?.lost(because: error)
    }
}

// MARK: Trouble

extension Store {
    /// Why changes are not written to disk, or are refused; empty if they are not.
    ///
    /// It is asked for rarely, so the disk is looked at.
    package var storageError: String {
        var current = trouble.now
        if current.disk.isEmpty, let error = database.unwritable {
            current.disk = error.description
        } else if current.disk.isEmpty, database.isMoved {
            current.disk = StorageTrouble.moved(database.path)
        }
        return current.sentence
    }

    /// The same as it was when it was last noted.
    package var knownTrouble: String { trouble.now.sentence }

    /// Whether the database cannot be written, and has everything.
    package var hasNothingToWrite: Bool {
        database.unwritable != nil && database.pendingChanges == 0
    }

    /// Notes that the whole store was read, and nothing is damaged.
    func noteIntact() { trouble.set(\.damage, "") }
}
