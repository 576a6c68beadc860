// Invariants
//
// 1. The calls of one caller are carried out in the order in which they came.
// 2. A call waits only where an earlier one of its caller does, where its caller is not open, where
//    its process keeps the loop busy or rests, or where all calls are held.
// 3. Between two calls of a process that waits for its turn, every other one that does has had one,
//    and between two calls of a caller every other one of its process.
// 4. What waits is counted: when the schedule is full, room is made before a call is added. One that
//    is put back has had room before.
// 5. Where nobody waits a call passes without anything being allocated for it.
// 6. A process that has had its `grace` in calls longer than `longCall` rests after each further one,
//    while others make shorter ones: so of those hardly one in a hundred meets a long call, however
//    many one process makes. Where nobody else calls, and where room is needed, it does not.

/// Which call is next: whose must wait, and who has the next turn.
///
/// It knows no bus, and no clock but by the times that it is given. Callers come in by reference and
/// are kept while calls of theirs wait.
struct CallSchedule<Call> {
    typealias Instant = SuspendingClock.Instant

    /// What of the bound a call takes up.
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

    /// How long the calls of one process may keep the loop until others go first.
    static var allowance: Duration { .microseconds(300) }

    /// For how long after a call somebody is taken to make more.
    static var attention: Duration { .milliseconds(250) }

    /// Whether all calls wait.
    var isHeld = false
    var count = 0
    var size = 0
    var withDescriptors = 0
    let bounds: Bounds

    var waiting: [ObjectIdentifier: Caller<Call>] = [:]
    /// Those whose calls may be carried out, by turns.
    var turns = Queue<CallerProcess<Call>>()
    /// Those who rest, with calls that may be carried out then.
    var resting: [CallerProcess<Call>] = []
    /// When each of the last two processes that made a short call did so; the later one first.
    var shortCalls: [(process: ObjectIdentifier, time: Instant)] = []
    /// A new one begins when nobody waits for a turn, or when those who do have had as much time as
    /// the others may have taken before them.
    var period: UInt64 = 1
    var usedByTurns = Duration.zero

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

    /// When the first of those who rest has rested.
    var nextRestEnd: Instant? { resting.compactMap(\.restEnd).min() }

    /// The callers of which calls wait, in no order.
    var waitingCallers: some Collection<Caller<Call>> { waiting.values }

    /// Whether a call that comes now is carried out at once.
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
