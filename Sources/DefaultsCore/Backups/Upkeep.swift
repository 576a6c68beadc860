import DefaultsModel
import DefaultsProtocol
package import DefaultsStorage

/// The queue of work on backups and free space, and the state of the daily backup.
package final class Upkeep {
    /// Something to do.
    ///
    /// Each request is answered once.
    package enum Request {
        /// The daily backup, for which no caller waits.
        case daily
        /// Keeping the database small, for which no caller waits.
        case tidying
        /// A backup for a caller.
        case backup(Backup.Kind, answer: (Result<Backup, any Error>) -> Void)
        /// A restoration of a backup.
        case restoration(
            Restoration, answer: (Result<RestorationReport, any Error>) -> Void)

        /// Whether it keeps the database small.
        var isTidying: Bool {
            if case .tidying = self { true } else { false }
        }

        /// Answers that it was not done.
        func refuse(_ error: any Error) {
            switch self {
            case .daily, .tidying: break
            case .backup(_, let answer): answer(.failure(error))
            case .restoration(_, let answer): answer(.failure(error))
            }
        }
    }

    /// The pause after a daily backup has failed.
    private static let pauseAfterFailure = Duration.seconds(3600)

    /// What waits, in order.
    private var waiting: [Request] = []
    /// Whether a request is in progress.
    private(set) var isUnderWay = false
    /// Whether nothing more is started, because the service is ending.
    private(set) var isEnding = false
    /// Called when the request in progress has ended.
    private var whenOver: (() -> Void)?

    /// The backups after the last request; nil until they are first listed.
    private var backups: [Backup]?
    /// Whether the last daily backup failed, which the log has reported.
    private var isFailing = false
    /// No daily backup is tried before this time, which also passes while the machine is suspended.
    private var pause: ContinuousClock.Instant?

    /// Adds a request to the queue, or refuses it at the end.
    ///
    /// - Returns: Whether the work has to begin.
    func add(_ request: Request) -> Bool {
        guard !isEnding else {
            request.refuse(ContractError.isEnding)
            return false
        }
        waiting.append(request)
        defer { isUnderWay = true }
        return !isUnderWay
    }

    /// Takes the next request; nil if none waits.
    func next() -> Request? {
        waiting.isEmpty ? nil : waiting.removeFirst()
    }

    /// Takes the other requests for the same kind of backup from the queue.
    ///
    /// All of them get the same backup: it has every change that was acknowledged before their
    /// calls.
    func takeFurtherBackups(_ kind: Backup.Kind) -> [(Result<Backup, any Error>) -> Void] {
        var answers: [(Result<Backup, any Error>) -> Void] = []
        waiting.removeAll { request in
            guard case .backup(kind, let answer) = request else { return false }
            answers.append(answer)
            return true
        }
        return answers
    }

    /// Whether the database is made small after the requests in the queue.
    var isTidyingAwaited: Bool { waiting.contains(where: \.isTidying) }

    /// Notes that the queue is empty, and nothing is in progress.
    func rest() {
        isUnderWay = false
        whenOver?()
    }

    /// Starts nothing more.
    func beginEnd() { isEnding = true }

    /// Waits until the request in progress has ended.
    nonisolated(nonsending) func over() async {
        await withCheckedContinuation { continuation in
            guard isUnderWay else { return continuation.resume() }
            whenOver = { continuation.resume() }
        }
    }

    // MARK: The daily backup

    /// Whether the daily backup is to be made.
    ///
    /// - Parameters:
    ///   - now: The clock, for the pause after a failure.
    ///   - date: The date, in seconds since 1970.
    ///   - generation: The last change that is on disk.
    ///   - list: The backups that there are; called if they may have changed.
    func isDailyDue(
        at now: ContinuousClock.Instant, date: UInt64, generation: Generation,
        _ list: () -> [Backup]
    ) -> Bool {
        guard !isUnderWay, pause.map({ now >= $0 }) ?? true else { return false }
        let known = backups ?? list()
        backups = known
        return BackupRotation(known).isDailyDue(at: date, generation: generation)
    }

    /// Notes that there may be other backups.
    func noteBackups() { backups = nil }

    /// Notes that the daily backup was made.
    func noteDaily() { (isFailing, pause) = (false, nil) }

    /// Notes that it failed, and pauses.
    ///
    /// - Returns: Whether it is the first failure in a row, which is to be reported.
    func noteDailyFailure(at now: ContinuousClock.Instant) -> Bool {
        defer { isFailing = true }
        pause = now + Self.pauseAfterFailure
        return !isFailing
    }
}
