import DBus
import DefaultsModel
import DefaultsStorage
import Logging

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
        _ call: MethodCall, in lane: Lanes.Lane,
        _ work: @escaping @Sendable (DetachedCall) throws -> Part,
        then conclude:
            @escaping @Sendable (isolated DefaultsObject, MethodCall, DetachedCall, Part) throws ->
            Void
    ) throws {
        guard !lanes.isBusy(lane) else { throw lanes.wait() }
        let detached = try call.detach()
        let thread: EventLoop
        do {
            thread = try lanes.begin(lane)
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
        _ lane: Lanes.Lane, _ detached: DetachedCall, _ part: Result<Part, any Error>,
        then conclude: (isolated DefaultsObject, MethodCall, DetachedCall, Part) throws -> Void
    ) {
        lanes.end(lane)
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
        memory.returnSoon()
        if lane == .answers {
            lanes.noteSnapshotClosed(logSize: disk.hasEnded ? nil : database.logSize)
        }
    }

    /// Resumes the long calls that were postponed.
    func resumeLongCalls() {
        guard lanes.takeWaiting() else { return }
        connection.assumeIsolated { $0.resumePostponedCalls() }
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
        if !lanes.isLogReady { prepareLog() }
        guard !lanes.isBusy(.answers), lanes.isLogReady, disk.isAtRest else {
            throw lanes.wait()
        }
        return try? database.snapshot()
    }

    /// Restarts the log now, because otherwise a later flush would have to wait for the snapshot to
    /// close.
    private func prepareLog() {
        guard lanes.beginLog() else { return }
        Task(executorPreference: connection.loop) { await self.beginLog() }
    }

    private func beginLog() async {
        // If the disk refuses, the next flush retries, and waits for the snapshot.
        try? await writer.beginLog()
        lanes.endLog()
        resumeLongCalls()
    }

    /// Logs the damaged values that were left out of an answer, and starts the repair.
    private func note(_ damage: [StorageError]) {
        for error in damage {
            logger.warning("\(error)")
            requestRepair(because: error.description)
        }
    }
}
