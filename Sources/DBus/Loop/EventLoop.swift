import CLinux
import Glibc
import Synchronization
import SystemCalls

// Invariants
//
// 1. One thread runs everything: jobs of tasks, timers and descriptor handlers. It is the thread
//    inside `run()`, and before that the one that made the loop.
// 2. With nothing due the thread sleeps in poll(2) or epoll_wait(2) without a timeout. Nothing wakes
//    it but a descriptor, a timer that somebody set, or work handed over by another thread. With a
//    held clock a timer does not wake it, but a move of the clock does.
// 3. Work that is handed over is never lost, and wakes the thread at most once for each sleep: the
//    decision to sleep and the hand-over are made under one lock.
// 4. If the application closes descriptors that it does not own, ours among them, the loop goes on: it
//    makes another wake-up, and tells the handlers of those that are lost. In a process of our own
//    nobody does.
// 5. A handler that is cancelled is not called any more, even if its event has arrived already.

/// A thread's loop that descriptors, timers and actors share.
///
/// An actor that names the loop as its executor is called by handlers without a hop, through
/// `assumeIsolated`, and everything on the loop is one thread's work in one order.
///
/// ```swift
/// let loop = try EventLoop()
/// Task(executorPreference: loop) {
///     let connection = try await Connection.open(.session, on: loop)
/// }
/// loop.run()
/// ```
///
/// A program without a thread to spare starts one: ``startThread(named:)``.
///
/// The loop is shared between threads (`@unchecked Sendable`) for this reason: `inbox`, `owner`
/// and `wakeUp` are safe for all, and `timers`, `watches` and a held `time` are touched by the loop's
/// thread only, which every method that reaches them checks.
package final class EventLoop: @unchecked Sendable {
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
    let time: LoopTime
    var timers: TimerQueue
    let watches: any WatchTable
    /// Whether nobody else closes descriptors in this process.
    let isInOwnProcess: Bool

    /// Makes a loop; the calling thread counts as its thread until ``run()`` is called.
    ///
    /// - Parameters:
    ///   - isInOwnProcess: Whether all code of the process closes descriptors of its own only. Then
    ///     the loop does not check whether its descriptors are still the same (4), and many of them
    ///     cost no more than few.
    ///   - clock: What timers go by.
    /// - Throws: ``DBusError`` if the process has no descriptor to spare.
    package convenience init(
        isInOwnProcess: Bool = false, clock: Clock = .system
    ) throws(DBusError) {
        try self.init(
            ownedBy: UInt(pthread_self()), isInOwnProcess: isInOwnProcess, clock: clock)
    }

    init(ownedBy thread: UInt, isInOwnProcess: Bool, clock: Clock) throws(DBusError) {
        owner = Atomic(thread)
        self.isInOwnProcess = isInOwnProcess
        time = LoopTime(clock)
        timers = TimerQueue(by: time)
        watches = isInOwnProcess ? try EpollTable() : PollTable()
        do throws(SystemError) {
            wakeUp = try WakeUp()
        } catch {
            throw .systemCall("Making a pipe", error: error.number)
        }
        guard watchWakeUp() else { throw .systemCall("Watching a pipe", error: errno) }
    }

    @discardableResult
    private func watchWakeUp() -> Bool {
        // The wake-up carries no news of its own: the inbox is looked at in every round.
        let wakeUp = wakeUp
        let descriptor = wakeUp.descriptor
        let watch = Watch(
            descriptor, .readable, identity: identity(of: descriptor), loop: nil
        ) { _ in wakeUp.clear() }
        wakeUpWatch = watch
        return watches.add(watch)
    }

    /// Whether the calling code runs on the loop's thread.
    package var isCurrent: Bool {
        owner.load(ordering: .relaxed) == UInt(pthread_self())
    }

    /// Runs the loop on the calling thread until ``stop()`` is called.
    ///
    /// Work that was handed over before the stop is done before this returns. A loop runs once.
    package func run() {
        owner.store(UInt(pthread_self()), ordering: .relaxed)
        while true {
            let isStopping = inbox.withLock { $0.isStopRequested }
            performWork()
            if isStopping {
                time.held?.finish()
                return
            }
            fireTimers()
            waitForEvents()
        }
    }

    /// Ends ``run()``; may be called on any thread.
    package func stop() {
        handOver { $0.isStopRequested = true }
    }

    /// Calls a closure on the loop's thread, after the work that was handed over before it.
    ///
    /// May be called on any thread. A closure that is handed over after ``run()`` has ended is
    /// never called.
    package func perform(_ body: @escaping @Sendable () -> Void) {
        handOver(.body(body))
    }

    /// Waits until the work is done that was handed over before; for tasks on the loop's thread.
    ///
    /// `Task.yield()` would start the threads of Swift's own pool for that, and a held clock would move
    /// meanwhile.
    package nonisolated(nonsending) func waitForTurn() async {
        await withUnsafeContinuation { continuation in perform { continuation.resume() } }
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
        if isInOwnProcess { return .max }
        let isIntact = wakeUp.isIntact
        // It belongs to nobody: the number may be another file's by now.
        if !isIntact, let wakeUpWatch {
            watches.remove(wakeUpWatch)
            self.wakeUpWatch = nil
        }
        // The application closes one after the other, and the first one may have woken this loop.
        for watch in watches.lost { watch.handler?(.lost) }
        if isIntact { return .max }
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
        // With nothing else to do, a held clock moves instead of a sleep.
        let mayMove = maySleep && next != 0 && time.held?.mayMove == true
        let hasCome = watches.wait(maySleep && !mayMove ? limited : 0) {
            inbox.withLock { $0.isSleeping = false }
        }
        if mayMove, !hasCome { time.held?.step(toTimerAt: timers.nextDeadline) }
    }
}

/// The loop as the executor of actors, and of whole tasks.
///
/// From one actor of the loop to another a task goes on at once. One that was made with
/// `Task(executorPreference:)` takes a turn of the loop at each such step, and is for code that
/// belongs to no actor.
extension EventLoop: SerialExecutor, TaskExecutor {
    /// Takes a job from any thread.
    package func enqueue(_ job: UnownedJob) {
        handOver(.job(job))
    }

    /// The loop, for an actor's `unownedExecutor`.
    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// The loop, for a task's preference.
    package func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        UnownedTaskExecutor(ordinary: self)
    }

    /// Lets `assumeIsolated` hold on the loop's thread outside of any task, as in a handler.
    package func checkIsolated() {
        preconditionOnLoop("an actor of the loop was assumed to be isolated")
    }

    /// Whether the calling code runs on the loop's thread.
    package func isIsolatingCurrentContext() -> Bool? {
        isCurrent
    }

    func run(_ job: UnownedJob) {
        // As the serial executor only: were the task executor named as well, every step between two
        // actors of the loop would look like a change of executors, and take a turn of the loop.
        job.runSynchronously(on: asUnownedSerialExecutor())
    }

    func preconditionOnLoop(_ action: @autoclosure () -> String) {
        precondition(isCurrent, "Off the event loop's thread, \(action()).")
    }
}

/// A loop on a thread of its own.
extension EventLoop {
    /// Starts a thread that runs a loop until ``stop()`` is called.
    ///
    /// No signal of the system is delivered to the thread: they are the program's.
    ///
    /// ```swift
    /// let loop = try EventLoop.startThread(named: "dbus")
    /// let connection = try await Connection.open(.session, on: loop)
    /// ```
    ///
    /// - Parameters:
    ///   - name: The thread's name in tools such as `top`; the first 15 bytes of it.
    ///   - isInOwnProcess: As of ``init(isInOwnProcess:clock:)``.
    ///   - clock: What timers go by.
    /// - Throws: ``DBusError`` if the process has no descriptor or thread to spare.
    package static func startThread(
        named name: String, isInOwnProcess: Bool = false, clock: Clock = .system
    ) throws(DBusError) -> EventLoop {
        // No thread is number 0, so that nobody is current before the new one runs.
        let loop = try EventLoop(ownedBy: 0, isInOwnProcess: isInOwnProcess, clock: clock)
        let start = ThreadStart(
            loop: loop, name: String(decoding: name.utf8.prefix(15), as: UTF8.self))
        // The new thread takes this reference over; if it does not come to be, it is ours again.
        let reference = Unmanaged.passRetained(start)
        var thread = pthread_t()
        // A thread inherits the mask, so that there is no moment in which it has another.
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        let code = pthread_create(&thread, nil, { runThread($0) }, reference.toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        guard code == 0 else {
            reference.release()
            throw .systemCall("Starting a thread", error: code)
        }
        pthread_detach(thread)
        return loop
    }
}

/// What a new thread needs to know.
private final class ThreadStart {
    let loop: EventLoop
    let name: String

    init(loop: EventLoop, name: String) {
        self.loop = loop
        self.name = name
    }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let start = Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
    clinux_name_this_thread(start.name)
    start.loop.run()
    return nil
}
