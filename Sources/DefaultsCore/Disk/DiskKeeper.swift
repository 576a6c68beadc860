package import DefaultsModel
package import DefaultsStorage

/// Decides what is done to the store on disk, and knows who waits for it.
///
/// It has no disk, no thread and no clock. The service does the step that ``next(at:)`` returns,
/// and reports the result.
///
/// ```
/// idle -> flushing  -> idle
///      -> repairing -> idle
///      -> ended
/// ```
///
/// Invariants:
/// 1. One work is in progress at a time: a flush or a repair. After the end there is none.
/// 2. A repair that is due comes before the next flush.
/// 3. Each waiter is returned once: when the flush that it waits for has succeeded or failed, or
///    when the store has been repaired. In the last case it then waits for another flush.
/// 4. While a change waits for room, no other change may use the room that a flush makes.
package final class DiskKeeper {
    /// The durable generation, or the error of the disk.
    package typealias Outcome = Result<Generation, StorageError>

    /// Someone who waits for the disk: a caller of Synchronize or of a durable change, or the end
    /// of the service.
    struct Waiter {
        /// The flush that writes the last change that was acknowledged before the wait began.
        let flush: UInt64
        /// Must be called once.
        let resume: (Outcome) -> Void
    }

    /// What to do next.
    enum Step: Equatable {
        case flush
        case repair
        case wait(until: SuspendingClock.Instant)
    }

    /// The reaction to damage that was reported.
    enum DamageResponse: Equatable {
        /// The store will be repaired.
        ///
        /// If `isNew` is false, the damage was already known.
        case repair(isNew: Bool)
        /// There is no repair, because the last one was a moment ago or has failed.
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
    /// Whether a change waits for the room that the flush in progress makes.
    private(set) var isRoomAwaited = false
    /// Why the last flush failed; nil if it succeeded.
    private(set) var failure: StorageError?

    /// Whether a flush or a repair is in progress.
    var isWorking: Bool {
        switch work {
        case .flushing, .repairing: true
        case .idle, .ended: false
        }
    }

    /// Whether nothing is in progress, and no repair is due.
    var isAtRest: Bool { !isWorking && !repairs.isDue }

    /// The outcome at the end, after which nothing is done; nil before.
    var end: Outcome? {
        if case .ended(let outcome) = work { outcome } else { nil }
    }

    /// Whether the end has come.
    var hasEnded: Bool { end != nil }

    /// Whether a flush has been scheduled.
    var isFlushScheduled: Bool { schedule.due != nil }

    /// What to do now; nil if there is nothing to do, or if the work in progress must end first.
    func next(at now: SuspendingClock.Instant) -> Step? {
        guard case .idle = work else { return nil }
        if repairs.isDue { return .repair }
        guard let due = schedule.due else { return nil }
        return due <= now ? .flush : .wait(until: due)
    }

    /// Sets how long changes wait.
    ///
    /// - Returns: Whether that is another time than before.
    func set(_ delays: FlushSchedule.Delays) -> Bool {
        defer { schedule.delays = delays }
        return schedule.delays != delays
    }

    /// Notes that a change is pending.
    ///
    /// - Parameter pendingBytes: What the next flush will write, in bytes.
    func noteChange(at now: SuspendingClock.Instant, pendingBytes: Int) {
        schedule.changed(at: now, pendingBytes: pendingBytes)
    }

    /// Notes that the pending changes are to be written at once.
    func noteDemand(at now: SuspendingClock.Instant) {
        schedule.demanded(at: now)
    }

    /// Adds someone who waits for a flush.
    func add(_ waiter: Waiter) {
        precondition(!hasEnded, "nothing is written after the end")
        waiters.append(waiter)
    }

    /// Notes that a change waits for room.
    func awaitRoom() {
        isRoomAwaited = true
    }

    /// Notes that postponed changes may be retried.
    ///
    /// Call this after a flush.
    ///
    /// - Returns: Whether there is such a change.
    func endAwaitingRoom() -> Bool {
        defer { isRoomAwaited = false }
        return isRoomAwaited
    }

    /// Ends all work.
    ///
    /// If there are several calls, the first one counts.
    func end(with outcome: Outcome) {
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
    func beginFlush() {
        precondition(mayFlush, "other work is in progress")
        work = .flushing
        schedule.flushBegan()
    }

    /// Notes that the flush in progress has succeeded.
    ///
    /// - Parameter number: The number of the flush. No other flush has begun since.
    /// - Returns: Those who have waited for it. They must be resumed.
    func endFlush(_ number: UInt64) -> [Waiter] {
        leaveFlush()
        schedule.flushSucceeded()
        failure = nil
        let reached = waiters.filter { $0.flush <= number }
        waiters.removeAll { $0.flush <= number }
        return reached
    }

    /// Notes that the flush in progress has failed.
    ///
    /// - Returns: Whether the error differs from the last one.
    func failFlush(_ error: StorageError, at now: SuspendingClock.Instant) -> Bool {
        leaveFlush()
        schedule.flushFailed(at: now)
        let isNew = failure?.isRepeated(by: error) != true
        failure = error
        return isNew
    }

    /// Takes all waiters, to pass an error to them.
    func takeWaiters() -> [Waiter] {
        defer { waiters = [] }
        return waiters
    }

    private func leaveFlush() {
        guard case .flushing = work else { preconditionFailure("no flush is in progress") }
        work = .idle
    }
}

// MARK: Repairs

extension DiskKeeper {
    /// Notes that the store is damaged.
    func note(
        damage: String, at now: SuspendingClock.Instant
    ) -> DamageResponse {
        precondition(!hasEnded, "nothing is repaired after the end")
        return repairs.note(damage, at: now)
    }

    /// Notes that a repair has begun.
    ///
    /// - Returns: What is damaged, as a sentence.
    func beginRepair() -> String {
        precondition(mayFlush && repairs.isDue, "no repair is due")
        work = .repairing
        return repairs.begin()
    }

    /// Notes that the repair in progress was not made, because the disk does not answer.
    ///
    /// Flushes go on to be tried, each after a pause.
    ///
    /// - Returns: Whether the error differs from that of the last flush.
    func putOffRepair(_ error: StorageError, at now: SuspendingClock.Instant) -> Bool {
        guard case .repairing = work else { preconditionFailure("no repair is in progress") }
        work = .idle
        repairs.putOff(at: now)
        beginFlush()
        return failFlush(error, at: now)
    }

    /// Notes that the repair in progress has ended.
    ///
    /// - Parameter isSuccess: Whether there is a new store. If not, the old store is still in use.
    /// - Returns: Those who have waited for the disk. They must wait for the database that is open
    ///   now.
    func endRepair(isSuccess: Bool, at now: SuspendingClock.Instant) -> [Waiter] {
        guard case .repairing = work else { preconditionFailure("no repair is in progress") }
        work = .idle
        repairs.end(isSuccess: isSuccess, at: now)
        isRoomAwaited = false
        return takeWaiters()
    }
}

/// The known damage, and when the store is repaired.
private struct RepairSchedule {
    /// The pause after a successful repair.
    ///
    /// If the store is damaged again at once, the disk is failing, and another repair would not
    /// help.
    private static let shortestPause = Duration.seconds(60)
    /// The longest pause after repairs that failed.
    ///
    /// Each failure doubles the pause.
    private static let longestPause = Duration.seconds(3600)

    /// The damage that is not repaired yet.
    private var damage: String?
    private var isUnderWay = false
    private var last: SuspendingClock.Instant?
    /// When a repair may begin after one was put off.
    private var earliest: SuspendingClock.Instant?
    private var pause = shortestPause

    var isDue: Bool { damage != nil && !isUnderWay }

    mutating func note(
        _ damage: String, at now: SuspendingClock.Instant
    ) -> DiskKeeper.DamageResponse {
        guard self.damage == nil else { return .repair(isNew: false) }
        if let last, last.duration(to: now) < pause { return .none }
        if let earliest, now < earliest { return .none }
        self.damage = damage
        return .repair(isNew: true)
    }

    mutating func begin() -> String {
        guard let damage, !isUnderWay else { preconditionFailure("there is nothing to repair") }
        isUnderWay = true
        return damage
    }

    mutating func putOff(at now: SuspendingClock.Instant) {
        (damage, isUnderWay, earliest) = (nil, false, now + FlushSchedule.firstRetryDelay)
    }

    mutating func end(isSuccess: Bool, at now: SuspendingClock.Instant) {
        (damage, isUnderWay, last) = (nil, false, now)
        pause = isSuccess ? Self.shortestPause : min(pause * 2, Self.longestPause)
    }
}
