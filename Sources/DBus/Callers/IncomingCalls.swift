// Invariants
//
// 1. Every received call is carried out or refused, or dropped with its connection. The schedule
//    knows all waiting calls.
// 2. If an unidentified caller has waiting calls, a question about it is in flight, or a timer is
//    set to ask. Exceptions: its first call was postponed or is carried out on another thread, or
//    all calls are held.
// 3. If a caller has a turn and its link accepts calls, a turn of the loop is due. If a process
//    rests, a timer is set for the end of the rest.

/// A received call that waits.
///
/// It belongs to the loop's thread, as its message does.
final class WaitingCall {
    let message: Message

    init(_ message: consuming Message) {
        self.message = message
    }
}

/// The received calls of a service: which of them wait, and when each is carried out.
///
/// All connections of the service share it. So its calls have one order of turns, and a process has
/// the same share of the loop with connections to the bus and to the service itself.
///
/// It belongs to the loop's thread.
final class IncomingCalls {
    let loop: EventLoop
    var schedule = CallSchedule<WaitingCall>()
    var processes = ProcessTable<WaitingCall>()
    /// The place of the bus; nil if it is unknown.
    var busPlace: ProcessPlace?
    /// Finds out who calls.
    var examiner = ProcessExaminer()
    /// Returns the reason why a new caller may not call.
    var judge: @Sendable (PeerCredentials?) -> DBusError? = { _ in nil }
    /// The error that every call gets after the service has ended.
    var refusal: DBusError?
    /// How many bytes peers have sent of messages that they have not finished.
    var unfinished = 0
    /// How much peers may take up.
    var bounds = PeerBounds()
    /// Gives the time in place of the loop; for tests in which time passes during a call.
    var otherTime: (() -> SuspendingClock.Instant)?

    /// The connections whose reading stops when too much waits.
    private var connections: [ObjectIdentifier: WeakConnection] = [:]
    private var isPaused = false
    /// The callers whose first call was postponed, in that order.
    private var putOff: [Caller<WaitingCall>] = []
    /// How many calls are carried out on other threads.
    private var detached = 0
    /// Whether a turn of the loop for waiting calls is due.
    private var isTurnDue = false
    /// Fires when the first rest ends.
    private var restTimer: EventLoop.Timer?
    /// Those who wait until no call waits.
    private var ends: [CheckedContinuation<Void, Never>] = []

    /// How long one turn of the loop may carry out waiting calls, before new messages are read.
    private static let turn = Duration.microseconds(200)

    private struct WeakConnection {
        weak var connection: Connection?
    }

    init(on loop: EventLoop) {
        self.loop = loop
    }

    /// The time by which calls take turns.
    func now() -> SuspendingClock.Instant {
        guard let otherTime else { return loop.now }
        return otherTime()
    }

    /// Takes a received call.
    func admit(_ message: borrowing Message, of caller: Caller<WaitingCall>) {
        if schedule.isDue(caller, at: now()) {
            carryOut(message, of: caller, inTurn: false)
        } else {
            wait(Message(retaining: message.pointer), of: caller)
        }
    }

    private func carryOut(
        _ message: borrowing Message, of caller: Caller<WaitingCall>, inTurn: Bool
    ) {
        guard let connection = caller.connection else { return }
        let start = now()
        connection.serve(message, from: caller)
        let end = now()
        schedule.note(end - start, of: caller, inTurn: inTurn, at: end)
    }
}

// MARK: Waiting

extension IncomingCalls {
    private func wait(_ message: consuming Message, of caller: Caller<WaitingCall>) {
        let load = Self.load(of: message)
        let call = WaitingCall(message)
        guard makeRoom(for: load, of: caller) else {
            return refuse(call, of: caller, .tooMuchWaits)
        }
        schedule.add(call, load, of: caller)
        proceed(with: caller)
        updatePause()
    }

    private static func load(of message: borrowing Message) -> CallSchedule<WaitingCall>.Load {
        .init(size: message.size, hasDescriptors: message.hasDescriptors)
    }

    /// Makes room for one more call.
    ///
    /// Calls are carried out until there is room. If no caller has a turn, the caller with the most
    /// waiting calls gets an error for one of them.
    ///
    /// - Returns: Whether there is room. There is none if the new call is the one to refuse.
    private func makeRoom(
        for load: CallSchedule<WaitingCall>.Load, of newcomer: Caller<WaitingCall>
    ) -> Bool {
        while !schedule.hasRoom(for: load) {
            if takeTurn() || schedule.endRests(at: nil) { continue }
            let payer = schedule.greediest(adding: load, of: newcomer)
            guard schedule.isFull, payer !== newcomer, let last = schedule.takeLast(of: payer)
            else { return false }
            refuse(last, of: payer, .tooMuchWaits)
        }
        return true
    }

    /// Takes the next step for a caller with waiting calls: gives it a turn, or asks the bus about
    /// it.
    func proceed(with caller: Caller<WaitingCall>) {
        guard caller.place.hasCalls, let connection = caller.connection, connection.isServing
        else { return }
        if caller.isOpen {
            schedule.giveTurn(to: caller)
            takeTurnsSoon()
        } else if !schedule.isHeld, !caller.isPutOff {
            connection.inquire(about: caller)
        }
    }

    private func refuse(
        _ call: WaitingCall, of caller: Caller<WaitingCall>, _ error: DBusError
    ) {
        guard call.message.isReplyExpected, caller.replies.takeRefusal() else { return }
        caller.connection?.sendError(error, to: call.message, from: caller)
    }

    func refuseAll(of caller: Caller<WaitingCall>, _ error: DBusError) {
        while let call = schedule.takeFirst(of: caller) { refuse(call, of: caller, error) }
        noteCallsTaken()
    }

    /// Drops the waiting calls of callers whose connection has ended.
    func drop(callsOf callers: some Sequence<Caller<WaitingCall>>) {
        let dropped = Array(callers)
        for caller in dropped {
            while schedule.takeFirst(of: caller) != nil {}
        }
        putOff.removeAll { caller in dropped.contains { $0 === caller } }
        noteCallsTaken()
    }
}

/// Calls that arrive before the program can carry them out.
extension IncomingCalls {
    /// Carries out calls again that were held, the waiting ones first.
    func release() {
        guard schedule.isHeld else { return }
        schedule.isHeld = false
        for caller in Array(schedule.waitingCallers) { proceed(with: caller) }
        takeTurnsSoon()
        updatePause()
    }

    /// Waits until no call waits, and none is carried out on another thread.
    ///
    /// - Parameter isOver: Whether nobody waits for answers any more.
    func whenCarriedOut(
        isOver: Bool, resume continuation: CheckedContinuation<Void, Never>
    ) {
        if isOver || areCarriedOut {
            continuation.resume()
        } else {
            ends.append(continuation)
        }
    }

    private var areCarriedOut: Bool { schedule.count == 0 && detached == 0 }

    /// Notes that a call no longer waits.
    private func noteCallsTaken() {
        updatePause()
        if areCarriedOut { endWaits() }
    }

    /// Lets those go on who wait until no call waits.
    func endWaits() {
        guard !ends.isEmpty else { return }
        let ends = ends
        self.ends = []
        for end in ends { end.resume() }
    }

    /// Adds a connection that stops reading when too many calls are held.
    func add(_ connection: Connection) {
        connections[ObjectIdentifier(connection)] = WeakConnection(connection: connection)
        connection.setPaused(isPaused)
    }

    func remove(_ connection: ObjectIdentifier) {
        connections[connection] = nil
    }

    /// All connections.
    var openConnections: some Sequence<Connection> { connections.values.compactMap(\.connection) }

    /// Stops reading or continues, as ``Connection/holdCalls()`` says.
    private func updatePause() {
        let isPaused = schedule.isHeld && schedule.isFull
        guard isPaused != self.isPaused else { return }
        self.isPaused = isPaused
        for entry in connections.values { entry.connection?.setPaused(isPaused) }
    }
}

/// Calls whose handler finds that they cannot be carried out yet.
extension IncomingCalls {
    /// Puts a call back before the others of its caller, which wait with it.
    ///
    /// All other callers are served meanwhile.
    func postpone(_ message: consuming Message, of caller: Caller<WaitingCall>) {
        let load = Self.load(of: message)
        schedule.putBack(WaitingCall(message), load, of: caller)
        guard !caller.isPutOff else { return }
        caller.isPutOff = true
        putOff.append(caller)
        updatePause()
    }

    /// Carries out the postponed calls, in their order, and those that wait after them.
    func resumePostponed() {
        let callers = putOff
        putOff = []
        for caller in callers {
            caller.isPutOff = false
            proceed(with: caller)
        }
    }

    /// Makes further calls of a caller wait while one is carried out on another thread.
    func noteDetached(_ caller: Caller<WaitingCall>) {
        caller.isPutOff = true
        detached += 1
    }

    /// Lets a caller continue after the answer to a call that was carried out on another thread.
    ///
    /// - Parameter answer: Answers the call, or puts it back.
    func endDetached(_ caller: Caller<WaitingCall>, _ answer: () -> Void) {
        caller.isPutOff = false
        answer()
        detached -= 1
        proceed(with: caller)
        noteCallsTaken()
    }
}

/// The carrying out of waiting calls.
extension IncomingCalls {
    /// Notes that a link has passed on all that it had read, and accepts calls.
    func noteDispatched() {
        schedule.noteDrained()
        takeTurnsSoon()
    }

    /// Carries out calls that waited when what has come meanwhile has been read.
    private func takeTurnsSoon() {
        guard schedule.hasTurns, !isTurnDue else { return }
        isTurnDue = true
        // It is used on this thread.
        nonisolated(unsafe) let calls = self
        loop.perform { calls.takeTurns() }
    }

    private func takeTurns() {
        isTurnDue = false
        let start = now()
        while takeTurn(), now() - start < Self.turn {}
        takeTurnsSoon()
        awaitRestEnd()
    }

    /// Has those go on who rest when they have rested.
    private func awaitRestEnd() {
        guard restTimer == nil, let end = schedule.nextRestEnd else { return }
        // It is used on this thread.
        nonisolated(unsafe) let calls = self
        restTimer = loop.schedule(after: end - now()) {
            calls.restTimer = nil
            calls.schedule.endRests(at: calls.now())
            calls.takeTurnsSoon()
            calls.awaitRestEnd()
        }
    }

    /// Carries out one call that waited.
    ///
    /// - Returns: Whether there was one that may be carried out.
    private func takeTurn() -> Bool {
        let now = now()
        while let caller = schedule.takeTurn(at: now) {
            guard let connection = caller.connection, connection.isServing else { continue }
            guard !connection.isBacklogged else {
                connection.noteStalled(caller)
                continue
            }
            guard caller.isOpen else {
                proceed(with: caller)
                continue
            }
            guard let call = schedule.takeFirst(of: caller) else { continue }
            carryOut(call.message, of: caller, inTurn: true)
            connection.holdIfFull()
            proceed(with: caller)
            noteCallsTaken()
            return true
        }
        return false
    }
}

/// The callers of one connection.
struct KnownCallers {
    var table = CallerTable<WaitingCall>()
    /// The one caller if there is no bus.
    var peer: Caller<WaitingCall>?
    /// The callers that have a turn when enough has been written.
    var stalled: [Caller<WaitingCall>] = []
    /// Whether the service wants the credentials of a new caller.
    var areIdentified = false
    /// Whether the bus shows the match rules of its connections.
    var areRulesShown = true
    /// Whether the bus can say how much is unread.
    var areRepliesMeasured = true
    /// How much of everything that was sent is unread.
    var unreadTotal = UnreadTotal()
    /// How long calls wait for a caller to read its replies before they are refused.
    var patience = UnreadReplies.patience
    /// How long the bus may take to answer a question about callers.
    var questionTimeout = Duration.seconds(25)

    /// All callers.
    var all: [Caller<WaitingCall>] { peer.map { [$0] } ?? Array(table.all) }

    mutating func caller(
        of message: borrowing Message, on connection: Connection
    ) -> Caller<WaitingCall>? {
        if let peer { return peer }
        guard let name = message.sender else { return nil }
        return caller(named: name, on: connection)
    }

    mutating func caller(named name: BusName, on connection: Connection) -> Caller<WaitingCall> {
        table.caller(named: name) { [areIdentified, allowance, patience] in
            let caller = Caller<WaitingCall>(
                $0, areIdentified ? .unknown : .known(nil),
                UnreadReplies(allowance: allowance, patience: patience))
            caller.connection = connection
            return caller
        }
    }

    /// How many bytes a caller may leave unread.
    private var allowance: Int {
        unreadTotal.level == .low ? UnreadReplies.allowance : UnreadReplies.smallAllowance
    }

    /// Updates how much is unread in total, and with it the allowance of each caller.
    mutating func updateUnreadTotal(_ body: (inout UnreadTotal) -> Void) {
        let before = allowance
        body(&unreadTotal)
        guard allowance != before else { return }
        for caller in table.all { caller.replies.allowance = allowance }
    }
}
