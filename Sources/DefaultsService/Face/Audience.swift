import DefaultsCore
import DefaultsModel

/// The signals that wait until the service knows who is to get them.
///
/// A signal without a receiver goes to everybody who asks the bus for it, programs in a sandbox
/// among them. So each signal is sent to its receivers one by one. Who they are is a query to the
/// bus, which is made after the changes that it is for: a program that has added a match rule
/// before a change gets its signal.
///
/// Invariants:
/// 1. A signal is sent to the listeners that a query has found which began after the change.
/// 2. Signals are sent in their order.
/// 3. The queries take a small part of the bus's time. The first one after a pause is made at once.
struct Audience {
    /// How long signals wait before the next query: 20 times as long as the last one took, but not
    /// longer than this.
    static let longestPause = Duration.milliseconds(200)
    private static let pauseFactor = 20
    static let pauseAfterFailure = Duration.seconds(1)
    /// The most signals that wait, and the most bytes that the names of their keys may have
    /// together.
    static let mostWaiting = (count: 4096, names: 1 << 20)

    private var waiting: [Announcement] = []
    /// The bytes of the names of those that wait.
    private var waitingNames = 0
    /// How many of those that wait the query is about, how many had come by then, and when it began.
    private var query: (count: Int, added: UInt64, began: SuspendingClock.Instant)?
    /// When this many wait, they are joined.
    ///
    /// It grows if they are of that many layers, so that joining them again and again costs little.
    private var joinedAt = 2 * mostWaiting.count
    /// How many signals have come.
    private(set) var added: UInt64 = 0
    /// How many of these had come before the last query that was answered.
    private(set) var answered: UInt64 = 0
    /// When the next query may begin.
    private var nextQuery: SuspendingClock.Instant?
    /// Whether there are no pauses between queries any more.
    var isInHurry = false

    /// Whether there is nothing to be sent.
    var isEmpty: Bool { waiting.isEmpty }
    /// How many signals wait.
    var count: Int { waiting.count }

    /// How long to wait before the next query; nil if none is due.
    func delayOfQuery(at now: SuspendingClock.Instant) -> Duration? {
        guard query == nil, !waiting.isEmpty else { return nil }
        guard let nextQuery, !isInHurry, nextQuery > now else { return .zero }
        return nextQuery - now
    }

    /// Takes a signal.
    mutating func add(_ announcement: Announcement) {
        let hasRoom = waitingNames + announcement.nameBytes <= Self.mostWaiting.names
        let kept = hasRoom ? announcement.withoutValues() : announcement.withoutNames()
        waitingNames += kept.nameBytes
        added += 1
        waiting.append(kept)
        // Those that a query is about keep their number.
        let asked = query?.count ?? 0
        guard waiting.count - asked >= joinedAt else { return }
        replace(waiting.prefix(asked) + Self.joined(waiting.dropFirst(asked)))
        joinedAt = 2 * max(Self.mostWaiting.count, waiting.count - asked)
    }

    private mutating func replace(_ announcements: some Sequence<Announcement>) {
        waiting = Array(announcements)
        waitingNames = waiting.reduce(0) { $0 + $1.nameBytes }
    }

    mutating func beginQuery(at now: SuspendingClock.Instant) {
        query = (waiting.count, added, now)
    }

    /// Notes that a query has been answered.
    ///
    /// - Parameter hasAnswer: If it failed, the signals wait for the next query.
    /// - Returns: The signals that are sent to those whom the query has found.
    mutating func finishQuery(
        at now: SuspendingClock.Instant, hasAnswer: Bool = true
    ) -> [Announcement] {
        guard let query else { return [] }
        self.query = nil
        nextQuery = now + min((now - query.began) * Self.pauseFactor, Self.longestPause)
        guard hasAnswer else {
            replace(Self.joined(waiting))
            (nextQuery, isInHurry) = (now + Self.pauseAfterFailure, false)
            return []
        }
        answered = query.added
        let ready = Array(waiting.prefix(query.count))
        waiting.removeFirst(query.count)
        waitingNames -= ready.reduce(0) { $0 + $1.nameBytes }
        return ready
    }

    /// Joins the signals of each layer of a domain into one, which has no names if it is for several
    /// changes.
    static func joined(
        _ announcements: some BidirectionalCollection<Announcement>
    ) -> [Announcement] {
        var counts: [Domain: Int] = [:]
        for announcement in announcements { counts[announcement.domain, default: 0] += 1 }
        var seen: Set<Domain> = []
        let last = announcements.reversed().filter { seen.insert($0.domain).inserted }
        return last.reversed().map { counts[$0.domain] == 1 ? $0 : $0.withoutNames() }
    }
}
