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
