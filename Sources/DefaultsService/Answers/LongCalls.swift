import DBus
import DefaultsModel
import DefaultsStorage
import Logging

/// Thrown if a call has to wait for a lane.
struct LaneAwaited: Error {}

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
struct LongCalls {
    /// An answer with more keys than this is long: each key takes about 10 microseconds.
    static let fewKeys = 512
    /// The conversion of a value of more bytes than this is long: 64 KiB take some milliseconds.
    static let fewBytes = 64 << 10
    /// The most bytes that the log may reach while answers are read: 16 MiB.
    static let largestLog = 16 << 20

    /// What a thread is for.
    enum Lane: CaseIterable {
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
    var isAwaited = false
    /// Whether the next flush waits for the long calls that the last flush kept waiting.
    var isBeforeFlush = false
    /// Whether a snapshot may be open for long: the log has nothing that the next flush must
    /// remove.
    var isLogReady = false
    var isLogBeingPrepared = false
    /// Who waits until no snapshot is open.
    var waitingForRest: [CheckedContinuation<Void, Never>] = []

    func isBusy(_ lane: Lane) -> Bool { busy.contains(lane) }

    var isAnyBusy: Bool { !busy.isEmpty }

    /// Takes a lane for a call.
    ///
    /// - Returns: The loop of its thread.
    /// - Throws: `DBusError` if the system cannot start another thread.
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

    /// Releases a lane.
    mutating func end(_ lane: Lane) {
        busy.remove(lane)
    }
}

/// Calls that do a part of their work on another thread.
///
/// Meanwhile, further calls of the same caller wait, so that they are carried out in order. The
/// calls of others do not wait.
extension DefaultsObject {
    /// Does a part of a call on another thread, and continues on the loop after that.
    ///
    /// - Parameters:
    ///   - work: Runs on the other thread. It may read the arguments and write the reply.
    ///   - conclude: Runs on the loop with the result. It may reply, as a handler does.
    /// - Throws: ``LaneAwaited`` if another call uses the lane.
    func runOnLane<Part: Sendable>(
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
        returnMemorySoon()
        if lane == .answers { noteSnapshotClosed() }
    }

    /// Resumes the long calls that were postponed.
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
    /// Answers a call with what can be read at this moment.
    ///
    /// It is done at once, or on another thread if it takes long.
    ///
    /// - Parameter write: Writes the reply.
    /// - Throws: The errors of the closure, and ``LaneAwaited``.
    func answer(
        _ call: MethodCall, isLong: Bool,
        _ write: @escaping @Sendable (DomainReading, inout MessageWriter) throws -> Void
    ) throws {
        guard isLong, call.isReplyExpected, let snapshot = try makeSnapshot() else {
            let reading = DomainReading(of: view(for: call), on: hosts)
            defer { note(reading.damage) }
            // If a damaged value is read, the call is repeated after the repair.
            return try call.replyIfWritten { try write(reading, &$0) }
        }
        let hosts = hosts
        let scope = scope(of: call.credentials)
        do {
            try runOnLane(call, in: .answers) { detached in
                defer { snapshot.close() }
                let reading = DomainReading(of: snapshot.view.limited(to: scope), on: hosts)
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

    /// Restarts the log now, because otherwise a later flush would have to wait for the snapshot to
    /// close.
    private func prepareLog() {
        guard !longCalls.isLogBeingPrepared, !longCalls.isBusy(.answers) else { return }
        longCalls.isLogBeingPrepared = true
        Task(executorPreference: connection.loop) { await self.beginLog() }
    }

    private func beginLog() async {
        // If the disk refuses, the next flush retries, and waits for the snapshot.
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

    /// Waits until no snapshot is open.
    ///
    /// During a flush, no new snapshot is taken.
    func snapshotsClosed() async {
        await withCheckedContinuation { continuation in
            guard longCalls.isBusy(.answers) else { return continuation.resume() }
            longCalls.waitingForRest.append(continuation)
        }
    }

    /// Logs the damaged values that were left out of an answer, and starts the repair.
    private func note(_ damage: [StorageError]) {
        for error in damage {
            logger.warning("\(error)")
            requestRepair(because: error.description)
        }
    }
}
