// Invariants
//
// 1. A caller has at most twice the allowance of ours waiting for it, and what one call brings about.
// 2. One that reads goes on: however slowly it does, its calls wait rather than fail, for so long as
//    `patience` says.
// 3. One that does not is refused until it has read, and after so many refusals not answered at all.

/// How much of what a caller was sent it may not have read yet.
///
/// The bus takes from us what we send and keeps it for those who do not read, and counts it against
/// us: when that is too much it stops reading from us, and nobody is served any more. So a caller
/// is asked about, at the bus, after each allowance that it was sent.
///
/// This is only the account. It knows no bus and no clock.
struct UnreadReplies {
    /// The bytes that a caller may leave unread (16 MiB), unless all together leave too much.
    static let allowance = 16 << 20

    /// The bytes that it may leave unread where all together do (64 KiB).
    static let smallAllowance = 64 << 10

    /// How long calls wait for a caller to read before they are refused, where nothing else is said.
    static let patience = Duration.seconds(10)

    /// The refusals that may stand unread.
    static let maximumRefusals = 1000

    private enum Phase {
        case reading
        /// More than the allowance was unread; for so long, and looked at again after so long.
        case slow(waited: Duration, next: Duration)
        case cutOff
    }

    /// What is to be done when the bus has told.
    enum Verdict: Equatable {
        case goOn
        case askAgain(after: Duration)
        case refuse
    }

    /// The bytes that it may leave unread.
    var allowance: Int
    private let patience: Duration
    private var phase = Phase.reading
    private var sinceProof = 0
    /// What of it the bus will tell of.
    private var inQuestion = 0
    private var refusals = 0

    /// - Parameter patience: How long calls wait for the caller to read before they are refused.
    init(
        allowance: Int = UnreadReplies.allowance, patience: Duration = UnreadReplies.patience
    ) {
        self.allowance = allowance
        self.patience = patience
    }

    /// Whether the caller may be sent more.
    var isOpen: Bool {
        guard case .reading = phase else { return false }
        return sinceProof < allowance
    }

    /// Notes that something was sent.
    mutating func note(_ size: Int) {
        sinceProof += size
    }

    /// Notes that the bus is asked: what it will tell of has been sent by now.
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
// 2. One question is under way at most.

/// How much the bus keeps of all that this connection has sent, replies and signals, because others
/// have not read it.
///
/// At a bound of its own, 1 GB where nothing else is set up, the bus stops reading from us, and
/// nobody is served any more. What each caller may leave unread does not see to that where there are
/// many. So all together are asked about, too, and get less as they come near.
///
/// This is only the account. It knows no bus, and no clock but by the time that it is given.
struct UnreadTotal {
    /// How near it has come.
    enum Level {
        case low
        /// Callers may leave little unread.
        case high
        /// Large replies are refused.
        case full
    }

    /// Where the levels begin, and how often the bus is asked, in bytes.
    struct Bounds {
        var high = 256 << 20
        var full = 512 << 20
        /// What is sent before the bus is asked again.
        var step = 32 << 20
    }

    /// How long an answer holds while the level is not low.
    static let validity = Duration.milliseconds(100)

    /// The bytes above which a reply is large (64 KiB).
    static let smallReply = 64 << 10

    private let bounds: Bounds
    private(set) var isInQuestion = false
    private var known = 0
    private var sinceAnswer = 0
    /// What of it the bus will tell of.
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

    /// Whether the bus is to be asked.
    func isQuestionDue(at now: @autoclosure () -> SuspendingClock.Instant) -> Bool {
        if isInQuestion { return false }
        if sinceAnswer >= bounds.step { return true }
        guard level != .low, let lastAnswer else { return false }
        return lastAnswer.duration(to: now()) >= Self.validity
    }

    /// Notes that the bus is asked: what it will tell of has been sent by now.
    mutating func noteQuestion() {
        (isInQuestion, inQuestion) = (true, sinceAnswer)
    }

    /// Takes the bus's answer.
    ///
    /// - Parameter unread: The bytes that it keeps of ours; nil where it could not tell this time.
    mutating func take(unread: Int?, at now: SuspendingClock.Instant) {
        if let unread { (known, sinceAnswer) = (unread, sinceAnswer - inQuestion) }
        (isInQuestion, inQuestion, lastAnswer) = (false, 0, now)
    }
}
