package import class DBus.EventLoop

/// Thrown if a call has to wait for a lane.
package struct LaneAwaited: Error {}

/// The threads for calls that would block the loop for long.
///
/// Invariants:
/// 1. Each lane carries out one call at a time. Other calls wait in the loop, which counts them.
///    The calling processes take turns.
/// 2. An answer is made from a snapshot that was taken on the loop, so all of it is of one
///    generation.
/// 3. While a snapshot is open, the store is not replaced and the database is not closed. No
///    snapshot is taken while a flush is in progress: otherwise a series of callers could prevent
///    the log from ever restarting. After a flush, the long calls that waited for it come before
///    the next flush.
package final class Lanes {
    /// An answer with more keys than this is long: each key takes about 10 microseconds.
    package static let fewKeys = 512
    /// The conversion of a value of more bytes than this is long: 64 KiB take some milliseconds.
    package static let fewBytes = 64 << 10
    /// The most bytes that the log may reach while answers are read: 16 MiB.
    private static let largestLog = 16 << 20

    /// What a thread is for.
    package enum Lane: CaseIterable {
        /// Reading many keys from a snapshot.
        case answers
        /// Converting between a large value and its archive, and validating a large archive.
        case conversions
    }

    /// Threads start at the first long call.
    ///
    /// Most daemons never need one.
    private var threads: [Lane: EventLoop] = [:]
    private var busy: Set<Lane> = []
    /// Whether calls that wait for a lane were postponed.
    private(set) var isAwaited = false
    /// Whether the next flush waits for the long calls that the last flush kept waiting.
    private(set) var isBeforeFlush = false
    /// Whether a snapshot may be open for long: the log has nothing that the next flush must
    /// remove.
    private(set) var isLogReady = false
    private(set) var isLogBeingPrepared = false
    /// Who waits until no snapshot is open.
    private var waitingForRest: [CheckedContinuation<Void, Never>] = []

    package func isBusy(_ lane: Lane) -> Bool { busy.contains(lane) }

    var isAnyBusy: Bool { !busy.isEmpty }

    /// Takes a lane for a call.
    ///
    /// - Returns: The loop of its thread.
    /// - Throws: If the system cannot start another thread.
    package func begin(_ lane: Lane) throws -> EventLoop {
        precondition(!isBusy(lane), "one long call at a time")
        let thread: EventLoop
        if let started = threads[lane] {
            thread = started
        } else {
            thread = try EventLoop.startThread(named: "\(lane)")
            threads[lane] = thread
        }
        busy.insert(lane)
        return thread
    }

    /// Releases a lane.
    package func end(_ lane: Lane) {
        busy.remove(lane)
    }

    // MARK: Who waits

    /// Notes that a call waits for a lane.
    ///
    /// - Returns: What postpones the call.
    package func wait() -> LaneAwaited {
        isAwaited = true
        return LaneAwaited()
    }

    /// - Returns: Whether calls waited for a lane, which are to be resumed now.
    func takeWaiting() -> Bool {
        defer { isAwaited = false }
        return isAwaited
    }

    /// Lets the long calls that wait begin before the next flush.
    func goBeforeFlush() { isBeforeFlush = true }

    /// Lets the next flush begin.
    func letFlush() { isBeforeFlush = false }

    // MARK: The log

    /// Notes that the log has to restart before the next snapshot.
    func noteLogInUse() { isLogReady = false }

    /// - Returns: Whether the log can be prepared now; if so, ``endLog()`` follows.
    func beginLog() -> Bool {
        guard !isLogBeingPrepared, !isBusy(.answers) else { return false }
        isLogBeingPrepared = true
        return true
    }

    /// Notes that the log has restarted.
    func endLog() {
        isLogBeingPrepared = false
        isLogReady = true
    }

    /// Notes that a snapshot was closed.
    ///
    /// - Parameter logSize: The bytes of the log; nil after the end.
    func noteSnapshotClosed(logSize: Int?) {
        if let logSize, logSize > Self.largestLog { isLogReady = false }
        let waiting = waitingForRest
        waitingForRest = []
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until no snapshot is open.
    ///
    /// During a flush, no new snapshot is taken.
    nonisolated(nonsending) func snapshotsClosed() async {
        await withCheckedContinuation { continuation in
            guard isBusy(.answers) else { return continuation.resume() }
            waitingForRest.append(continuation)
        }
    }
}
