/// The calls that wait, which are counted.
extension CallSchedule {
    /// Has a call wait.
    mutating func add(_ call: Call, _ load: Load, of caller: Caller<Call>) {
        caller.place.calls.append((call, load))
        noteAdded(load, to: caller)
    }

    /// Has a call wait that was taken out, before all others of its caller.
    mutating func putBack(_ call: Call, _ load: Load, of caller: Caller<Call>) {
        caller.place.calls.prepend((call, load))
        noteAdded(load, to: caller)
    }

    private mutating func noteAdded(_ load: Load, to caller: Caller<Call>) {
        if caller.place.calls.count == 1 { waiting[ObjectIdentifier(caller)] = caller }
        caller.place.size += load.size
        caller.process.waiting += 1
        caller.process.waitingSize += load.size
        (count, size) = (count + 1, size + load.size)
        if load.hasDescriptors { withDescriptors += 1 }
    }

    /// Takes out the first call of a caller.
    mutating func takeFirst(of caller: Caller<Call>) -> Call? {
        note(caller.place.calls.popFirst(), takenFrom: caller)
    }

    /// Takes out the last call of a caller.
    mutating func takeLast(of caller: Caller<Call>) -> Call? {
        note(caller.place.calls.popLast(), takenFrom: caller)
    }

    private mutating func note(
        _ taken: (call: Call, load: Load)?, takenFrom caller: Caller<Call>
    ) -> Call? {
        guard let (call, load) = taken else { return nil }
        caller.place.size -= load.size
        caller.process.waiting -= 1
        caller.process.waitingSize -= load.size
        (count, size) = (count - 1, size - load.size)
        if load.hasDescriptors { withDescriptors -= 1 }
        if !caller.place.hasCalls { waiting[ObjectIdentifier(caller)] = nil }
        return call
    }

    /// Notes whose connection a caller is, which is known only after calls of it wait.
    mutating func note(_ process: CallerProcess<Call>, of caller: Caller<Call>) {
        precondition(!caller.place.hasTurn, "A caller has a turn, and nobody knows who it is.")
        for (process, sign) in [(caller.process, -1), (process, 1)] {
            process.waiting += sign * caller.place.calls.count
            process.waitingSize += sign * caller.place.size
        }
        caller.process = process
    }

    /// Whose calls take up most of what may wait, a call that is yet to be added among them: of the
    /// process that takes up most the caller that does.
    ///
    /// Who fills the room pays for it, not the one that comes last.
    func greediest(adding load: Load, of newcomer: Caller<Call>) -> Caller<Call> {
        func portions(_ caller: Caller<Call>) -> (Double, Double) {
            let (place, process) = (caller.place, caller.process)
            let more = process === newcomer.process ? (1, load.size) : (0, 0)
            let own = caller === newcomer ? (1, load.size) : (0, 0)
            return (
                portion(process.waiting + more.0, process.waitingSize + more.1),
                portion(place.calls.count + own.0, place.size + own.1)
            )
        }
        var greediest = newcomer
        var largest = portions(newcomer)
        for caller in waiting.values {
            let portions = portions(caller)
            if portions > largest { (greediest, largest) = (caller, portions) }
        }
        return greediest
    }

    private func portion(_ count: Int, _ size: Int) -> Double {
        max(Double(count) / Double(bounds.calls), Double(size) / Double(bounds.size))
    }
}
