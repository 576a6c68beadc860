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
    public func resumePostponedCalls() {
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
