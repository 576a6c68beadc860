import DBus
import DefaultsCore
import DefaultsModel
import DefaultsStorage
import Logging

/// Calls that do a part of their work on another thread.
///
/// Meanwhile, further calls of the same caller wait, so that they are carried out in order. The
/// calls of others do not wait.
extension BusFace {
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
            @escaping @Sendable (BusFace, MethodCall, DetachedCall, Part) throws ->
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
        // This goes on on the loop's thread.
        nonisolated(unsafe) let face = self
        thread.perform {
            let part = Result { try work(detached) }
            loop.perform { face.end(lane, detached, part, then: conclude) }
        }
    }

    private func end<Part: Sendable>(
        _ lane: Lanes.Lane, _ detached: DetachedCall, _ part: Result<Part, any Error>,
        then conclude: (BusFace, MethodCall, DetachedCall, Part) throws -> Void
    ) {
        lanes.end(lane)
        // Calls that wait for the lane come before the next call of this caller.
        store.resumeLongCalls()
        detached.end { call in
            guard !store.hasEnded else { return call.fail(Service.hasEnded) }
            do {
                try attempt(call) { try conclude(self, call, detached, part.get()) }
            } catch {
                if !call.isAnswered { call.fail(refusal(for: error, of: call)) }
            }
        }
        settings.memory.returnSoon()
        if lane == .answers { store.noteSnapshotClosed() }
    }
}

/// Answers that are read from the database.
extension BusFace {
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
        guard isLong, call.isReplyExpected, let snapshot = try store.snapshot() else {
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
            } then: { face, _, detached, part in
                face.note(part.damage)
                try part.0.get()
                try detached.sendReply()
            }
        } catch {
            snapshot.close()
            throw error
        }
    }

    /// Logs the damaged values that were left out of an answer, and starts the repair.
    private func note(_ damage: [StorageError]) {
        for error in damage {
            logger.warning("\(error)")
            store.requestRepair(because: error.description)
        }
    }
}
