/// Decides in a burst of changes which signals are sent, because the bus may have no listener.
///
/// A signal costs as much as the change that it reports. The bus has a list of all match rules, but
/// does not report when a program adds one. So the list is queried when a burst begins. If it has no
/// rule for the signals, those that follow wait until the next query. If there is still no rule,
/// nobody needs them.
///
/// Invariants:
/// 1. A signal is dropped only if a query that was made after the change found no rule for it.
/// 2. All other signals are sent, in their order.
/// 3. No signal waits outside of a burst, while a program listens, or if the bus has no such list.
struct Audience {
    /// A burst is 32 signals within 100 ms.
    static let burst = (count: 32, time: Duration.milliseconds(100))
    /// How long signals wait before the next query: 20 times as long as the last one took, and at
    /// least this long.
    static let shortestPause = Duration.milliseconds(20)
    /// If a query takes longer, the bus or this process has more important things to do, and signals
    /// are sent as if a program listened.
    static let longestQuery = Duration.milliseconds(10)
    /// How long signals are sent after a query has found a rule.
    static let trust = Duration.seconds(1)
    /// The most signals that wait, and the most bytes that the names of their keys may have together.
    static let mostWaiting = (count: 4096, names: 1 << 20)

    private var waiting: [Announcement] = []
    /// The bytes of the names of those that wait.
    private var waitingNames = 0
    /// How many of those that wait the query is about, and when it began.
    private var query: (count: Int, began: ContinuousClock.Instant)?
    /// How many signals there were since a time not long ago.
    private var window: (count: Int, began: ContinuousClock.Instant)?
    private var isBurst = false
    /// Whether the last query of this burst has found no rule.
    private var hasNoListener = false
    private var listenersUntil: ContinuousClock.Instant?
    private var pause = shortestPause
    private var isOff: Bool

    /// - Parameter canQuery: Whether there is a bus that can be queried.
    init(canQuery: Bool) {
        isOff = !canQuery
    }

    /// How long to wait before the next query; nil if none is due.
    func delayOfQuery(at now: ContinuousClock.Instant) -> Duration? {
        guard !isOff, query == nil else { return nil }
        if !waiting.isEmpty { return pause }
        return isBurst && !hasNoListener && now >= listenersUntil ?? now ? .zero : nil
    }

    /// Takes a signal that can be sent now.
    ///
    /// - Returns: The signals to be sent at once.
    mutating func add(
        _ announcement: Announcement, at now: ContinuousClock.Instant
    ) -> [Announcement] {
        guard !isOff else { return [announcement] }
        noteSignal(at: now)
        if !isBurst { hasNoListener = false }
        // What comes after a signal that waits has to wait, too.
        guard hasNoListener || !waiting.isEmpty else { return [announcement] }
        let hasRoom = waitingNames + announcement.nameBytes <= Self.mostWaiting.names
        let kept = hasRoom ? announcement.withoutValues() : announcement.withoutNames()
        waitingNames += kept.nameBytes
        waiting.append(kept)
        return waiting.count > Self.mostWaiting.count ? takeAll() : []
    }

    mutating func beginQuery(at now: ContinuousClock.Instant) {
        query = (waiting.count, now)
    }

    /// Notes what a query has found.
    ///
    /// - Parameter hasListeners: Whether there is a rule for the signals; nil if the bus does not
    ///   tell.
    /// - Returns: The signals to be sent at once.
    mutating func finishQuery(
        _ hasListeners: Bool?, at now: ContinuousClock.Instant
    ) -> [Announcement] {
        guard let query else { return [] }
        self.query = nil
        let time = now - query.began
        pause = max(Self.shortestPause, time * 20)
        isOff = isOff || hasListeners == nil
        hasNoListener = hasListeners == false && time <= Self.longestQuery
        guard hasNoListener else {
            listenersUntil = now + Self.trust
            return takeAll()
        }
        waitingNames -= waiting.prefix(query.count).reduce(0) { $0 + $1.nameBytes }
        waiting.removeFirst(query.count)
        return []
    }

    /// Sends everything at once from now on.
    mutating func end() -> [Announcement] {
        isOff = true
        return takeAll()
    }

    private mutating func takeAll() -> [Announcement] {
        defer { (waiting, waitingNames) = ([], 0) }
        query?.count = 0
        return waiting
    }

    private mutating func noteSignal(at now: ContinuousClock.Instant) {
        guard let last = window, now - last.began < Self.burst.time else {
            // A burst goes on from one full window to the next.
            isBurst =
                window.map {
                    $0.count >= Self.burst.count && now - $0.began < Self.burst.time * 2
                } ?? false
            window = (1, now)
            return
        }
        window = (last.count + 1, last.began)
        if last.count + 1 >= Self.burst.count { isBurst = true }
    }
}
