import DBus

/// Thrown if a call has to wait for the thread that carries out long ones.
struct LaneAwaited: Error {}

/// The threads that carry out calls that would block the loop for long.
///
/// Invariants:
/// 1. Each lane carries out one call at a time. Other calls wait in the loop. It counts them, and the
///    processes that call take turns.
/// 2. An answer is made from a snapshot that was taken on the loop, so that it is of one generation.
/// 3. While a snapshot is open, the store is not replaced and the database is not closed. No snapshot is
///    taken while a flush is under way: otherwise a series of callers could keep the log from ever
///    restarting. The next flush waits until a long call has had its turn.
struct LongCalls {
    /// From how many keys on an answer is long: each takes some 10 microseconds.
    static let fewKeys = 512
    /// From how many bytes on the conversion of a value is long: 64 KiB take some milliseconds.
    static let fewBytes = 64 << 10
    /// How far the log may grow while answers are read: 16 MiB.
    static let largestLog = 16 << 20

    /// What a thread of its own is for.
    enum Lane: CaseIterable {
        /// Reading many keys from a snapshot.
        case answers
        /// Turning a large value into an archive and the reverse, and checking a large archive.
        case conversions
    }

    /// Started at the first long call: most daemons never need one.
    private var threads: [Lane: EventLoop] = [:]
    private var busy: Set<Lane> = []
    /// Whether calls that wait for a lane were put back.
    var isAwaited = false
    /// Whether the next flush waits for the turn of the long calls that the last one kept waiting.
    var isBeforeFlush = false
    /// Whether the log may be read for long: nothing is left in it that the next flush must remove.
    var isLogReady = false
    var isLogBeingPrepared = false
    /// What waits until no snapshot is open.
    var waitingForRest: [CheckedContinuation<Void, Never>] = []

    func isBusy(_ lane: Lane) -> Bool { busy.contains(lane) }

    var isAnyBusy: Bool { !busy.isEmpty }

    /// Takes a lane.
    ///
    /// - Returns: The loop of its thread.
    /// - Throws: `DBusError` if the system has no thread left.
    mutating func begin(_ lane: Lane) throws(DBusError) -> EventLoop {
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

    /// Gives a lane back.
    mutating func end(_ lane: Lane) {
        busy.remove(lane)
    }
}
