/// Things to do later.
extension EventLoop {
    /// Something that the loop will do once, unless it is cancelled.
    package final class Timer {
        let deadline: SuspendingClock.Instant
        /// The number in the order of making; earlier ones go first if the time is the same.
        let number: UInt64
        private let loop: EventLoop
        fileprivate var body: (() -> Void)?

        fileprivate init(
            _ deadline: SuspendingClock.Instant, _ number: UInt64, loop: EventLoop,
            body: @escaping () -> Void
        ) {
            self.deadline = deadline
            self.number = number
            self.loop = loop
            self.body = body
        }

        /// Cancels the timer.
        ///
        /// Nothing happens if it has already fired.
        package func cancel() {
            guard body != nil else { return }
            body = nil
            loop.timers.remove(self)
        }
    }

    /// Calls a closure on the loop's thread once, after a time.
    ///
    /// To be called on the loop's thread. The time is that of ``now``.
    @discardableResult
    package func schedule(after delay: Duration, _ body: @escaping () -> Void) -> Timer {
        preconditionOnLoop("a timer was set")
        return timers.add(after: delay, loop: self, body: body)
    }
}

/// The timers of a loop, the next one first.
struct TimerQueue {
    // Sorted instead of a heap: most timers are late and are appended at the end, and a cancelled
    // one is found and removed at once.
    private var timers: [EventLoop.Timer] = []
    private var lastNumber: UInt64 = 0
    private let time: LoopTime

    init(by time: LoopTime) {
        self.time = time
    }

    mutating func add(
        after delay: Duration, loop: EventLoop, body: @escaping () -> Void
    ) -> EventLoop.Timer {
        lastNumber += 1
        let timer = EventLoop.Timer(time.now + delay, lastNumber, loop: loop, body: body)
        timers.insert(timer, at: index(of: timer))
        return timer
    }

    mutating func remove(_ timer: EventLoop.Timer) {
        let index = index(of: timer)
        if index < timers.count, timers[index] === timer { timers.remove(at: index) }
    }

    /// The time of the next timer.
    var nextDeadline: SuspendingClock.Instant? { timers.first?.deadline }

    /// How long poll(2) may sleep: without end (-1) if there is no timer, or if the clock is held.
    var millisecondsToNext: Int32 {
        guard let next = timers.first else { return -1 }
        let rest = next.deadline - time.now
        guard rest > .zero else { return 0 }
        guard time.held == nil else { return -1 }
        // Rounded up, so that it does not wake too early and sleep again.
        let milliseconds = (rest + .microseconds(999)) / .milliseconds(1)
        return milliseconds < Double(Int32.max) ? Int32(milliseconds) : .max
    }

    /// The timers whose time has come.
    func due() -> [EventLoop.Timer] {
        guard !timers.isEmpty else { return [] }
        let now = time.now
        return Array(timers.prefix { $0.deadline <= now })
    }

    /// The place of a timer.
    private func index(of timer: EventLoop.Timer) -> Int {
        var (low, high) = (0, timers.count)
        while low < high {
            let middle = low + (high - low) / 2
            let other = timers[middle]
            if (other.deadline, other.number) < (timer.deadline, timer.number) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}

extension EventLoop {
    /// Does what is due now.
    ///
    /// A timer that is set meanwhile waits for the next round.
    func fireTimers() {
        for timer in timers.due() {
            // Invariant 5: an earlier timer may have cancelled it.
            guard let body = timer.body else { continue }
            timer.cancel()
            body()
        }
    }
}
