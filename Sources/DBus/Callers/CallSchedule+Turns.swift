/// The turns of those whose calls wait, and the rests of those who have had much of the loop.
extension CallSchedule {
    /// Gives a caller a turn after all those that have one, where calls of it wait.
    mutating func giveTurn(to caller: Caller<Call>) {
        guard caller.place.hasCalls, !caller.place.hasTurn else { return }
        caller.place.hasTurn = true
        caller.process.turns.append(caller)
        giveTurn(to: caller.process)
    }

    private mutating func giveTurn(to process: CallerProcess<Call>) {
        guard !process.hasTurn, !process.turns.isEmpty else { return }
        process.hasTurn = true
        turns.append(process)
    }

    /// The caller whose turn has come; it is given another one when this one is over.
    mutating func takeTurn(at now: Instant) -> Caller<Call>? {
        while !isHeld, let process = turns.popFirst() {
            if rests(process, at: now) {
                resting.append(process)
                continue
            }
            process.hasTurn = false
            guard let caller = process.turns.popFirst() else { continue }
            giveTurn(to: process)
            caller.place.hasTurn = false
            return caller
        }
        return nil
    }

    /// Has those go on who have rested.
    ///
    /// - Parameter time: What time it is; nil where all are to go on, whatever the time.
    /// - Returns: Whether there were any.
    @discardableResult
    mutating func endRests(at time: Instant?) -> Bool {
        let before = resting.count
        for process in resting where time.map({ !rests(process, at: $0) }) ?? true {
            process.restEnd = nil
            turns.append(process)
        }
        resting.removeAll { $0.restEnd == nil }
        return resting.count < before
    }

    /// Takes all turns back, where calls are carried out no more.
    mutating func dropTurns() {
        while let process = turns.popFirst() { resting.append(process) }
        for process in resting { (process.turns, process.hasTurn) = (Queue(), false) }
        resting = []
    }

    /// Notes how long a call has kept the loop.
    ///
    /// - Parameters:
    ///   - inTurn: Whether it had waited.
    ///   - now: When it was over.
    mutating func note(_ time: Duration, of caller: Caller<Call>, inTurn: Bool, at now: Instant) {
        let process = caller.process
        process.note(time, in: period)
        if time > CallerProcess<Call>.longCall {
            process.noteLongCall(time, at: now)
        } else {
            noteShortCall(of: ObjectIdentifier(process), at: now)
        }
        guard inTurn else { return }
        usedByTurns += time
        if usedByTurns > Self.allowance { beginPeriod() }
    }

    private mutating func noteShortCall(of process: ObjectIdentifier, at now: Instant) {
        if shortCalls.first?.process != process {
            shortCalls.insert((process, now), at: 0)
            if shortCalls.count > 2 { shortCalls.removeLast() }
        } else {
            shortCalls[0].time = now
        }
    }

    /// Notes that all that came has been carried out or waits.
    mutating func noteDrained() {
        if turns.isEmpty { beginPeriod() }
    }

    private mutating func beginPeriod() {
        period &+= 1
        usedByTurns = .zero
    }
}
