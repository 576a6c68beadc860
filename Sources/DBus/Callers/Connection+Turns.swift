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
