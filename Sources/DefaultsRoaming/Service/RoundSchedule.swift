/// When the next round comes.
///
/// It has no clock: its owner waits as long as it says, and tells when that time is over.
struct RoundSchedule {
    /// Why a round may have something to do.
    enum Cause {
        /// There may be something to exchange.
        ///
        /// After a failure, it waits for the next attempt: a program that changes a key again and again
        /// must not make a machine try as often while the place cannot be reached.
        case news
        /// Somebody asks for a round now, or what prevented the last one may be gone.
        case request
        /// The time that the schedule said is over.
        case time
    }

    /// What to wait for.
    enum Wait: Equatable {
        /// The next round is due.
        case none
        /// The next round is due after this time, or at a request.
        case time(Duration)
        /// Nothing is to be done until something is heard.
        case news
    }

    /// The pause after the first failure.
    ///
    /// It doubles with each further one, up to the longest.
    private let shortestPause: Duration
    private static let longestPause = Duration.seconds(300)

    private enum Due {
        case nothing, news, round
    }

    /// The first round comes at the start.
    private var due = Due.round
    private var failures = 0

    init(shortestPause: Duration = .seconds(2)) { self.shortestPause = shortestPause }

    /// A round begins: what is heard from now on needs another one.
    mutating func begin() { due = .nothing }

    /// A round has ended.
    mutating func end(hasFailed: Bool) { failures = hasFailed ? failures + 1 : 0 }

    /// Notes a reason for a round.
    mutating func note(_ cause: Cause) {
        switch cause {
        case .news:
            if due == .nothing { due = .news }
        case .request:
            failures = 0
            due = .round
        case .time:
            due = .round
        }
    }

    /// What to wait for now.
    ///
    /// - Parameter pollInterval: How often to ask the place for news; nil if it announces them.
    func wait(pollInterval: Duration?) -> Wait {
        if due == .round { return .none }
        if failures > 0 {
            let pause = shortestPause * (1 << min(failures - 1, 10))
            return .time(min(pause, Self.longestPause))
        }
        if due == .news { return .none }
        return pollInterval.map { .time($0) } ?? .news
    }
}
