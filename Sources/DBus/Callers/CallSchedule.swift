// Invariants
//
// 1. The calls of one caller are carried out in the order in which they came.
// 2. A call waits only where an earlier one of its caller does, where its caller is not open, where
//    its caller keeps the loop busy, or where all calls are held.
// 3. Between two calls of a caller that waits for its turn, every other one has had one.
// 4. What waits is counted: when the schedule is full, room is made before a call is added. One that
//    is put back has had room before.
// 5. Where nobody waits a call passes without anything being allocated for it.

/// Which call is next: whose must wait, and who has the next turn.
///
/// It knows no bus and no clock. Callers come in by reference and are kept while calls of theirs
/// wait.
struct CallSchedule<Call> {
    /// What of the bound a call takes up.
    struct Load {
        /// Bytes of the message.
        var size: Int
        var hasDescriptors = false
    }

    /// A caller's place in the schedule.
    struct Place {
        fileprivate var calls = Queue<(call: Call, load: Load)>()
        fileprivate var size = 0
        fileprivate var hasTurn = false
        /// How long its calls have kept the loop in ``period``.
        fileprivate var used = Duration.zero
        fileprivate var period: UInt64 = 0

        var hasCalls: Bool { !calls.isEmpty }
    }

    /// How much may wait.
    struct Bounds {
        var size = MessageLimits.maximumWaitingSize
        var calls = MessageLimits.maximumWaitingCalls
        var withDescriptors = MessageLimits.maximumWaitingWithDescriptors
    }

    /// How long the calls of one caller may keep the loop until others go first.
    static var allowance: Duration { .milliseconds(1) }

    /// Whether all calls wait.
    var isHeld = false
    private(set) var count = 0
    private(set) var size = 0
    private var withDescriptors = 0
    private let bounds: Bounds

    private var waiting: [ObjectIdentifier: Caller<Call>] = [:]
    /// Those whose calls may be carried out, by turns.
    private var turns = Queue<Caller<Call>>()
    /// A new one begins when nobody waits for a turn, or when those who do have had as much time as
    /// the others may have taken before them.
    private var period: UInt64 = 1
    private var usedByTurns = Duration.zero

    init(bounds: Bounds = Bounds()) {
        self.bounds = bounds
    }

    var isFull: Bool { count >= bounds.calls || size >= bounds.size }

    /// Whether a call may be added: with room for a byte there is room for a message.
    func hasRoom(for load: Load) -> Bool {
        !isFull && (!load.hasDescriptors || withDescriptors < bounds.withDescriptors)
    }

    /// Whether somebody's turn has come.
    var hasTurns: Bool { !isHeld && !turns.isEmpty }

    /// The callers of which calls wait, in no order.
    var waitingCallers: some Collection<Caller<Call>> { waiting.values }

    /// Whether a call that comes now is carried out at once.
    func isDue(_ caller: Caller<Call>) -> Bool {
        !isHeld && !caller.place.hasCalls && caller.isOpen && !isBusy(caller)
    }

    private func isBusy(_ caller: Caller<Call>) -> Bool {
        caller.place.period == period && caller.place.used > Self.allowance
    }
}

// MARK: Waiting

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
        (count, size) = (count - 1, size - load.size)
        if load.hasDescriptors { withDescriptors -= 1 }
        if !caller.place.hasCalls { waiting[ObjectIdentifier(caller)] = nil }
        return call
    }

    /// Whose calls take up most of what may wait, a call that is yet to be added among them.
    ///
    /// A caller that fills the room pays for it, not the one that comes last.
    func greediest(adding load: Load, of newcomer: Caller<Call>) -> Caller<Call> {
        var greediest = newcomer
        var largest = share(newcomer.place.calls.count + 1, newcomer.place.size + load.size)
        for caller in waiting.values {
            let share = share(caller.place.calls.count, caller.place.size)
            if share > largest { (greediest, largest) = (caller, share) }
        }
        return greediest
    }

    private func share(_ count: Int, _ size: Int) -> Double {
        max(Double(count) / Double(bounds.calls), Double(size) / Double(bounds.size))
    }
}

// MARK: Turns

extension CallSchedule {
    /// Gives a caller a turn after all those that have one, where calls of it wait.
    mutating func giveTurn(to caller: Caller<Call>) {
        guard caller.place.hasCalls, !caller.place.hasTurn else { return }
        caller.place.hasTurn = true
        turns.append(caller)
    }

    /// The caller whose turn has come; it is given another one when this one is over.
    mutating func takeTurn() -> Caller<Call>? {
        guard !isHeld, let caller = turns.popFirst() else { return nil }
        caller.place.hasTurn = false
        return caller
    }

    /// Notes how long a call has kept the loop.
    ///
    /// - Parameter inTurn: Whether it had waited.
    mutating func note(_ time: Duration, of caller: Caller<Call>, inTurn: Bool) {
        if caller.place.period != period {
            (caller.place.period, caller.place.used) = (period, .zero)
        }
        caller.place.used += time
        guard inTurn else { return }
        usedByTurns += time
        if usedByTurns > Self.allowance { beginPeriod() }
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
