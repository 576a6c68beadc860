/// One sender of calls: what is known of it, and its calls that wait.
///
/// It belongs to the loop's thread.
final class Caller<Call> {
    /// Who it is, as far as that is asked for.
    enum Identity {
        case unknown
        /// Nil where nobody could tell.
        case known(PeerCredentials?)
    }

    /// Its unique name; nil for the peer of a connection without a bus.
    let name: BusName?

    private(set) var identity: Identity
    /// What each of its calls gets, if it may not call at all.
    private(set) var refusal: DBusError?
    /// Whose connection it is: one of its own as long as that is not known.
    var process = CallerProcess<Call>()
    /// What it has been sent and may not have read.
    var replies: UnreadReplies
    /// Whether the bus is being asked about it, or will be when a timer goes off.
    var isInQuestion = false
    /// Whether its first call was put back, to be carried out later, or is carried out on another
    /// thread.
    var isPutOff = false
    /// When it last sent a call, as a count of such occasions.
    var lastUse: UInt64 = 0

    /// Kept by the schedule alone.
    var place = CallSchedule<Call>.Place()

    init(
        _ name: BusName?, _ identity: Identity, _ replies: UnreadReplies = UnreadReplies()
    ) {
        self.name = name
        self.replies = replies
        self.identity = identity
    }

    /// Notes who it is, and whether it may call.
    func identify(as credentials: PeerCredentials?, refusal: DBusError?) {
        identity = .known(credentials)
        self.refusal = refusal
    }

    /// Whether it can be forgotten while it is connected, and identified again at its next call.
    ///
    /// One that is not at home can not: its process may end, and a process of ours get its
    /// number, while the connection lives on in a child.
    var isForgettable: Bool {
        // One that is put off may have a call on another thread, which a later one must not overtake.
        guard !place.hasCalls, !isPutOff else { return false }
        guard let credentials else { return true }
        return credentials.isAtHome
    }

    /// Whether its calls may be carried out.
    var isOpen: Bool {
        guard case .known = identity, !isPutOff else { return false }
        return replies.isOpen
    }

    var credentials: PeerCredentials? {
        guard case .known(let credentials) = identity else { return nil }
        return credentials
    }
}

/// A process that calls, over one connection or a thousand: what it gets of the loop is the same.
///
/// It belongs to the loop's thread, and its state is kept by the schedule alone.
final class CallerProcess<Call> {
    typealias Instant = SuspendingClock.Instant

    /// What others would notice, each time.
    static var longCall: Duration { .milliseconds(1) }

    /// How long its calls that are longer may take in a second before it rests after each: an
    /// application that begins may ask for all that it has.
    static var grace: Duration { .milliseconds(50) }

    /// How long it rests: ten times as long as the call took, but at most ``longestRest``.
    static var restFactor: Int { 10 }
    static var longestRest: Duration { .milliseconds(250) }

    /// The calls that wait, of all its connections.
    var waiting = 0
    /// Their bytes.
    var waitingSize = 0
    /// Those of its connections whose calls may be carried out, by turns.
    var turns = Queue<Caller<Call>>()
    /// Whether it has a turn itself, or rests before it.
    var hasTurn = false
    /// Until when it rests.
    var restEnd: Instant?

    private var period: UInt64 = 0
    private var used = Duration.zero
    private var usedByLongCalls = Duration.zero
    private var secondBegin: Instant?

    /// How long its calls have kept the loop in a period.
    func time(in period: UInt64) -> Duration {
        self.period == period ? used : .zero
    }

    /// Notes how long a call has kept the loop.
    func note(_ time: Duration, in period: UInt64) {
        (self.period, used) = (period, self.time(in: period) + time)
    }

    /// Notes a call that has kept the loop for longer than it should.
    ///
    /// - Parameter now: When it was over.
    func noteLongCall(_ time: Duration, at now: Instant) {
        if secondBegin.map({ $0 + .seconds(1) <= now }) ?? true {
            (secondBegin, usedByLongCalls) = (now, .zero)
        }
        usedByLongCalls += time
        guard usedByLongCalls > Self.grace else { return }
        restEnd = now + min(time * Self.restFactor, Self.longestRest)
    }
}

/// The callers of a connection, by their names.
///
/// A unique name is never given to another connection, so nothing has to be watched: callers that have
/// left are forgotten when the table has grown.
struct CallerTable<Call> {
    private var callers: [BusName: Caller<Call>] = [:]
    /// By their numbers.
    private var processes: [UInt32: CallerProcess<Call>] = [:]
    private let capacity: Int
    /// At how many callers some are forgotten.
    private var limit: Int
    private var uses: UInt64 = 0
    /// Whether it is time to ask who has left.
    private var isRollCallDue = false

    init(capacity: Int = 1024) {
        (self.capacity, limit) = (capacity, capacity)
    }

    var all: some Collection<Caller<Call>> { callers.values }

    /// The caller of a name; a new one where it is not known.
    mutating func caller(named name: BusName, new: (BusName) -> Caller<Call>) -> Caller<Call> {
        uses &+= 1
        let caller = callers[name] ?? add(new(name), named: name)
        caller.lastUse = uses
        return caller
    }

    /// The process of a number.
    mutating func process(_ number: UInt32) -> CallerProcess<Call> {
        if let process = processes[number] { return process }
        let process = CallerProcess<Call>()
        processes[number] = process
        return process
    }

    private mutating func add(_ caller: Caller<Call>, named name: BusName) -> Caller<Call> {
        if callers.count >= limit { forgetHalf() }
        callers[name] = caller
        return caller
    }

    /// Forgets those that have called least lately, half of all so that it is done seldom, but none
    /// with a call that waits.
    private mutating func forgetHalf() {
        let idle = callers.values.filter(\.isForgettable)
        let oldest = idle.sorted { $0.lastUse < $1.lastUse }.prefix(capacity / 2)
        for name in oldest.compactMap(\.name) { callers[name] = nil }
        noteForgotten()
        isRollCallDue = true
    }

    /// Whether to ask who is connected still, for ``forget(allBut:)``; once.
    mutating func takeRollCall() -> Bool {
        defer { isRollCallDue = false }
        return isRollCallDue
    }

    /// Forgets those that have left.
    ///
    /// - Parameter names: Of all who are connected.
    mutating func forget(allBut names: Set<String>) {
        callers = callers.filter { names.contains($0.key.string) || $0.value.place.hasCalls }
        noteForgotten()
    }

    private mutating func noteForgotten() {
        limit = max(capacity, 2 * callers.count)
        let used = Set(callers.values.map { ObjectIdentifier($0.process) })
        processes = processes.filter { used.contains(ObjectIdentifier($0.value)) }
    }
}

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
    /// Where the bus is; nil where it does not tell.
    var busPlace: ProcessPlace?
    /// Says of a new caller why it may not call.
    var judge: @Sendable (PeerCredentials?) -> DBusError? = { _ in nil }
    /// Whether the bus tells what waits to be read.
    var areRepliesMeasured = true
    /// What waits of all that was sent.
    var unreadTotal = UnreadTotal()
    /// How long calls wait for a caller to read its replies before they are refused.
    var patience = UnreadReplies.patience
    /// Those whose first call was put back, in the order in which it was.
    var putOff: [Caller<WaitingCall>] = []
    /// How many calls are carried out on other threads.
    var detached = 0
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

/// First in, first out, each in a time that does not depend on how many wait.
struct Queue<Element> {
    // What was taken leaves a hole at the front; the holes go when they are half of it.
    private var elements: [Element?] = []
    private var head = 0

    var count: Int { elements.count - head }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func prepend(_ element: Element) {
        if head > 0 {
            head -= 1
            elements[head] = element
        } else {
            elements.insert(element, at: 0)
        }
    }

    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let first = elements[head]
        elements[head] = nil
        head += 1
        if head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return first
    }

    mutating func popLast() -> Element? {
        guard !isEmpty, let last = elements.popLast() else { return nil }
        return last
    }
}
