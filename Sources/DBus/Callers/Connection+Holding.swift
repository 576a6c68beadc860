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
    public func holdCalls() {
        calls.schedule.isHeld = true
    }

    /// Has calls carried out again, those first that waited.
    public func releaseCalls() {
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
    public func callsCarriedOut() async {
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
