/// Decides in a burst of changes which signals are sent, for the bus may have nobody who listens.
///
/// A signal costs as much as the change that it reports. The bus has a list of all match rules, but
/// does not tell when a program adds one. So the bus is asked for the list when a burst begins. If
/// it has no rule for the signals, those that follow wait until the bus has been asked again. If it
/// still has none, nobody needs them.
///
/// Invariants:
/// 1. A signal is dropped only if the bus was asked after the change and had no rule for the signal.
/// 2. All other signals are sent, in their order.
/// 3. No signal waits outside of a burst, while a program listens, or if the bus has no such list.
struct Audience {
    /// So many signals in so short a time are a burst.
    static let burst = (count: 32, time: Duration.milliseconds(100))
    /// How long signals wait before the bus is asked, unless its last answer took long.
    static let shortestPause = Duration.milliseconds(20)
    static let longestPause = Duration.milliseconds(200)
    /// How long the answer that a program listens is taken for true.
    static let trust = Duration.seconds(1)
    /// The most signals that wait.
    static let mostWaiting = 4096

    private var waiting: [Announcement] = []
    /// What the bus was asked: about how many of those that wait, and when.
    private var question: (count: Int, began: ContinuousClock.Instant)?
    /// How many signals there were since a time not long ago.
    private var window: (count: Int, began: ContinuousClock.Instant)?
    private var isBurst = false
    /// Whether nobody listened when the bus was last asked in this burst.
    private var isDeaf = false
    private var isHeardUntil: ContinuousClock.Instant?
    private var pause = shortestPause
    private var isOff: Bool

    /// - Parameter canAsk: Whether there is a bus that can be asked.
    init(canAsk: Bool) {
        isOff = !canAsk
    }

    private var isWaiting: Bool { !waiting.isEmpty }

    /// How long to wait before the bus is asked; nil if there is nothing to ask.
    func delayOfQuestion(at now: ContinuousClock.Instant) -> Duration? {
        guard !isOff, question == nil else { return nil }
        if isWaiting { return pause }
        return isBurst && !isDeaf && now >= isHeardUntil ?? now ? .zero : nil
    }

    /// Takes a signal that can be sent now.
    ///
    /// - Returns: The signals to be sent at once.
    mutating func add(
        _ announcement: Announcement, at now: ContinuousClock.Instant
    ) -> [Announcement] {
        guard !isOff else { return [announcement] }
        noteSignal(at: now)
        if !isBurst { isDeaf = false }
        // What comes after a signal that waits has to wait, too.
        guard isDeaf || isWaiting else { return [announcement] }
        waiting.append(announcement.withoutValues())
        return waiting.count > Self.mostWaiting ? takeAll() : []
    }

    private mutating func takeAll() -> [Announcement] {
        defer { waiting = [] }
        question?.count = 0
        return waiting
    }

    /// Notes that the bus is asked.
    mutating func askBegan(at now: ContinuousClock.Instant) {
        question = (waiting.count, now)
    }

    /// Notes what the bus has answered.
    ///
    /// - Parameter isHeard: Whether it has a rule for the signals; nil if it does not tell.
    /// - Returns: The signals to be sent at once.
    mutating func asked(
        _ isHeard: Bool?, at now: ContinuousClock.Instant
    ) -> [Announcement] {
        guard let asked = question else { return [] }
        question = nil
        // The list of a bus with very many rules takes the bus and us some time.
        pause = min(max(Self.shortestPause, (now - asked.began) * 20), Self.longestPause)
        isDeaf = isHeard == false
        switch isHeard {
        case false:
            waiting.removeFirst(asked.count)
            return []
        case true: isHeardUntil = now + Self.trust
        case nil: isOff = true
        }
        return takeAll()
    }

    /// Sends everything at once from now on.
    mutating func end() -> [Announcement] {
        isOff = true
        return takeAll()
    }

    private mutating func noteSignal(at now: ContinuousClock.Instant) {
        guard let last = window, now - last.began < Self.burst.time else {
            // A burst goes on if the last one is not over.
            let goesOn = isBurst && window.map { now - $0.began < Self.burst.time * 2 } ?? false
            (isBurst, window) = (goesOn, (1, now))
            return
        }
        window = (last.count + 1, last.began)
        if last.count + 1 >= Self.burst.count { isBurst = true }
    }
}
