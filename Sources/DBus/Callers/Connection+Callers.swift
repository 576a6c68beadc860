// Invariants
//
// 1. Every call that comes in is carried out or refused, or dropped with the connection, and what
//    waits is known to the schedule.
// 2. Where calls of a caller wait that is not open, the bus has been asked about it, or a timer is set
//    to ask, unless its first call was put back, or all calls are held.
// 3. Where somebody has a turn and the link takes calls, a turn of the loop is due; where somebody
//    rests, a timer is set for the end of that.

/// A call that came in and waits.
///
/// It belongs to the loop's thread, as its message does.
final class WaitingCall {
    let message: Message

    init(_ message: consuming Message) {
        self.message = message
    }
}

/// The calls that come in: who sends them, and which of them wait.
struct IncomingCalls {
    var schedule = CallSchedule<WaitingCall>()
    var table = CallerTable<WaitingCall>()
    /// The one caller where there is no bus.
    var peer: Caller<WaitingCall>?
    /// Whether a new caller's credentials are asked for.
    var areIdentified = false
    /// Whether the bus tells what waits to be read.
    var areRepliesMeasured = true
    /// What waits of all that was sent.
    var unreadTotal = UnreadTotal()
    /// How long calls wait for a caller to read its replies before they are refused.
    var patience = UnreadReplies.patience
    /// Those whose first call was put back, in the order in which it was.
    var putOff: [Caller<WaitingCall>] = []
    /// Whether a turn of the loop for calls that wait is due.
    var isTurnDue = false
    /// Goes off when the first of those who rest has rested.
    var restTimer: EventLoop.Timer?
    /// Those who wait until no call does.
    var ends: [CheckedContinuation<Void, Never>] = []
    /// How long the bus may take to answer what it is asked about callers.
    var questionTimeout = Duration.seconds(25)
    /// Tells the time.
    var now: () -> SuspendingClock.Instant = { SuspendingClock.now }

    /// How long one turn of the loop may carry out calls that waited, so that what comes meanwhile is
    /// read.
    static let turn = Duration.microseconds(200)

    mutating func caller(of message: borrowing Message) -> Caller<WaitingCall>? {
        if let peer { return peer }
        guard let name = message.sender else { return nil }
        return table.caller(named: name) { [areIdentified, allowance, patience] in
            Caller(
                $0, areIdentified ? .unknown : .known(nil),
                UnreadReplies(allowance: allowance, patience: patience))
        }
    }

    /// The bytes that a caller may leave unread.
    private var allowance: Int {
        unreadTotal.level == .low ? UnreadReplies.allowance : UnreadReplies.smallAllowance
    }

    /// Changes what was sent and not read, and what each caller may leave unread with it.
    mutating func updateUnreadTotal(_ body: (inout UnreadTotal) -> Void) {
        let before = allowance
        body(&unreadTotal)
        guard allowance != before else { return }
        for caller in table.all { caller.replies.allowance = allowance }
    }
}

extension Connection {
    /// Prepares for the one caller of a connection without a bus.
    func expectPeer() {
        calls.peer = Caller(nil, .known(nil))
    }

    /// Has callers identified: from now on the calls of a new one wait, in their order and for as
    /// long as the bus takes to answer once, and ``MethodCall/credentials`` tells who it is.
    ///
    /// Without a bus that is the other end of the socket. Where the bus does not tell, the calls are
    /// carried out, and it is for the handler to decide what an unknown caller may do.
    public func identifyCallers() {
        if let peer = calls.peer {
            peer.identity = .known(link.socketCredentials)
        } else {
            calls.areIdentified = true
        }
    }

    /// Takes a call that came in.
    func admit(_ message: borrowing Message) {
        guard let caller = calls.caller(of: message) else { return }
        if calls.schedule.isDue(caller, at: calls.now()) {
            carryOut(message, of: caller, inTurn: false)
        } else {
            wait(Message(retaining: message.pointer), of: caller)
        }
    }

    private func carryOut(
        _ message: borrowing Message, of caller: Caller<WaitingCall>, inTurn: Bool
    ) {
        let start = calls.now()
        serve(message, from: caller)
        let end = calls.now()
        calls.schedule.note(end - start, of: caller, inTurn: inTurn, at: end)
    }
}

// MARK: Waiting

extension Connection {
    private func wait(_ message: consuming Message, of caller: Caller<WaitingCall>) {
        let load = load(of: message)
        let call = WaitingCall(message)
        guard makeRoom(for: load, of: caller) else {
            return refuse(call, of: caller, .tooMuchWaits)
        }
        calls.schedule.add(call, load, of: caller)
        proceed(with: caller)
        updatePause()
    }

    func load(of message: borrowing Message) -> CallSchedule<WaitingCall>.Load {
        .init(size: message.size, hasDescriptors: message.hasDescriptors)
    }

    /// Makes room for one call more: by turns, and where nobody has one, at the cost of the greediest.
    ///
    /// - Returns: Whether there is room, which there is not where it is the newcomer who must pay.
    private func makeRoom(
        for load: CallSchedule<WaitingCall>.Load, of newcomer: Caller<WaitingCall>
    ) -> Bool {
        while !calls.schedule.hasRoom(for: load) {
            if takeTurn() || calls.schedule.endRests(at: nil) { continue }
            let payer = calls.schedule.greediest(adding: load, of: newcomer)
            guard calls.schedule.isFull, payer !== newcomer,
                let last = calls.schedule.takeLast(of: payer)
            else { return false }
            refuse(last, of: payer, .tooMuchWaits)
        }
        return true
    }

    /// Brings a caller nearer to being served, of which calls may wait: gives it a turn, or asks about
    /// it what must be known.
    func proceed(with caller: Caller<WaitingCall>) {
        guard isOpen, caller.place.hasCalls else { return }
        if caller.isOpen {
            calls.schedule.giveTurn(to: caller)
            takeTurnsSoon()
        } else if !calls.schedule.isHeld, !caller.isPutOff {
            ask(about: caller)
        }
    }

    func refuse(_ call: WaitingCall, of caller: Caller<WaitingCall>, _ error: DBusError) {
        guard call.message.isReplyExpected, caller.replies.takeRefusal() else { return }
        sendError(error, to: call.message, from: caller)
    }

    func refuseAll(of caller: Caller<WaitingCall>, _ error: DBusError) {
        while let call = calls.schedule.takeFirst(of: caller) { refuse(call, of: caller, error) }
        noteCallsTaken()
    }
}

// MARK: Turns

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
    private func takeTurn() -> Bool {
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
