import Glibc
import SystemCalls

// Invariants
//
// 1. Every received call is carried out or refused, or dropped with the connection. The schedule
//    knows all waiting calls.
// 2. If an unidentified caller has waiting calls, a question about it is in flight, or a timer is
//    set to ask. Exceptions: its first call was postponed or is carried out on another thread, or
//    all calls are held.
// 3. If a caller has a turn and the link accepts calls, a turn of the loop is due. If a process
//    rests, a timer is set for the end of the rest.

extension Connection {
    /// Prepares for the one caller of a connection without a bus.
    func expectPeer() {
        calls.peer = Caller(nil, .known(nil))
    }

    /// Identifies callers: from now on, the calls of a new caller wait in their order for one
    /// answer of the bus, and ``MethodCall/credentials`` says who it is.
    ///
    /// Without a bus, the caller is the other end of the socket. If the bus does not say, the calls
    /// are carried out, and the handler decides what an unknown caller may do.
    ///
    /// - Parameter judge: Says why a caller may not call at all; nil if it may. It is called once
    ///   for each connection, on the loop's thread, before the first call. Every call of a refused
    ///   caller gets the error, whatever the object and the method.
    package func identifyCallers(
        refusing judge: @escaping @Sendable (PeerCredentials?) -> DBusError? = { _ in nil }
    ) {
        calls.judge = judge
        if let peer = calls.peer {
            identify(peer, as: link.socketCredentials)
        } else {
            calls.areIdentified = true
            // The bus answers in order, so this is known before anything about a caller.
            askWhereBusIs()
        }
    }

    func identify(_ caller: Caller<WaitingCall>, as credentials: PeerCredentials?) {
        var credentials = credentials
        if let place = credentials?.place {
            credentials?.isAtHome = place == ProcessPlace.own || place == calls.busPlace
        }
        caller.identify(as: credentials, refusal: calls.judge(credentials))
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
        guard let caller = calls.caller(of: message) else { return }
        if calls.table.takeRollCall() { askWhoIsThere() }
        if calls.schedule.isDue(caller, at: calls.now()) {
            carryOut(message, of: caller, inTurn: false)
        } else {
            wait(Message(retaining: message.pointer), of: caller)
        }
    }

    func carryOut(
        _ message: borrowing Message, of caller: Caller<WaitingCall>, inTurn: Bool
    ) {
        let start = calls.now()
        serve(message, from: caller)
        let end = calls.now()
        calls.schedule.note(end - start, of: caller, inTurn: inTurn, at: end)
    }
}

// MARK: Waiting

extension Connection {
    private func wait(_ message: consuming Message, of caller: Caller<WaitingCall>) {
        let load = load(of: message)
        let call = WaitingCall(message)
        guard makeRoom(for: load, of: caller) else {
            return refuse(call, of: caller, .tooMuchWaits)
        }
        calls.schedule.add(call, load, of: caller)
        proceed(with: caller)
        updatePause()
    }

    func load(of message: borrowing Message) -> CallSchedule<WaitingCall>.Load {
        .init(size: message.size, hasDescriptors: message.hasDescriptors)
    }

    /// Makes room for one more call: by carrying out calls, or, if nobody has a turn, by refusing a
    /// call of the caller with the most.
    ///
    /// - Returns: Whether there is room. There is none if the new call is the one to refuse.
    private func makeRoom(
        for load: CallSchedule<WaitingCall>.Load, of newcomer: Caller<WaitingCall>
    ) -> Bool {
        while !calls.schedule.hasRoom(for: load) {
            if takeTurn() || calls.schedule.endRests(at: nil) { continue }
            let payer = calls.schedule.greediest(adding: load, of: newcomer)
            guard calls.schedule.isFull, payer !== newcomer,
                let last = calls.schedule.takeLast(of: payer)
            else { return false }
            refuse(last, of: payer, .tooMuchWaits)
        }
        return true
    }

    /// Takes the next step for a caller with waiting calls: gives it a turn, or asks the bus about
    /// it.
    func proceed(with caller: Caller<WaitingCall>) {
        guard isOpen, caller.place.hasCalls else { return }
        if caller.isOpen {
            calls.schedule.giveTurn(to: caller)
            takeTurnsSoon()
        } else if !calls.schedule.isHeld, !caller.isPutOff {
            ask(about: caller)
        }
    }

    func refuse(_ call: WaitingCall, of caller: Caller<WaitingCall>, _ error: DBusError) {
        guard call.message.isReplyExpected, caller.replies.takeRefusal() else { return }
        sendError(error, to: call.message, from: caller)
    }

    func refuseAll(of caller: Caller<WaitingCall>, _ error: DBusError) {
        while let call = calls.schedule.takeFirst(of: caller) { refuse(call, of: caller, error) }
        noteCallsTaken()
    }
}

/// Calls that arrive before the program can carry them out.
extension Connection {
    /// From now on, every call waits in its order until ``releaseCalls()``.
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
        guard calls.schedule.isHeld else { return }
        calls.schedule.isHeld = false
        for caller in Array(calls.schedule.waitingCallers) { proceed(with: caller) }
        takeTurnsSoon()
        updatePause()
    }

    /// Waits until no call waits.
    ///
    /// A service that has lost its name can then end, because it has carried out all its calls.
    ///
    /// Calls on other threads (``MethodCall/detach()``) are waited for, but other calls that a
    /// handler has kept are not. It also returns when the connection has ended.
    package func callsCarriedOut() async {
        await withCheckedContinuation { continuation in
            if areCallsCarriedOut {
                continuation.resume()
            } else {
                calls.ends.append(continuation)
            }
        }
    }

    private var areCallsCarriedOut: Bool {
        !isOpen || calls.schedule.count == 0 && calls.detached == 0
    }

    /// Notes that a call no longer waits.
    func noteCallsTaken() {
        updatePause()
        guard areCallsCarriedOut, !calls.ends.isEmpty else { return }
        let ends = calls.ends
        calls.ends = []
        for end in ends { end.resume() }
    }

    /// Stops reading or continues, as ``holdCalls()`` says.
    func updatePause() {
        link.setPaused(
            calls.schedule.isHeld && calls.schedule.isFull && pendingCalls.isEmpty && isOpen)
    }

    /// Drops everything that waits, at the end.
    func dropCalls() {
        calls.putOff = []
        for caller in Array(calls.schedule.waitingCallers) {
            while calls.schedule.takeFirst(of: caller) != nil {}
        }
        calls.schedule.dropTurns()
        noteCallsTaken()
    }
}

/// Calls whose handler finds that they cannot be carried out yet.
extension Connection {
    /// Puts a call back before the others of its caller, which wait with it.
    ///
    /// All other callers are served meanwhile.
    func postpone(_ message: consuming Message, of caller: Caller<WaitingCall>) {
        let load = load(of: message)
        calls.schedule.putBack(WaitingCall(message), load, of: caller)
        guard !caller.isPutOff else { return }
        caller.isPutOff = true
        calls.putOff.append(caller)
        updatePause()
    }

    /// Carries out all calls that were postponed by ``MethodCall/postpone()``, in their order, and
    /// those that wait after them.
    package func resumePostponedCalls() {
        let callers = calls.putOff
        calls.putOff = []
        for caller in callers {
            caller.isPutOff = false
            proceed(with: caller)
        }
    }

    /// Makes further calls of a caller wait while one is carried out on another thread.
    func noteDetached(_ caller: Caller<WaitingCall>) {
        caller.isPutOff = true
        calls.detached += 1
    }

    /// Lets a caller continue after the answer to a call that was carried out on another thread.
    ///
    /// - Parameter answer: Answers the call, or puts it back.
    func endDetached(_ caller: Caller<WaitingCall>, _ answer: () -> Void) {
        caller.isPutOff = false
        answer()
        calls.detached -= 1
        proceed(with: caller)
        noteCallsTaken()
    }
}

/// The carrying out of waiting calls.
extension Connection {
    /// Carries out calls that waited when what has come meanwhile has been read.
    func takeTurnsSoon() {
        guard calls.schedule.hasTurns, !link.isBacklogged, !calls.isTurnDue else { return }
        calls.isTurnDue = true
        loop.perform { [weak self] in
            self?.assumeIsolated { $0.takeTurns() }
        }
    }

    private func takeTurns() {
        calls.isTurnDue = false
        let start = calls.now()
        while takeTurn(), calls.now() - start < IncomingCalls.turn {}
        takeTurnsSoon()
        awaitRestEnd()
    }

    /// Has those go on who rest when they have rested.
    private func awaitRestEnd() {
        guard calls.restTimer == nil, let end = calls.schedule.nextRestEnd else { return }
        calls.restTimer = loop.schedule(after: end - calls.now()) { [weak self] in
            self?.assumeIsolated { connection in
                connection.calls.restTimer = nil
                connection.calls.schedule.endRests(at: connection.calls.now())
                connection.takeTurnsSoon()
                connection.awaitRestEnd()
            }
        }
    }

    /// Carries out one call that waited.
    ///
    /// - Returns: Whether there was one that may be carried out.
    func takeTurn() -> Bool {
        let now = calls.now()
        while isOpen, !link.isBacklogged, let caller = calls.schedule.takeTurn(at: now) {
            guard caller.isOpen else {
                proceed(with: caller)
                continue
            }
            guard let call = calls.schedule.takeFirst(of: caller) else { continue }
            carryOut(call.message, of: caller, inTurn: true)
            link.holdIfFull()
            proceed(with: caller)
            noteCallsTaken()
            return true
        }
        return false
    }
}
