import DefaultsStorage

/// The work on backups that is to be done, one after the other, and what is known of the daily one.
struct Upkeep {
    /// Something that is to be done; each is answered once.
    enum Request {
        /// The daily backup, for which nobody waits.
        case daily
        /// The work that keeps the database small, for which nobody waits.
        case tidying
        /// A backup that somebody has asked for.
        case backup(Backup.Kind, answer: (Result<Backup, any Error>) -> Void)
        /// A restoration of a backup.
        case restoration(
            Restoration, answer: (Result<RestorationReport, any Error>) -> Void)

        /// Whether it is the work that keeps the database small.
        var isTidying: Bool {
            if case .tidying = self { true } else { false }
        }

        /// Answers that it is not done.
        func refuse(_ error: any Error) {
            switch self {
            case .daily, .tidying: break
            case .backup(_, let answer): answer(.failure(error))
            case .restoration(_, let answer): answer(.failure(error))
            }
        }
    }

    /// What waits, in order.
    var waiting: [Request] = []
    /// Whether something is done now.
    var isUnderWay = false
    /// Whether nothing more is done, because the service ends.
    var isEnding = false
    /// Called when what is under way has ended.
    var whenOver: (() -> Void)?

    /// The backups as they were after the last work; nil before the first look.
    var backups: [Backup]?
    /// Whether the last daily backup could not be made, which the log was told of.
    var isFailing = false
    /// Before this no daily backup is tried again.
    var pause: ContinuousClock.Instant?

    /// How long no daily backup is tried after one that failed.
    static let pauseAfterFailure = Duration.seconds(3600)
    /// How long the end may take to return free pages: the next daemon waits for the database meanwhile.
    static let timeAtEnd = Duration.seconds(2)
}
