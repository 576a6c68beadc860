import DefaultsTerms

/// Decides when the pending changes are written to disk.
///
/// Invariants:
/// 1. If changes are pending and the last flush did not fail, a flush is due ``Delays/quiet`` after the
///    last change or ``Delays/longest`` after the first one, whichever comes first.
/// 2. A flush is due at once if 8 MiB are pending, or on demand.
/// 3. After a failure the retry is due 1 s later. Each further failure doubles the pause, up to 60
///    s. New changes and their size do not shorten the pause. A demand does.
/// 4. If nothing is pending, or a flush is in progress, nothing is due.
///
/// The schedule has no clock: its owner passes the time and asks when to wake up.
///
/// ```swift
/// schedule.changed(at: now, pendingBytes: database.pendingBytes)
/// timer.fire(at: schedule.due)
/// ```
package struct FlushSchedule: Sendable {
    /// How long changes wait.
    package struct Delays: Sendable, Equatable {
        /// How long after the last change a flush is due.
        package let quiet: Duration
        /// How long after the first change a flush is due at the latest.
        package let longest: Duration

        /// Sets both in milliseconds.
        package init(
            quiet: Int = ServiceOption.writeDelay.standard,
            longest: Int = ServiceOption.longestWriteDelay.standard
        ) {
            (self.quiet, self.longest) = (.milliseconds(quiet), .milliseconds(longest))
        }
    }

    /// How long changes wait, those that are pending, too.
    package var delays = Delays()
    /// How many pending bytes make a flush due at once: 8 MiB.
    package static let pendingBytesForFlush = 8 << 20
    /// The pause before the first retry.
    package static let firstRetryDelay = Duration.seconds(1)
    /// The longest pause before a retry.
    package static let longestRetryDelay = Duration.seconds(60)

    /// Changes that no flush has included yet.
    private struct Waiting {
        let first: SuspendingClock.Instant
        var last: SuspendingClock.Instant
        /// Since when they are to be written at once.
        var urgent: SuspendingClock.Instant?
    }

    private var waiting: Waiting?
    private var isFlushing = false
    /// When to retry.
    ///
    /// A failure sets this, and the retry clears it.
    private var retry: SuspendingClock.Instant?
    /// The pause after the next failure.
    private var retryDelay = firstRetryDelay

    /// A schedule with nothing pending.
    package init() {}

    /// When the next flush is to begin.
    ///
    /// This may be in the past.
    ///
    /// Nil if there is nothing to do.
    package var due: SuspendingClock.Instant? {
        if isFlushing { return nil }
        return retry
            ?? waiting.map { $0.urgent ?? min($0.last + delays.quiet, $0.first + delays.longest) }
    }

    /// Notes a change.
    ///
    /// - Parameters:
    ///   - now: When it was acknowledged.
    ///   - pendingBytes: What the next flush will write, in bytes, including this change.
    package mutating func changed(at now: SuspendingClock.Instant, pendingBytes: Int) {
        var changed = waiting ?? Waiting(first: now, last: now)
        changed.last = now
        if pendingBytes >= FlushSchedule.pendingBytesForFlush { changed.urgent = now }
        waiting = changed
    }

    /// Notes that a caller waits until the pending changes are on disk.
    ///
    /// If a flush is in progress, this hastens the next one, if there are changes for it.
    package mutating func demanded(at now: SuspendingClock.Instant) {
        waiting?.urgent = now
        if retry != nil { retry = now }
    }

    /// Notes that a flush of all pending changes has begun.
    package mutating func flushBegan() {
        precondition(!isFlushing, "one flush at a time")
        isFlushing = true
        waiting = nil
        retry = nil
    }

    /// Notes that the flush has succeeded: what it wrote is on disk.
    package mutating func flushSucceeded() {
        precondition(isFlushing, "no flush was begun")
        isFlushing = false
        retryDelay = FlushSchedule.firstRetryDelay
    }

    /// Notes that the flush has failed: what it was to write is still pending.
    package mutating func flushFailed(at now: SuspendingClock.Instant) {
        precondition(isFlushing, "no flush was begun")
        isFlushing = false
        retry = now + retryDelay
        retryDelay = min(retryDelay * 2, FlushSchedule.longestRetryDelay)
    }
}
