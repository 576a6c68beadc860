import DefaultsModel
import DefaultsStorage

/// What is done to the store on disk, what comes next, and who waits for it.
///
/// It has no disk, no thread and no clock. The service does the work that ``next(at:)`` names, and says
/// what came of it.
///
/// ```
/// idle -> flushing  -> idle
///      -> repairing -> idle
///      -> ended
/// ```
///
/// Invariants:
/// 1. One work at a time: a flush or a repair. After the end there is none.
/// 2. A repair that is due comes before the next flush.
/// 3. Each waiter is returned once: when the flush that it waits for has ended or failed, or when the
///    store has been repaired, after which it waits for another flush.
/// 4. While a change waits for room, no other change takes the room that a flush makes.
struct DiskKeeper {
    /// The durable generation, or the disk's refusal.
    typealias Outcome = Result<Generation, StorageError>

    /// Somebody who waits for the disk: a caller of Synchronize or of a durable change, or the end.
    struct Waiter {
        /// The flush that writes the last of what was acknowledged before the wait began.
        let flush: UInt64
        /// To be called once.
        let resume: (Outcome) -> Void
    }

    /// What is to be done.
    enum Step: Equatable {
        case flush
        case repair
        case wait(until: ContinuousClock.Instant)
    }

    /// What is done about damage that was reported.
    enum DamageResponse: Equatable {
        /// The store will be repaired. It is known already that it is damaged, if this is not new.
        case repair(isNew: Bool)
        /// A repair a moment ago did not help, or failed.
        case none
    }

    private enum Work {
        case idle, flushing, repairing
        case ended(Outcome)
    }

    private var work = Work.idle
    private var schedule = FlushSchedule()
    private var waiters: [Waiter] = []
    private var repairs = RepairSchedule()
    /// Whether a change waits for the room that the flush under way makes.
    private(set) var isRoomAwaited = false
    /// Why the last flush failed; nil while the disk takes changes.
    private(set) var failure: StorageError?

    /// Whether a flush or a repair is under way.
    var isWorking: Bool {
        switch work {
        case .flushing, .repairing: true
        case .idle, .ended: false
        }
    }

    /// Whether nothing is done to the store, and no repair is due.
    var isAtRest: Bool { !isWorking && !repairs.isDue }

    /// What the disk said at the end, after which nothing is done any more; nil before.
    var end: Outcome? {
        if case .ended(let outcome) = work { outcome } else { nil }
    }

    /// Whether nothing is done any more.
    var hasEnded: Bool { end != nil }

    /// Whether a flush has been scheduled.
    var isFlushScheduled: Bool { schedule.due != nil }

    /// What is to be done now; nil if there is nothing, or if the work under way comes first.
    func next(at now: ContinuousClock.Instant) -> Step? {
        guard case .idle = work else { return nil }
        if repairs.isDue { return .repair }
        guard let due = schedule.due else { return nil }
        return due <= now ? .flush : .wait(until: due)
    }

    /// Notes that something is pending.
    ///
    /// - Parameter pendingBytes: What the next flush is to write, in bytes.
    mutating func noteChange(at now: ContinuousClock.Instant, pendingBytes: Int) {
        schedule.changed(at: now, pendingBytes: pendingBytes)
    }

    /// Notes that what is pending is to be written at once.
    mutating func noteDemand(at now: ContinuousClock.Instant) {
        schedule.demanded(at: now)
    }

    /// Adds somebody who waits for a flush.
    mutating func add(_ waiter: Waiter) {
        precondition(!hasEnded, "nothing is written after the end")
        waiters.append(waiter)
    }

    /// Notes that a change waits for room.
    mutating func awaitRoom() {
        isRoomAwaited = true
    }

    /// Notes that changes may try again; to be called after a flush.
    ///
    /// - Returns: Whether one waits.
    mutating func endAwaitingRoom() -> Bool {
        defer { isRoomAwaited = false }
        return isRoomAwaited
    }

    /// Ends all work.
    ///
    /// The first end holds.
    mutating func end(with outcome: Outcome) {
        if !hasEnded { work = .ended(outcome) }
    }
}

// MARK: Flushes

extension DiskKeeper {
    /// Whether a flush may begin, whatever the schedule says.
    var mayFlush: Bool {
        if case .idle = work { true } else { false }
    }

    /// Notes that a flush of all that is pending has begun.
    mutating func beginFlush() {
        precondition(mayFlush, "one work at a time")
        work = .flushing
        schedule.flushBegan()
    }

    /// Notes that the flush under way has succeeded.
    ///
    /// - Parameter number: Its number. No flush has begun since.
    /// - Returns: Who has waited for it, to be resumed.
    mutating func endFlush(_ number: UInt64) -> [Waiter] {
        leaveFlush()
        schedule.flushSucceeded()
        failure = nil
        let reached = waiters.filter { $0.flush <= number }
        waiters.removeAll { $0.flush <= number }
        return reached
    }

    /// Notes that the disk has refused the flush under way.
    ///
    /// - Returns: Whether it gave another reason than the last time.
    mutating func failFlush(_ error: StorageError, at now: ContinuousClock.Instant) -> Bool {
        leaveFlush()
        schedule.flushFailed(at: now)
        let isNew = failure?.isRepeated(by: error) != true
        failure = error
        return isNew
    }

    /// Takes all who wait, to be refused.
    mutating func takeWaiters() -> [Waiter] {
        defer { waiters = [] }
        return waiters
    }

    private mutating func leaveFlush() {
        guard case .flushing = work else { preconditionFailure("no flush is under way") }
        work = .idle
    }
}

// MARK: Repairs

extension DiskKeeper {
    /// Notes that the store is damaged.
    mutating func note(
        damage: String, at now: ContinuousClock.Instant
    ) -> DamageResponse {
        precondition(!hasEnded, "nothing is repaired after the end")
        return repairs.note(damage, at: now)
    }

    /// Notes that a repair has begun.
    ///
    /// - Returns: What is damaged, as a sentence.
    mutating func beginRepair() -> String {
        precondition(next(at: .now) == .repair, "no repair is due")
        work = .repairing
        return repairs.begin()
    }

    /// Notes that the repair under way has ended.
    ///
    /// - Parameter isSuccess: Whether the store was made anew. Otherwise it is as it was.
    /// - Returns: Who has waited for the disk, to wait for the database that is open now.
    mutating func endRepair(isSuccess: Bool, at now: ContinuousClock.Instant) -> [Waiter] {
        guard case .repairing = work else { preconditionFailure("no repair is under way") }
        work = .idle
        repairs.end(isSuccess: isSuccess, at: now)
        isRoomAwaited = false
        return takeWaiters()
    }
}

/// What is known of damage, and when the store is repaired.
private struct RepairSchedule {
    /// How long a repaired store is left as it is: if it is damaged again at once, the disk is, and a
    /// repair does not help.
    private static let shortestPause = Duration.seconds(60)
    /// How long it is left at most after repairs that failed: each failure doubles the pause.
    private static let longestPause = Duration.seconds(3600)

    /// What was found and is not repaired yet.
    private var damage: String?
    private var isUnderWay = false
    private var last: ContinuousClock.Instant?
    private var pause = shortestPause

    var isDue: Bool { damage != nil && !isUnderWay }

    mutating func note(
        _ damage: String, at now: ContinuousClock.Instant
    ) -> DiskKeeper.DamageResponse {
        guard self.damage == nil else { return .repair(isNew: false) }
        if let last, last.duration(to: now) < pause { return .none }
        self.damage = damage
        return .repair(isNew: true)
    }

    mutating func begin() -> String {
        guard let damage, !isUnderWay else { preconditionFailure("there is nothing to repair") }
        isUnderWay = true
        return damage
    }

    mutating func end(isSuccess: Bool, at now: ContinuousClock.Instant) {
        (damage, isUnderWay, last) = (nil, false, now)
        pause = isSuccess ? Self.shortestPause : min(pause * 2, Self.longestPause)
    }
}
