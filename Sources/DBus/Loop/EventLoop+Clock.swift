// Invariants
//
// 1. The timers of a loop, and all rules of what lives on it, have one clock. So a rule is never due
//    before its timer, nor the timer before the rule.
// 2. A held clock moves only when the loop has nothing to do at its present time: no work was handed
//    over, no descriptor is ready, no timer is due, and no other thread is busy for the loop. So
//    everything that a timer causes is done before the next timer fires.
// 3. A held clock stops at the deadline of each timer.
// 4. A loop with a held clock does not sleep for a time. It sleeps until a descriptor is ready or work is
//    handed over, and a move of the clock is handed over, too.

/// The clock of a loop.
extension EventLoop {
    /// What a loop goes by.
    package enum Clock: Sendable {
        /// The time of the machine.
        case system
        /// A time that stands still until ``EventLoop/advance(by:while:)`` moves it, for tests.
        case held
    }

    /// The time by which timers fire and rules are due.
    ///
    /// It stands still while the machine is suspended. With a held clock, call this on the loop's
    /// thread.
    package var now: SuspendingClock.Instant {
        guard let held = time.held else { return SuspendingClock.now }
        preconditionOnLoop("the held clock was read")
        return held.now
    }

    /// The time that also passes while the machine is suspended.
    ///
    /// It is for what people take for the time, such as how long the service has been running. With
    /// a held clock, call this on the loop's thread.
    package var continuousNow: ContinuousClock.Instant {
        guard let held = time.held else { return ContinuousClock.now }
        preconditionOnLoop("the held clock was read")
        return held.continuousNow
    }

    /// Moves a held clock, and returns when everything is done that was due on the way.
    ///
    /// ```swift
    /// await loop.advance(by: .milliseconds(249))  // Not yet.
    /// await loop.advance(by: .milliseconds(1))    // Now a timer of 250 ms has fired.
    /// ```
    ///
    /// May be called on any thread; one move at a time. It also returns when the loop ends.
    ///
    /// - Parameters:
    ///   - duration: How far. Zero does what is due now.
    ///   - isBusy: Whether another thread works for the loop, and will hand over the outcome. The
    ///     clock waits for that. It is called on the loop's thread.
    package func advance(
        by duration: Duration, while isBusy: @escaping @Sendable () -> Bool = { false }
    ) async {
        guard let held = time.held else { preconditionFailure("The system's clock is not moved.") }
        await withCheckedContinuation { continuation in
            perform {
                held.begin(HeldTime.Move(by: duration, while: isBusy) { continuation.resume() })
            }
        }
    }
}

/// The time of a loop.
struct LoopTime {
    /// Nil for the time of the machine.
    let held: HeldTime?

    init(_ clock: EventLoop.Clock) {
        switch clock {
        case .system: held = nil
        case .held: held = HeldTime()
        }
    }

    // Every timer and every call reads it, and an optional instant is slow.
    var now: SuspendingClock.Instant {
        guard let held else { return SuspendingClock.now }
        return held.now
    }
}

/// A time that stands still until it is moved.
///
/// It belongs to the loop's thread, which makes it `@unchecked Sendable`.
final class HeldTime: @unchecked Sendable {
    /// A way that the clock has to go.
    struct Move {
        fileprivate let duration: Duration
        fileprivate let isBusy: () -> Bool
        fileprivate let finish: () -> Void

        init(
            by duration: Duration, while isBusy: @escaping () -> Bool,
            finish: @escaping () -> Void
        ) {
            precondition(duration >= .zero, "Time does not go back.")
            (self.duration, self.isBusy, self.finish) = (duration, isBusy, finish)
        }
    }

    private(set) var now = SuspendingClock.now
    private(set) var continuousNow = ContinuousClock.now
    private var move: (Move, end: SuspendingClock.Instant)?

    /// Whether the clock is to move, and does not wait for another thread.
    var mayMove: Bool { move.map { !$0.0.isBusy() } ?? false }

    func begin(_ move: Move) {
        precondition(self.move == nil, "The clock is being moved already.")
        self.move = (move, now + move.duration)
    }

    /// Goes on to the next timer, or to the end if no timer is due before it.
    ///
    /// - Parameter deadline: That of the next timer, which is not due yet.
    func step(toTimerAt deadline: SuspendingClock.Instant?) {
        guard let end = move?.end else { return }
        if let deadline, deadline <= end { return pass(to: deadline) }
        pass(to: end)
        finish()
    }

    /// Ends the move where it is.
    func finish() {
        move.take()?.0.finish()
    }

    private func pass(to instant: SuspendingClock.Instant) {
        continuousNow = continuousNow.advanced(by: now.duration(to: instant))
        now = instant
    }
}
