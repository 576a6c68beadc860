import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import Logging
import Wording

/// The queue of work on backups and free space, and the state of the daily backup.
struct Upkeep {
    /// Something to do.
    ///
    /// Each request is answered once.
    enum Request {
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

    /// What waits, in order.
    var waiting: [Request] = []
    /// Whether a request is in progress.
    var isUnderWay = false
    /// Whether nothing more is started, because the service is ending.
    var isEnding = false
    /// Called when the request in progress has ended.
    var whenOver: (() -> Void)?

    /// The backups after the last request; nil until they are first listed.
    var backups: [Backup]?
    /// Whether the last daily backup failed, which the log has reported.
    var isFailing = false
    /// No daily backup is tried before this time, which also passes while the machine is suspended.
    var pause: ContinuousClock.Instant?

    /// The pause after a daily backup has failed.
    static let pauseAfterFailure = Duration.seconds(3600)
    /// How long returning free pages may take at the end: the next daemon waits for the database
    /// meanwhile.
    static let timeAtEnd = Duration.seconds(2)
}

/// Backups: the daily ones, which follow a flush, and those for callers.
///
/// One request is carried out at a time, on the writer's thread and between its flushes. A failed
/// backup affects no change.
extension DefaultsObject {
    /// Adds a request to the queue.
    func request(_ request: Upkeep.Request) {
        guard !upkeep.isEnding else { return request.refuse(ContractError.isEnding) }
        upkeep.waiting.append(request)
        guard !upkeep.isUnderWay else { return }
        upkeep.isUnderWay = true
        Task(executorPreference: connection.loop) { await self.doUpkeep() }
    }

    /// Begins the daily backup if it is due.
    ///
    /// Call this after a flush.
    func backUpDaily() {
        let isPaused = upkeep.pause.map { connection.loop.continuousNow < $0 } ?? false
        guard !upkeep.isUnderWay, !isPaused else { return }
        let backups = upkeep.backups ?? (try? database.backups()) ?? []
        upkeep.backups = backups
        let isDue = BackupRotation(backups).isDailyDue(generation: database.durableGeneration)
        if isDue { request(.daily) }
    }

    /// Keeps the database small after the requests in the queue.
    ///
    /// Call this after a flush.
    func tidyUp() {
        if !upkeep.waiting.contains(where: \.isTidying) { request(.tidying) }
    }

    /// Removes what the previous process has left of removed values from the file.
    func tidyUpAfterStart() async {
        if await writer.mayHoldRemovedValues { tidyUp() }
    }

    /// Returns free pages as far as the time allows, so that removed values are no longer in the
    /// file.
    ///
    /// Call this at the end, after the last flush.
    func tidyAtEnd() async {
        let deadline = now + Upkeep.timeAtEnd
        guard await writer.mayHoldRemovedValues else { return }
        await tidy { now < deadline }
    }

    /// Cancels the request in progress, refuses those in the queue, and returns when that is done.
    func endUpkeep() async {
        upkeep.isEnding = true
        await writer.giveUpBackup()
        await withCheckedContinuation { continuation in
            // This must be checked here: other work of the loop may have run since the call above.
            guard upkeep.isUnderWay else { return continuation.resume() }
            upkeep.whenOver = { continuation.resume() }
        }
    }

    /// Stops long work if the service is ending.
    func checkNotEnding() throws {
        if upkeep.isEnding { throw ContractError.isEnding }
    }

    private func tidy() async {
        await tidy { !upkeep.isEnding }
    }

    /// Keeps the database small, in steps.
    ///
    /// Between two steps, flushes come first.
    private func tidy(while mayGoOn: () -> Bool) async {
        do {
            while mayGoOn(), try await writer.tidy() {}
        } catch {
            // This is tried again after the next flush. The log may have to restart for that.
            longCalls.isLogReady = false
            logger.debug("The database could not be made smaller: \(error)")
            if error.isDamage { requestRepair(because: error.description) }
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
        // A backup has connections of its own.
        Memory.returnFreePages()
        upkeep.isUnderWay = false
        upkeep.whenOver?()
    }
}

// MARK: Making backups

extension DefaultsObject {
    /// Makes a backup of everything that has been acknowledged so far.
    ///
    /// - Parameters:
    ///   - kind: The kind of the backup.
    ///   - spared: A backup that must not be removed for this one.
    /// - Returns: The backup, or an error if the database is damaged.
    /// - Throws: If the disk has refused, or if the service is ending.
    func makeBackup(
        _ kind: Backup.Kind, sparing spared: Backup? = nil
    ) async throws -> Result<Backup, ContractError> {
        while true {
            try checkNotEnding()
            _ = try await durability().get()
            await tidy()
            try checkNotEnding()
            switch try await writer.backUp(kind, sparing: spared) {
            case .made(let backup):
                logger.info("Made the backup \(backup.name) of \(counted(backup.size, "byte")).")
                trouble.damage = ""
                return .success(backup)
            case .damaged(let damage):
                note(damage)
                return .failure(ContractError(notBackedUp: damage))
            // The service is ending, or the store was replaced. In the second case, the new store
            // is backed up.
            case .givenUp: continue
            }
        }
    }

    /// Takes the other requests for the same kind of backup from the queue.
    ///
    /// All of them get the same backup: it has every change that was acknowledged before their
    /// calls.
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
                logger.info(
                    "Made the daily backup \(backup.name) of \(counted(backup.size, "byte")).")
                (upkeep.isFailing, upkeep.pause) = (false, nil)
                trouble.damage = ""
            case .damaged(let damage):
                if !upkeep.isFailing { note(damage) }
                pauseDailyBackups()
            case .givenUp: break
            }
        } catch {
            if !upkeep.isFailing {
                logger.log(.backupFails, level: .warning, "\(error) It is retried every hour.")
            }
            pauseDailyBackups()
        }
    }

    private func pauseDailyBackups() {
        upkeep.isFailing = true
        upkeep.pause = connection.loop.continuousNow + Upkeep.pauseAfterFailure
    }

    /// Reports damage that was found while every row was read, and starts the repair.
    private func note(_ damage: StoreDamage) {
        logger.log(
            .damage, level: .error,
            "The database is damaged, and no backup was made of it. \(damage)")
        requestRepair(because: damage.description)
    }
}
