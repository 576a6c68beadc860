// Invariants
//
// 1. At most twice the allowance, and the reply of one call, waits for a caller to read.
// 2. If a caller reads, even slowly, its calls wait and do not fail, for the time of `patience`.
// 3. If it does not read, its calls are refused until it does. After a number of refusals they are
//    not answered.

/// How much a caller was sent and may not have read yet.
///
/// The bus keeps what we send to callers that do not read, and counts it against us. If it becomes
/// too much, the bus stops reading from us, and nobody is served. So each time a caller was sent as
/// much as its allowance, we ask the bus how much is unread.
///
/// This is only the account. It does not know the bus or the time.
struct UnreadReplies {
    /// How many bytes a caller may leave unread (16 MiB), unless all callers together leave too
    /// much.
    static let allowance = 16 << 20

    /// How many bytes it may leave unread if all callers together leave too much (64 KiB).
    static let smallAllowance = 64 << 10

    /// How long calls wait for a caller to read before they are refused, by default.
    static let patience = Duration.seconds(10)

    /// How many refusals may be unread.
    static let maximumRefusals = 1000

    private enum Phase {
        case reading
        /// More than the allowance is unread: for how long, and after what time to check again.
        case slow(waited: Duration, next: Duration)
        case cutOff
    }

    /// What to do after an answer of the bus.
    enum Verdict: Equatable {
        case goOn
        case askAgain(after: Duration)
        case refuse
    }

    /// How many bytes it may leave unread.
    var allowance: Int
    private let patience: Duration
    private var phase = Phase.reading
    private var sinceProof = 0
    /// How many bytes were sent to the caller and may be unread.
    var unproven: Int { sinceProof }
    /// The part that the answer of the bus will cover.
    private var inQuestion = 0
    private var refusals = 0

    /// - Parameter patience: How long calls wait for the caller to read before they are refused.
    init(
        allowance: Int = UnreadReplies.allowance, patience: Duration = UnreadReplies.patience
    ) {
        self.allowance = allowance
        self.patience = patience
    }

    /// Whether more may be sent to the caller.
    var isOpen: Bool {
        guard case .reading = phase else { return false }
        return sinceProof < allowance
    }

    /// Notes that something was sent.
    mutating func note(_ size: Int) {
        sinceProof += size
    }

    /// Notes that the bus is asked: its answer will cover what was sent until now.
    mutating func noteQuestion() {
        inQuestion = sinceProof
    }

    /// Takes the bus's answer.
    ///
    /// - Parameter unread: The bytes that wait for the caller at the bus.
    mutating func take(unread: Int) -> Verdict {
        guard unread >= allowance else {
            sinceProof -= inQuestion
            (phase, inQuestion, refusals) = (.reading, 0, 0)
            return .goOn
        }
        switch phase {
        case .reading:
            return wait(.zero, .milliseconds(10))
        case .slow(let waited, let next):
            guard waited < patience else {
                phase = .cutOff
                return .refuse
            }
            return wait(waited, min(next * 2, .seconds(1)))
        case .cutOff:
            return .refuse
        }
    }

    private mutating func wait(_ waited: Duration, _ next: Duration) -> Verdict {
        phase = .slow(waited: waited + next, next: next)
        return .askAgain(after: next)
    }

    /// Notes a refusal.
    ///
    /// - Returns: Whether it may be sent.
    mutating func takeRefusal() -> Bool {
        guard !isOpen else { return true }
        refusals += 1
        return refusals <= Self.maximumRefusals
    }
}

// Invariants
//
// 1. The bus keeps no more of ours than `bytes` says.
// 2. At most one question is in flight.

/// How much of all that this connection has sent is unread by others and kept by the bus.
///
/// The bus has a limit, 1 GB by default. Beyond it, the bus stops reading from us, and nobody is
/// served. With many callers, the allowance of each does not prevent that. So we also ask about the
/// total, and all allowances become smaller near the limit.
///
/// This is only the account. It does not know the bus, and its caller tells it the time.
struct UnreadTotal {
    /// How near the limit is.
    enum Level {
        case low
        /// Callers may leave little unread, and a process with a ``share`` of it gets no large reply.
        case high
        /// Nobody gets a large reply.
        case full
    }

    /// The bytes at which the levels begin, and after which the bus is asked.
    struct Bounds {
        var high = 256 << 20
        var full = 768 << 20
        /// What is sent before the bus is asked again.
        var step = 32 << 20
    }

    /// How long an answer is valid while the level is not low.
    static let validity = Duration.milliseconds(100)

    /// The bytes that a process may leave unread while the level is high (64 MiB).
    static let share = 64 << 20

    /// The bytes above which a reply is large (64 KiB).
    static let smallReply = 64 << 10

    private let bounds: Bounds
    private(set) var isInQuestion = false
    private var known = 0
    private var sinceAnswer = 0
    /// The part that the answer of the bus will cover.
    private var inQuestion = 0
    private var lastAnswer: SuspendingClock.Instant?

    init(bounds: Bounds = Bounds()) {
        self.bounds = bounds
    }

    /// The bytes that the bus may keep.
    var bytes: Int { known + sinceAnswer }

    var level: Level {
        switch bytes {
        case ..<bounds.high: .low
        case ..<bounds.full: .high
        default: .full
        }
    }

    /// Notes that something was sent.
    mutating func note(_ size: Int) {
        sinceAnswer += size
    }

    /// Whether to ask the bus.
    func isQuestionDue(at now: @autoclosure () -> SuspendingClock.Instant) -> Bool {
        if isInQuestion { return false }
        if sinceAnswer >= bounds.step { return true }
        guard level != .low, let lastAnswer else { return false }
        return lastAnswer.duration(to: now()) >= Self.validity
    }

    /// Notes that the bus is asked: its answer will cover what was sent until now.
    mutating func noteQuestion() {
        (isInQuestion, inQuestion) = (true, sinceAnswer)
    }

    /// Takes the bus's answer.
    ///
    /// - Parameter unread: The bytes that it keeps of ours; nil if it did not say.
    mutating func take(unread: Int?, at now: SuspendingClock.Instant) {
        if let unread { (known, sinceAnswer) = (unread, sinceAnswer - inQuestion) }
        (isInQuestion, inQuestion, lastAnswer) = (false, 0, now)
    }
}
