import Glibc
import Synchronization

// Invariants
//
// 1. One thread runs everything: jobs of tasks, timers and descriptor handlers. It is the thread
//    inside `run()`, and before that the one that made the loop.
// 2. With nothing due the thread sleeps in poll(2) without a timeout. Nothing wakes it but a
//    descriptor, a timer that somebody set, or work handed over by another thread.
// 3. Work that is handed over is never lost, and wakes the thread at most once for each sleep: the
//    decision to sleep and the hand-over are made under one lock.
// 4. Where the application closes descriptors that it does not own, ours among them, the loop goes on: it
//    makes another wake-up, and tells the handlers of those that are lost.
// 5. A handler that is cancelled is not called any more, also where its event has arrived already.

/// A thread's loop over poll(2) that descriptors, timers and actors share.
///
/// An actor that names the loop as its executor is called by handlers without a hop, through
/// `assumeIsolated`, and everything on the loop is one thread's work in one order.
///
/// ```swift
/// let loop = try EventLoop()
/// let connection = try Connection(to: .session, on: loop)
/// loop.run()
/// ```
///
/// A program without a thread to spare starts one: ``startThread(named:)``.
///
/// The loop is shared between threads (`@unchecked Sendable`) for this reason: `inbox`, `owner`
/// and `wakeUp` are safe for all, and `timers` and `watches` are touched by the loop's thread
/// only, which every method that reaches them checks.
public final class EventLoop: @unchecked Sendable {
    /// What other threads hand over, and whether they must wake the loop for it.
    private struct Inbox {
        var work: [Work] = []
        var isSleeping = false
        var isStopRequested = false
    }

    /// One piece of work that was handed over.
    enum Work: Sendable {
        case job(UnownedJob)
        case body(@Sendable () -> Void)
    }

    private let inbox = Mutex(Inbox())
    private let owner: Atomic<UInt>
    private let wakeUp: WakeUp
    private var wakeUpWatch: Watch?
    var timers = TimerQueue()
    var watches = WatchTable()

    /// Makes a loop; the calling thread counts as its thread until ``run()`` is called.
    ///
    /// - Throws: ``DBusError`` where the process has no descriptor to spare.
    public convenience init() throws(DBusError) {
        try self.init(ownedBy: UInt(pthread_self()))
    }

    init(ownedBy thread: UInt) throws(DBusError) {
        owner = Atomic(thread)
        wakeUp = try WakeUp()
        watchWakeUp()
    }

    private func watchWakeUp() {
        // The wake-up carries no news of its own: the inbox is looked at in every round.
        let wakeUp = wakeUp
        wakeUpWatch = watches.add(wakeUp.descriptor, .readable) { _ in wakeUp.clear() }
    }

    /// Whether the calling code runs on the loop's thread.
    public var isCurrent: Bool {
        owner.load(ordering: .relaxed) == UInt(pthread_self())
    }

    /// Runs the loop on the calling thread until ``stop()`` is called.
    ///
    /// Work that was handed over before the stop is done before this returns. A loop runs once.
    public func run() {
        owner.store(UInt(pthread_self()), ordering: .relaxed)
        while true {
            let isStopping = inbox.withLock { $0.isStopRequested }
            performWork()
            if isStopping { return }
            fireTimers()
            waitForEvents()
        }
    }

    /// Ends ``run()``; may be called on any thread.
    public func stop() {
        handOver { $0.isStopRequested = true }
    }

    /// Calls a closure on the loop's thread, after the work that was handed over before it.
    ///
    /// May be called on any thread. A closure that is handed over after ``run()`` has ended is
    /// never called.
    public func perform(_ body: @escaping @Sendable () -> Void) {
        handOver(.body(body))
    }

    func handOver(_ work: Work) {
        handOver { $0.work.append(work) }
    }

    private func handOver(_ change: (inout Inbox) -> Void) {
        let mustWake = inbox.withLock { inbox in
            change(&inbox)
            defer { inbox.isSleeping = false }
            return inbox.isSleeping
        }
        if mustWake { wakeUp.signal() }
    }

    private func performWork() {
        let work = inbox.withLock { inbox in
            defer { inbox.work.removeAll() }
            return inbox.work
        }
        for piece in work {
            switch piece {
            case .job(let job): run(job)
            case .body(let body): body()
            }
        }
    }

    /// Goes on after the application has closed descriptors of ours (4).
    ///
    /// - Returns: How long to sleep at most, in milliseconds: without a wake-up others must be looked for.
    private func repairDescriptors() -> Int32 {
        if wakeUp.isIntact { return .max }
        // It belongs to nobody: the number may be another file's by now.
        if let wakeUpWatch { watches.remove(wakeUpWatch) }
        wakeUpWatch = nil
        for watch in watches.lost { watch.handler?(.lost) }
        do {
            try wakeUp.renew()
            watchWakeUp()
            return .max
        } catch {
            return 100
        }
    }

    private func waitForEvents() {
        let longest = repairDescriptors()
        let maySleep = inbox.withLock { inbox in
            inbox.isSleeping = inbox.work.isEmpty && !inbox.isStopRequested
            return inbox.isSleeping
        }
        let next = timers.millisecondsToNext
        let limited = longest == .max ? next : min(next < 0 ? longest : next, longest)
        let ready = watches.poll(timeout: maySleep ? limited : 0)
        inbox.withLock { $0.isSleeping = false }
        for (watch, events) in ready {
            // Invariant 5: a handler before this one may have cancelled it.
            watch.handler?(events)
        }
    }
}
