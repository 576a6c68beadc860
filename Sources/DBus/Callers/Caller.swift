/// A sender of calls: what is known about it, and its waiting calls.
///
/// It belongs to the loop's thread.
final class Caller<Call> {
    /// Its identity, if the service wants it.
    enum Identity {
        case unknown
        /// Nil if it is unknown.
        case known(PeerCredentials?)
    }

    /// Its unique name; nil for the peer of a connection without a bus.
    let name: BusName?
    /// The connection over which it calls; nil when that has gone.
    weak var connection: Connection?

    private(set) var identity: Identity
    /// Called once when it is identified, or cannot be identified now.
    var whenAsked: [(PeerCredentials?) -> Void] = []
    /// The error for each of its calls, if it may not call at all.
    private(set) var refusal: DBusError?
    /// The process of the connection.
    ///
    /// Until it is known, the caller counts as a process of its own.
    var process = CallerProcess<Call>()
    /// What was sent to it and may be unread.
    var replies: UnreadReplies
    /// Whether a question about it to the bus is in flight, or a retry timer is set.
    var isInQuestion = false
    /// Whether its first call was postponed, or is carried out on another thread.
    var isPutOff = false
    /// The number of its last call.
    var lastUse: UInt64 = 0

    /// Only the schedule changes it.
    var place = CallSchedule<Call>.Place()

    init(
        _ name: BusName?, _ identity: Identity, _ replies: UnreadReplies = UnreadReplies()
    ) {
        self.name = name
        self.replies = replies
        self.identity = identity
    }

    /// Records its identity, and whether it may call.
    func identify(as credentials: PeerCredentials?, refusal: DBusError?) {
        identity = .known(credentials)
        self.refusal = refusal
        endQuestion(credentials)
    }

    /// Tells who waits for its identity.
    func endQuestion(_ credentials: PeerCredentials?) {
        let waiting = whenAsked
        whenAsked = []
        for tell in waiting { tell(credentials) }
    }

    /// Whether it can be forgotten although it is connected.
    ///
    /// It is then identified again at its next call.
    ///
    /// A caller from another place cannot be forgotten. Its process may end while a child keeps the
    /// connection, and then a local process may get its number.
    var isForgettable: Bool {
        // It may have a call on another thread, which a later call must not overtake.
        guard !place.hasCalls, !isPutOff, !isInQuestion, whenAsked.isEmpty else { return false }
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

/// A process that calls.
///
/// It gets the same share of the loop with one connection or with a thousand.
///
/// It belongs to the loop's thread. Only the schedule changes its state.
final class CallerProcess<Call> {
    typealias Instant = SuspendingClock.Instant

    /// The length of a call from which other callers notice it.
    static var longCall: Duration { .milliseconds(1) }

    /// How much time its long calls may take in a second before it rests after each one.
    ///
    /// It is enough for an application that reads all its values at start.
    static var grace: Duration { .milliseconds(50) }

    /// How long it rests: ten times as long as the call took, but at most ``longestRest``.
    static var restFactor: Int { 10 }
    static var longestRest: Duration { .milliseconds(250) }

    /// The waiting calls of all its connections.
    var waiting = 0
    /// The size of these calls.
    var waitingSize = 0
    /// The connections whose calls may be carried out, in turn.
    var turns = Queue<Caller<Call>>()
    /// Whether it has a turn, or rests before it.
    var hasTurn = false
    /// When its rest ends.
    var restEnd: Instant?

    private var period: UInt64 = 0
    private var used = Duration.zero
    private var usedByLongCalls = Duration.zero
    private var secondBegin: Instant?

    /// How long its calls have used the loop in a period.
    func time(in period: UInt64) -> Duration {
        self.period == period ? used : .zero
    }

    /// Notes how long a call has used the loop.
    func note(_ time: Duration, in period: UInt64) {
        (self.period, used) = (period, self.time(in: period) + time)
    }

    /// Notes a call that has used the loop for longer than it should.
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

/// The processes that call, over whatever connections, by their numbers.
///
/// A process is forgotten with its last caller.
struct ProcessTable<Call> {
    private struct Entry {
        weak var process: CallerProcess<Call>?
    }

    private var entries: [UInt32: Entry] = [:]
    /// The number of entries above which those of forgotten processes are removed.
    private var limit = 64

    /// The process with a number.
    mutating func process(_ number: UInt32) -> CallerProcess<Call> {
        if let process = entries[number]?.process { return process }
        if entries.count >= limit {
            entries = entries.filter { $0.value.process != nil }
            limit = max(64, 2 * entries.count)
        }
        let process = CallerProcess<Call>()
        entries[number] = Entry(process: process)
        return process
    }
}

/// The callers of a connection, by their names.
///
/// A unique name is never given to another connection, so names are not watched: callers that have
/// left are forgotten when the table has grown.
struct CallerTable<Call> {
    private var callers: [BusName: Caller<Call>] = [:]
    private let capacity: Int
    /// The number of callers above which some are forgotten.
    private var limit: Int
    private var uses: UInt64 = 0
    /// Whether it is time to ask the bus which callers have left.
    private var isRollCallDue = false

    init(capacity: Int = 1024) {
        (self.capacity, limit) = (capacity, capacity)
    }

    var all: some Collection<Caller<Call>> { callers.values }

    /// The caller of a name, if it is known.
    func known(_ name: BusName) -> Caller<Call>? { callers[name] }

    /// The caller of a name; a new one if it is not known.
    mutating func caller(named name: BusName, new: (BusName) -> Caller<Call>) -> Caller<Call> {
        uses &+= 1
        let caller = callers[name] ?? add(new(name), named: name)
        caller.lastUse = uses
        return caller
    }

    private mutating func add(_ caller: Caller<Call>, named name: BusName) -> Caller<Call> {
        if callers.count >= limit { forgetHalf() }
        callers[name] = caller
        return caller
    }

    /// Forgets the callers whose last calls are oldest, at most half of the capacity.
    ///
    /// Callers with waiting calls stay.
    private mutating func forgetHalf() {
        let idle = callers.values.filter(\.isForgettable)
        let oldest = idle.sorted { $0.lastUse < $1.lastUse }.prefix(capacity / 2)
        for name in oldest.compactMap(\.name) { callers[name] = nil }
        noteForgotten()
        isRollCallDue = true
    }

    /// Whether to ask the bus now who is still connected, for ``forget(allBut:)``.
    mutating func takeRollCall() -> Bool {
        defer { isRollCallDue = false }
        return isRollCallDue
    }

    /// Forgets callers that have left.
    ///
    /// - Parameter names: The names of all connections.
    mutating func forget(allBut names: Set<String>) {
        callers = callers.filter {
            names.contains($0.key.string) || $0.value.place.hasCalls || !$0.value.whenAsked.isEmpty
        }
        noteForgotten()
    }

    private mutating func noteForgotten() {
        limit = max(capacity, 2 * callers.count)
    }
}

/// A queue.
///
/// Each step takes a time that does not depend on its length.
struct Queue<Element> {
    // Each taken element leaves a hole at the front. The holes are removed when they are half of
    // the array.
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
