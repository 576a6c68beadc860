import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import Logging

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

/// Backups: the daily ones, which follow a flush, and those that somebody asks for.
///
/// One piece of work is done at a time, on the writer's thread and between its flushes. A backup that
/// fails affects no change.
extension DefaultsObject {
    /// Adds work that is done after all the work that was requested before.
    func request(_ request: Upkeep.Request) {
        guard !upkeep.isEnding else { return request.refuse(DefaultsError.isEnding) }
        upkeep.waiting.append(request)
        guard !upkeep.isUnderWay else { return }
        upkeep.isUnderWay = true
        Task(executorPreference: connection.loop) { await self.doUpkeep() }
    }

    /// Begins the daily backup if it is due; to be called after a flush.
    func backUpDaily() {
        guard !upkeep.isUnderWay, upkeep.pause.map({ $0 <= .now }) ?? true else { return }
        let backups = upkeep.backups ?? (try? database.backups()) ?? []
        upkeep.backups = backups
        let isDue = BackupRotation(backups).isDailyDue(generation: database.durableGeneration)
        if isDue { request(.daily) }
    }

    /// Tidies the database up after the work that is under way; to be called after a flush.
    func tidyUp() {
        if !upkeep.waiting.contains(where: \.isTidying) { request(.tidying) }
    }

    /// Removes what the previous process has left of removed values.
    func tidyUpAfterStart() async {
        if await writer.mayHoldRemovedValues { tidyUp() }
    }

    /// Returns free pages, as far as the time allows, so that removed values are no longer in the file; to
    /// be called at the end, after the flush.
    func tidyAtEnd() async {
        let deadline = ContinuousClock.now + Upkeep.timeAtEnd
        guard await writer.mayHoldRemovedValues else { return }
        await tidy { ContinuousClock.now < deadline }
    }

    /// Gives up what is under way, refuses what waits, and returns when that is over.
    func endUpkeep() async {
        upkeep.isEnding = true
        await writer.giveUpBackup()
        await withCheckedContinuation { continuation in
            // Checked only here: other work of the loop may have run since the call above.
            guard upkeep.isUnderWay else { return continuation.resume() }
            upkeep.whenOver = { continuation.resume() }
        }
    }

    /// Ends long work if the service is about to end.
    func checkNotEnding() throws {
        if upkeep.isEnding { throw DefaultsError.isEnding }
    }

    private func tidy() async {
        await tidy { !upkeep.isEnding }
    }

    /// Does what keeps the database small, in steps between which flushes go first.
    private func tidy(while mayGoOn: () -> Bool) async {
        do {
            while mayGoOn(), try await writer.tidy() {}
        } catch {
            // It is tried again after the next flush. The log may have to restart for that.
            longCalls.isLogReady = false
            logger.debug("The database could not be made smaller: \(error)")
            if error.isDamage { repair(because: error.description) }
        }
    }

    private func doUpkeep() async {
        while !upkeep.waiting.isEmpty {
            switch upkeep.waiting.removeFirst() {
            case .daily: await makeDailyBackup()
            case .tidying:
                await tidy()
                continue
            case .backup(let kind, let answer):
                await makeBackup(kind, for: [answer] + takeFurtherBackups(kind))
            case .restoration(let restoration, let answer):
                do {
                    answer(.success(try await restore(restoration)))
                } catch {
                    answer(.failure(error))
                }
            }
            upkeep.backups = nil
        }
        upkeep.isUnderWay = false
        upkeep.whenOver?()
    }
}

// MARK: Making backups

extension DefaultsObject {
    /// Makes a backup of everything that is acknowledged by now.
    ///
    /// - Parameters:
    ///   - kind: What it is made for.
    ///   - spared: A backup that is not to be removed for this one.
    /// - Returns: The backup, or an error if the database is damaged.
    /// - Throws: If the disk has refused, or if the service is about to end.
    func makeBackup(
        _ kind: Backup.Kind, sparing spared: Backup? = nil
    ) async throws -> Result<Backup, DefaultsError> {
        while true {
            try checkNotEnding()
            _ = try await durability().get()
            await tidy()
            try checkNotEnding()
            switch try await writer.backUp(kind, sparing: spared) {
            case .made(let backup):
                logger.info("Made the backup \(backup.name) of \(backup.size) bytes.")
                trouble.damage = ""
                return .success(backup)
            case .damaged(let damage):
                note(damage)
                return .failure(DefaultsError(notBackedUp: damage))
            // The service is about to end, or the store was replaced: then the new one is backed up.
            case .givenUp: continue
            }
        }
    }

    /// Takes the other requests for the same kind of backup.
    ///
    /// All of them get one backup: it has every change that was acknowledged before their calls.
    private func takeFurtherBackups(
        _ kind: Backup.Kind
    ) -> [(Result<Backup, any Error>) -> Void] {
        var answers: [(Result<Backup, any Error>) -> Void] = []
        upkeep.waiting.removeAll { request in
            guard case .backup(kind, let answer) = request else { return false }
            answers.append(answer)
            return true
        }
        return answers
    }

    private func makeBackup(
        _ kind: Backup.Kind, for answers: [(Result<Backup, any Error>) -> Void]
    ) async {
        let outcome: Result<Backup, any Error>
        do {
            outcome = .success(try await makeBackup(kind).get())
        } catch {
            outcome = .failure(error)
        }
        for answer in answers { answer(outcome) }
    }

    private func makeDailyBackup() async {
        await tidy()
        guard !upkeep.isEnding else { return }
        do {
            switch try await writer.backUp(.daily) {
            case .made(let backup):
                logger.info("Made the daily backup \(backup.name) of \(backup.size) bytes.")
                (upkeep.isFailing, upkeep.pause) = (false, nil)
                trouble.damage = ""
            case .damaged(let damage):
                if !upkeep.isFailing { note(damage) }
                pauseDailyBackups()
            case .givenUp: break
            }
        } catch {
            if !upkeep.isFailing { logger.warning("\(error) It is tried again every hour.") }
            pauseDailyBackups()
        }
    }

    private func pauseDailyBackups() {
        upkeep.isFailing = true
        upkeep.pause = .now + Upkeep.pauseAfterFailure
    }

    /// Reports damage that was found by reading every row, and begins the repair.
    private func note(_ damage: StoreDamage) {
        logger.error("The database is damaged, and no backup was made of it. \(damage)")
        repair(because: damage.description)
    }
}
