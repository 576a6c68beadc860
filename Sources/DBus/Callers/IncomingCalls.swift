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
