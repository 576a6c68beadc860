/// What the service has done since its start.
package final class Statistics {
    package let start: ContinuousClock.Instant
    /// Calls that were carried out, including those that were refused.
    package private(set) var calls: UInt64 = 0
    package private(set) var changes: UInt64 = 0
    package private(set) var flushes: UInt64 = 0
    package private(set) var failedFlushes: UInt64 = 0
    /// How often the store was repaired.
    package private(set) var repairs: UInt64 = 0
    /// When the last flush has ended, in seconds since 1970; nil before the first.
    package private(set) var lastFlush: Int?

    init(since start: ContinuousClock.Instant) {
        self.start = start
    }

    package func noteCall() { calls += 1 }

    /// Notes that a call was postponed: it is counted when it is repeated.
    package func notePostponement() { calls -= 1 }

    func noteChange() { changes += 1 }

    /// - Parameter time: In seconds since 1970.
    func noteFlush(at time: Int) {
        flushes += 1
        lastFlush = time
    }

    func noteFailedFlush() { failedFlushes += 1 }

    func noteRepair() { repairs += 1 }
}
