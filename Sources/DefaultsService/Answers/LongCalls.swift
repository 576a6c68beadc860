import DBus
import DefaultsModel
import DefaultsStorage
import Logging

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

/// Calls that do a part of their work on another thread.
///
/// Further calls of the same caller wait meanwhile, so that they are carried out in their order. Those of
/// others go on.
extension DefaultsObject {
    /// Does a part of a call on another thread, and goes on here after that.
    ///
    /// - Parameters:
    ///   - work: What the other thread does: it may read the arguments and write the reply.
    ///   - conclude: What is done on the loop with the result. It may answer, as a handler does.
    /// - Throws: ``LaneAwaited`` if another call uses the lane.
    func carryOutAside<Part: Sendable>(
        _ call: MethodCall, in lane: LongCalls.Lane,
        _ work: @escaping @Sendable (DetachedCall) throws -> Part,
        then conclude:
            @escaping @Sendable (isolated DefaultsObject, MethodCall, DetachedCall, Part) throws ->
            Void
    ) throws {
        guard !longCalls.isBusy(lane) else { throw awaitLane() }
        let detached = try call.detach()
        let thread: EventLoop
        do {
            thread = try longCalls.begin(lane)
        } catch {
            return detached.end { $0.fail(error) }
        }
        let loop = connection.loop
        thread.perform {
            let part = Result { try work(detached) }
            loop.perform {
                self.assumeIsolated { $0.end(lane, detached, part, then: conclude) }
            }
        }
    }

    private func end<Part: Sendable>(
        _ lane: LongCalls.Lane, _ detached: DetachedCall, _ part: Result<Part, any Error>,
        then conclude: (isolated DefaultsObject, MethodCall, DetachedCall, Part) throws -> Void
    ) {
        longCalls.end(lane)
        // Calls that wait for the lane come before the next call of this caller.
        resumeLongCalls()
        detached.end { call in
            guard !disk.hasEnded else { return call.fail(Self.hasEnded) }
            do {
                try attempt(call) { try conclude(self, call, detached, part.get()) }
            } catch {
                if !call.isAnswered { call.fail(error) }
            }
        }
        tidySoon()
        if lane == .answers { noteSnapshotClosed() }
    }

    /// Carries out again the long calls that were put back.
    func resumeLongCalls() {
        guard longCalls.isAwaited else { return }
        longCalls.isAwaited = false
        connection.assumeIsolated { $0.resumePostponedCalls() }
    }

    private func awaitLane() -> LaneAwaited {
        longCalls.isAwaited = true
        return LaneAwaited()
    }
}

/// Answers that are read from the database.
extension DefaultsObject {
    /// Answers a call with what can be read at this moment: at once, or on another thread if that takes
    /// long.
    ///
    /// - Parameter write: Writes the reply.
    /// - Throws: As the closure, and ``LaneAwaited``.
    func answer(
        _ call: MethodCall, isLong: Bool,
        _ write: @escaping @Sendable (DomainReading, inout MessageWriter) throws -> Void
    ) throws {
        guard isLong, call.isReplyExpected, let snapshot = try makeSnapshot() else {
            let reading = DomainReading(of: database.view, on: hosts)
            defer { note(reading.damage) }
            // If a damaged value is read, the call comes again after the repair.
            return try call.replyIfWritten { try write(reading, &$0) }
        }
        let hosts = hosts
        do {
            try carryOutAside(call, in: .answers) { detached in
                defer { snapshot.close() }
                let reading = DomainReading(of: snapshot.view, on: hosts)
                let outcome = Result { try detached.write { try write(reading, &$0) } }
                return (outcome, damage: reading.damage)
            } then: { object, _, detached, part in
                object.note(part.damage)
                try part.0.get()
                try detached.sendReply()
            }
        } catch {
            snapshot.close()
            throw error
        }
    }

    /// Takes a snapshot of the database; nil if a second connection cannot be opened.
    ///
    /// - Throws: ``LaneAwaited`` if no snapshot may be taken now.
    private func makeSnapshot() throws -> DatabaseSnapshot? {
        if !longCalls.isLogReady { prepareLog() }
        guard !longCalls.isBusy(.answers), longCalls.isLogReady, disk.isAtRest else {
            throw awaitLane()
        }
        return try? database.snapshot()
    }

    /// Restarts the log now, because a later flush would have to wait for the snapshot to close.
    private func prepareLog() {
        guard !longCalls.isLogBeingPrepared, !longCalls.isBusy(.answers) else { return }
        longCalls.isLogBeingPrepared = true
        Task(executorPreference: connection.loop) { await self.beginLog() }
    }

    private func beginLog() async {
        // If the disk refuses, the next flush tries again, and waits for the snapshot.
        try? await writer.beginLog()
        longCalls.isLogBeingPrepared = false
        longCalls.isLogReady = true
        resumeLongCalls()
    }

    private func noteSnapshotClosed() {
        if !disk.hasEnded, database.logSize > LongCalls.largestLog {
            longCalls.isLogReady = false
        }
        let waiting = longCalls.waitingForRest
        longCalls.waitingForRest = []
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until no snapshot is open; none is taken while a flush is under way.
    func snapshotsClosed() async {
        guard longCalls.isBusy(.answers) else { return }
        await withCheckedContinuation { longCalls.waitingForRest.append($0) }
    }

    /// Logs the damaged values that were left out of an answer, and begins the repair.
    private func note(_ damage: [StorageError]) {
        for error in damage {
            logger.warning("\(error)")
            repair(because: error.description)
        }
    }
}
