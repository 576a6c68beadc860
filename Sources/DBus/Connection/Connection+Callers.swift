import Glibc
import SystemCalls

/// Who calls.
extension Connection {
    /// Prepares for the one caller of a connection without a bus.
    func expectPeer() {
        let peer = Caller<WaitingCall>(nil, .known(nil))
        peer.connection = self
        callers.peer = peer
        link.conduct?.unfinishedChanged = { [weak calls] in calls?.noteUnfinished($0) }
    }

    /// Identifies callers: from now on, the calls of a new caller wait in their order for one
    /// answer of the bus, and ``MethodCall/credentials`` says who it is.
    ///
    /// Without a bus, the caller is the other end of the socket. If the bus does not say, the calls
    /// are carried out, and the handler decides what an unknown caller may do.
    ///
    /// - Parameters:
    ///   - examiner: Finds out who a process is.
    ///   - judge: Says why a caller may not call at all; nil if it may. It is called once for each
    ///     connection, on the loop's thread, before the first call. Every call of a refused caller
    ///     gets the error, whatever the object and the method.
    package func identifyCallers(
        by examiner: ProcessExaminer = ProcessExaminer(),
        refusing judge: @escaping @Sendable (PeerCredentials?) -> DBusError? = { _ in nil }
    ) {
        calls.examiner = examiner
        calls.judge = judge
        if callers.peer != nil {
            identifyPeer(refusing: judge)
        } else {
            callers.areIdentified = true
            // The bus answers in order, so this is known before anything about a caller.
            askWhereBusIs()
        }
    }

    /// Identifies the other end of the socket, by what the kernel says.
    func identifyPeer(refusing judge: (PeerCredentials?) -> DBusError?) {
        guard let peer = callers.peer else { return }
        identify(peer, as: link.socketCredentials(by: calls.examiner), refusing: judge)
    }

    func identify(
        _ caller: Caller<WaitingCall>, as credentials: PeerCredentials?,
        refusing judge: (PeerCredentials?) -> DBusError?
    ) {
        var credentials = credentials
        if let place = credentials?.place {
            credentials?.isAtHome = place == ProcessPlace.own || place == calls.busPlace
        }
        caller.identify(as: credentials, refusal: judge(credentials))
        if let process = credentials?.processID {
            calls.schedule.note(calls.processes.process(process), of: caller)
        }
    }

    /// Whether nobody but this user, and root, can reach the bus: its socket is in a directory that is
    /// closed to all others.
    package var isBusPrivate: Bool {
        guard var path = link.peerPath?[...] else { return false }
        while let slash = path.lastIndex(of: "/") {
            path = path[..<slash]
            guard let status = FileStatus.ifAny(path.isEmpty ? "/" : String(path)) else {
                return false
            }
            if status.owner == geteuid(), status.mode & 0o077 == 0 { return true }
        }
        return false
    }

    /// Takes a received call.
    func admit(_ message: borrowing Message) {
        guard let caller = callers.caller(of: message, on: self) else { return }
        if callers.table.takeRollCall() { askWhoIsThere() }
        calls.admit(message, of: caller)
    }
}

// MARK: The calls of all connections

extension Connection {
    /// From now on, every call waits in its order until ``releaseCalls()``, on all connections of
    /// the service.
    ///
    /// For a service that takes over a name before it can serve:
    ///
    /// ```swift
    /// await connection.holdCalls()
    /// guard try await connection.requestName(name, .replaceExisting) == .primaryOwner else { … }
    /// try await openTheDatabase()
    /// await connection.releaseCalls()
    /// ```
    ///
    /// When the limit is reached (64 MiB, 4096 calls), nothing more is read, so further calls wait
    /// in the bus. A reply that the program itself waits for would wait there, too. So while one is
    /// due, reading continues, and calls without room get `LimitsExceeded`.
    package func holdCalls() {
        calls.schedule.isHeld = true
    }

    /// Carries out calls again, the waiting ones first.
    package func releaseCalls() {
        calls.release()
    }

    /// Waits until no call waits, on any connection of the service.
    ///
    /// A service that has lost its name can then end, because it has carried out all its calls.
    ///
    /// Calls on other threads (``MethodCall/detach()``) are waited for, but other calls that a
    /// handler has kept are not. It also returns when the connection has ended.
    package func callsCarriedOut() async {
        await withCheckedContinuation { calls.whenCarriedOut(isOver: !isOpen, resume: $0) }
    }

    /// Carries out all calls that were postponed by ``MethodCall/postpone()``, in their order, and
    /// those that wait after them.
    package func resumePostponedCalls() {
        calls.resumePostponed()
    }

    /// Drops everything that waits, at the end.
    func dropCalls() {
        calls.drop(callsOf: callers.all)
        for caller in callers.all { caller.endQuestion(nil) }
        calls.remove(ObjectIdentifier(self))
        callers.stalled = []
        if callers.peer == nil { calls.endWaits() }
    }

    /// Stops reading or continues.
    ///
    /// A connection that waits for a reply goes on reading.
    func updatePause() {
        link.setPaused(isPaused && pendingCalls.isEmpty && isOpen)
    }
}

/// What the calls of all connections need of each; on the loop's thread.
extension Connection {
    /// Whether calls are carried out for it.
    nonisolated var isServing: Bool { assumeIsolated { $0.isOpen } }

    /// Whether so much waits to be written that no call is carried out.
    nonisolated var isBacklogged: Bool { link.isBacklogged }

    /// Whether more waits to be written to a peer than it is sent without need.
    package var isPeerSlow: Bool { link.backlog > link.maximumBacklog }

    nonisolated func holdIfFull() { link.holdIfFull() }

    /// Notes a caller that has a turn when enough has been written.
    nonisolated func noteStalled(_ caller: Caller<WaitingCall>) {
        nonisolated(unsafe) let caller = caller
        assumeIsolated { $0.callers.stalled.append(caller) }
    }

    nonisolated func inquire(about caller: Caller<WaitingCall>) {
        nonisolated(unsafe) let caller = caller
        assumeIsolated { $0.ask(about: caller) }
    }

    nonisolated func setPaused(_ isPaused: Bool) {
        assumeIsolated { connection in
            connection.isPaused = isPaused
            connection.updatePause()
        }
    }

    /// Notes that everything that was read has been passed on, and calls are accepted.
    func noteDispatched() {
        if !callers.stalled.isEmpty {
            let stalled = callers.stalled
            callers.stalled = []
            for caller in stalled { calls.proceed(with: caller) }
        }
        calls.noteDispatched()
    }
}
