/// Calls that come while the program cannot carry them out yet.
extension Connection {
    /// Has every call that comes from now on wait, in its order, until ``releaseCalls()``.
    ///
    /// For a service that takes a name over before it can serve:
    ///
    /// ```swift
    /// await connection.holdCalls()
    /// guard try await connection.requestName(name, .replaceExisting) == .primaryOwner else { … }
    /// try await openTheDatabase()
    /// await connection.releaseCalls()
    /// ```
    ///
    /// When as much waits as may (64 MiB, 4096 calls), nothing more is read, so that the callers'
    /// further calls wait in the bus. A reply that the program itself waits for is behind them there:
    /// as long as one is due, reading goes on, and calls that find no room get `LimitsExceeded`.
    package func holdCalls() {
        calls.schedule.isHeld = true
    }

    /// Has calls carried out again, those first that waited.
    package func releaseCalls() {
        guard calls.schedule.isHeld else { return }
        calls.schedule.isHeld = false
        for caller in Array(calls.schedule.waitingCallers) { proceed(with: caller) }
        takeTurnsSoon()
        updatePause()
    }

    /// Waits until no call waits to be carried out, so that a service that has lost its name can end
    /// when it has carried out all that it was sent.
    ///
    /// Calls that are carried out on other threads (``MethodCall/detach()``) are waited for. Other
    /// calls that a handler has kept are the program's to wait for. Returns, too, when the connection has
    /// ended.
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

    /// Notes that a call does not wait any more.
    func noteCallsTaken() {
        updatePause()
        guard areCallsCarriedOut, !calls.ends.isEmpty else { return }
        let ends = calls.ends
        calls.ends = []
        for end in ends { end.resume() }
    }

    /// Reads no more, or goes on, as ``holdCalls()`` says.
    func updatePause() {
        link.setPaused(
            calls.schedule.isHeld && calls.schedule.isFull && pendingCalls.isEmpty && isOpen)
    }

    /// Lets go of everything that waits, at the end.
    func dropCalls() {
        calls.putOff = []
        for caller in Array(calls.schedule.waitingCallers) {
            while calls.schedule.takeFirst(of: caller) != nil {}
        }
        calls.schedule.dropTurns()
        noteCallsTaken()
    }
}

/// Calls that cannot be carried out yet, as what carries them out finds.
extension Connection {
    /// Puts a call back before the others of its caller, which wait with it; everybody else is served
    /// meanwhile.
    func postpone(_ message: consuming Message, of caller: Caller<WaitingCall>) {
        let load = load(of: message)
        calls.schedule.putBack(WaitingCall(message), load, of: caller)
        guard !caller.isPutOff else { return }
        caller.isPutOff = true
        calls.putOff.append(caller)
        updatePause()
    }

    /// Has all calls carried out again that were put back by ``MethodCall/postpone()``, in the order in
    /// which they were, and those that wait behind them.
    package func resumePostponedCalls() {
        let callers = calls.putOff
        calls.putOff = []
        for caller in callers {
            caller.isPutOff = false
            proceed(with: caller)
        }
    }

    /// Has further calls of a caller wait while one is carried out on another thread.
    func noteDetached(_ caller: Caller<WaitingCall>) {
        caller.isPutOff = true
        calls.detached += 1
    }

    /// Has a caller go on after the answer to a call that was carried out on another thread.
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

/// The carrying out of calls that waited.
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
