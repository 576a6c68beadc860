// Invariants
//
// 1. The calls of one caller are carried out in the order in which they came.
// 2. A call waits only if an earlier one of its caller does, if its caller is not open, if its
//    process uses the loop too much or rests, or if all calls are held.
// 3. Between two calls of a process that waits for its turn, every other waiting process has had a
//    turn. The same is true for the callers of a process.
// 4. Waiting calls are counted. When the schedule is full, room is made before a call is added. A
//    postponed call already had its room.
// 5. If nobody waits, a call passes without an allocation.
// 6. A process that has used up its `grace` with calls longer than `longCall` rests after each
//    further one, while others make shorter calls. So hardly one in a hundred of these waits for a
//    long call. It does not rest if nobody else calls, or if room is needed.

/// Decides which calls must wait, and which caller has the next turn.
///
/// It does not know the bus, and its caller tells it the time. It refers to callers only while they
/// have waiting calls.
struct CallSchedule<Call> {
    typealias Instant = SuspendingClock.Instant

    /// How much of the limit a call takes up.
    struct Load {
        /// Bytes of the message.
        var size: Int
        var hasDescriptors = false
    }

    /// A caller's place in the schedule.
    struct Place {
        var calls = Queue<(call: Call, load: Load)>()
        var size = 0
        var hasTurn = false

        var hasCalls: Bool { !calls.isEmpty }
    }

    /// How much may wait.
    struct Bounds {
        var size = MessageLimits.maximumWaitingSize
        var calls = MessageLimits.maximumWaitingCalls
        var withDescriptors = MessageLimits.maximumWaitingWithDescriptors
    }

    /// How long the calls of one process may use the loop before other processes have a turn.
    static var allowance: Duration { .microseconds(300) }

    /// How long after a call a process is expected to make more calls.
    static var attention: Duration { .milliseconds(250) }

    /// Whether all calls wait.
    var isHeld = false
    var count = 0
    var size = 0
    var withDescriptors = 0
    let bounds: Bounds

    var waiting: [ObjectIdentifier: Caller<Call>] = [:]
    /// The processes whose calls may run, in the order of their turns.
    var turns = Queue<CallerProcess<Call>>()
    /// The processes that rest, with calls that may be carried out after that.
    private var resting: [CallerProcess<Call>] = []
    /// The times of the last short calls of the last two processes that made one; the later one
    /// first.
    private var shortCalls: [(process: ObjectIdentifier, time: Instant)] = []
    /// A new period begins when nobody waits for a turn, or when the waiting processes have used as
    /// much time as the others could before.
    var period: UInt64 = 1
    private var usedByTurns = Duration.zero

    init(bounds: Bounds = Bounds()) {
        self.bounds = bounds
    }

    var isFull: Bool { count >= bounds.calls || size >= bounds.size }

    /// Whether a call may be added.
    ///
    /// If there is room for one byte, there is room for a message.
    func hasRoom(for load: Load) -> Bool {
        !isFull && (!load.hasDescriptors || withDescriptors < bounds.withDescriptors)
    }

    /// Whether a process has a turn now.
    var hasTurns: Bool { !isHeld && !turns.isEmpty }

    /// When the first rest ends.
    var nextRestEnd: Instant? { resting.compactMap(\.restEnd).min() }

    /// The callers with waiting calls, in no order.
    var waitingCallers: some Collection<Caller<Call>> { waiting.values }

    /// Whether a call that arrives now is carried out at once.
    func isDue(_ caller: Caller<Call>, at now: @autoclosure () -> Instant) -> Bool {
        !isHeld && !caller.place.hasCalls && caller.isOpen && !isBusy(caller.process)
            && !rests(caller.process, at: now())
    }

    private func isBusy(_ process: CallerProcess<Call>) -> Bool {
        process.time(in: period) > Self.allowance
    }

    func rests(_ process: CallerProcess<Call>, at now: @autoclosure () -> Instant) -> Bool {
        guard let end = process.restEnd else { return false }
        let now = now()
        return now < end
            && shortCalls.contains {
                $0.process != ObjectIdentifier(process) && now < $0.time + Self.attention
            }
    }
}

/// The turns of processes with waiting calls, and the rests of those that have used the loop too
/// much.
extension CallSchedule {
    /// Gives a caller a turn after all others, if it has waiting calls.
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

    /// The caller whose turn it is.
    ///
    /// It gets another turn when this one is over.
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

    /// Ends the rests that are over.
    ///
    /// - Parameter time: The current time; nil ends all rests.
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

    /// Records how long a call has used the loop.
    ///
    /// - Parameters:
    ///   - inTurn: Whether the call had waited.
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

    /// Notes that all received calls have run or are waiting.
    mutating func noteDrained() {
        if turns.isEmpty { beginPeriod() }
    }

    private mutating func beginPeriod() {
        period &+= 1
        usedByTurns = .zero
    }
}

/// The waiting calls, which are counted.
extension CallSchedule {
    /// Adds a waiting call.
    mutating func add(_ call: Call, _ load: Load, of caller: Caller<Call>) {
        caller.place.calls.append((call, load))
        noteAdded(load, to: caller)
    }

    /// Puts back a call that was taken out, before all others of its caller.
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

    /// Notes the process of a caller, which becomes known only while its calls wait.
    mutating func note(_ process: CallerProcess<Call>, of caller: Caller<Call>) {
        precondition(!caller.place.hasTurn, "A caller has a turn, and nobody knows who it is.")
        for (process, sign) in [(caller.process, -1), (process, 1)] {
            process.waiting += sign * caller.place.calls.count
            process.waitingSize += sign * caller.place.size
        }
        caller.process = process
    }

    /// The caller whose calls take up the most room, with a call that is about to be added: first
    /// the process with the most, then its caller with the most.
    ///
    /// The caller that fills the room pays for it, not the last one to call.
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
