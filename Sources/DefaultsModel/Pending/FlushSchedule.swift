/// When the pending changes are written to disk.
///
/// Invariants:
/// 1. With changes pending and the disk well, a flush is due 250 ms after the last change and 2 s
///    after the first, whichever comes first.
/// 2. It is due at once when 8 MiB are pending, and on demand.
/// 3. After a failure the next try is due 1 s later, and after each further one twice as long, to
///    60 s at most. Neither changes nor their size hasten it; a demand does.
/// 4. With nothing pending, and during a flush, nothing is due.
///
/// The schedule knows no clock: whoever owns it tells it the time and asks when to wake up.
///
/// ```swift
/// schedule.changed(at: now, pendingBytes: database.pendingBytes)
/// timer.fire(at: schedule.due)
/// ```
package struct FlushSchedule: Sendable {
    /// How long after the last change a flush is due.
    package static let quietPeriod = Duration.milliseconds(250)
    /// How long after the first change a flush is due at the latest.
    package static let longestDelay = Duration.seconds(2)
    /// From how many pending bytes on a flush is due at once: 8 MiB.
    package static let pendingBytesForFlush = 8 << 20
    /// How long after the first failure the next try is due.
    package static let firstRetryDelay = Duration.seconds(1)
    /// How long after a failure the next try is due at the latest.
    package static let longestRetryDelay = Duration.seconds(60)

    /// Changes that no flush has taken up yet.
    private struct Waiting {
        let first: ContinuousClock.Instant
        var last: ContinuousClock.Instant
        /// Since when they are to be written at once.
        var urgent: ContinuousClock.Instant?

        var due: ContinuousClock.Instant {
            urgent ?? min(last + quietPeriod, first + longestDelay)
        }
    }

    private var waiting: Waiting?
    private var isFlushing = false
    /// When to try again; set by a failure, cleared by the next try.
    private var retry: ContinuousClock.Instant?
    /// How long the try after the next failure waits.
    private var retryDelay = firstRetryDelay

    /// A schedule with nothing pending.
    package init() {}

    /// When the next flush is to begin; it may lie in the past.
    ///
    /// Nil where there is nothing to do.
    package var due: ContinuousClock.Instant? {
        isFlushing ? nil : retry ?? waiting?.due
    }

    /// Notes a change.
    ///
    /// - Parameters:
    ///   - now: When it was acknowledged.
    ///   - pendingBytes: The bytes that the next flush is to write, this change included.
    package mutating func changed(at now: ContinuousClock.Instant, pendingBytes: Int) {
        var changed = waiting ?? Waiting(first: now, last: now)
        changed.last = now
        if pendingBytes >= FlushSchedule.pendingBytesForFlush { changed.urgent = now }
        waiting = changed
    }

    /// Notes that somebody waits for what is pending to be on disk.
    ///
    /// During a flush this hastens the next one, if there are changes for it.
    package mutating func demanded(at now: ContinuousClock.Instant) {
        waiting?.urgent = now
        if retry != nil { retry = now }
    }

    /// Notes that a flush of all that is pending has begun.
    package mutating func flushBegan() {
        precondition(!isFlushing, "one flush at a time")
        isFlushing = true
        waiting = nil
        retry = nil
    }

    /// Notes that the flush has ended and what it wrote is on disk.
    package mutating func flushSucceeded() {
        precondition(isFlushing, "no flush was begun")
        isFlushing = false
        retryDelay = FlushSchedule.firstRetryDelay
    }

    /// Notes that the flush has failed and what it was to write is still pending.
    package mutating func flushFailed(at now: ContinuousClock.Instant) {
        precondition(isFlushing, "no flush was begun")
        isFlushing = false
        retry = now + retryDelay
        retryDelay = min(retryDelay * 2, FlushSchedule.longestRetryDelay)
    }
}
