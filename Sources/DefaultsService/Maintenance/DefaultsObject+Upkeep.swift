import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import Logging

/// Backups: the daily ones, which follow a flush, and those that somebody asks for.
///
/// One work at a time, on the writer's thread and between its flushes. Nothing that becomes of a
/// backup touches a change.
extension DefaultsObject {
    /// Has something done when all that was asked for before is done.
    func request(_ request: Upkeep.Request) {
        guard !upkeep.isEnding else { return request.refuse(DefaultsError.isEnding) }
        upkeep.waiting.append(request)
        guard !upkeep.isUnderWay else { return }
        upkeep.isUnderWay = true
        Task(executorPreference: connection.loop) { await self.doUpkeep() }
    }

    /// Begins the daily backup where its time has come; to be called after a flush.
    func backUpDaily() {
        guard !upkeep.isUnderWay, upkeep.pause.map({ $0 <= .now }) ?? true else { return }
        let backups = upkeep.backups ?? (try? database.backups()) ?? []
        upkeep.backups = backups
        let isDue = BackupRotation(backups).isDailyDue(generation: database.durableGeneration)
        if isDue { request(.daily) }
    }

    /// Has the database tidied up when the work is done that is under way; to be called after a flush.
    func tidyUp() {
        if !upkeep.waiting.contains(where: \.isTidying) { request(.tidying) }
    }

    /// Goes on with what the process before has left in pages that are free.
    func tidyUpAfterStart() async {
        if await writer.hasFreePages { tidyUp() }
    }

    /// Returns the pages that are free, so that what was removed is in the file no more, as far as the
    /// time allows; to be called at the end, after the flush.
    func tidyAtEnd() async {
        let deadline = ContinuousClock.now + Upkeep.timeAtEnd
        guard await writer.hasFreePages else { return }
        do {
            while ContinuousClock.now < deadline, try await writer.tidy() {}
        } catch {
            logger.debug("The database could not be made smaller: \(error)")
        }
    }

    /// Gives up what is under way, refuses what waits, and returns when that is over.
    func endUpkeep() async {
        upkeep.isEnding = true
        await writer.giveUpBackup()
        await withCheckedContinuation { continuation in
            // Looked at here and not before: others of the loop may have had their turn since.
            guard upkeep.isUnderWay else { return continuation.resume() }
            upkeep.whenOver = { continuation.resume() }
        }
    }

    /// Leaves work that takes its time where the service is to end.
    func checkNotEnding() throws {
        if upkeep.isEnding { throw DefaultsError.isEnding }
    }

    /// Does what keeps the database small, in steps between which flushes go first.
    private func tidy() async {
        do {
            while !upkeep.isEnding, try await writer.tidy() {}
        } catch {
            // The next flush has it tried again. The log may have to begin anew for that.
            longCalls.isLogReady = false
            logger.debug("The database could not be made smaller: \(error)")
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
    /// - Returns: The backup, or that there is none of a database that is damaged.
    /// - Throws: Where the disk has refused, or the service is to end.
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
            // For the end of the service, or the store was made anew: then of the new one.
            case .givenUp: continue
            }
        }
    }

    /// Several who wait for a backup at the same time get the same one: nothing that was
    /// acknowledged before their calls is not in it.
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

    /// What a look at every row has found.
    private func note(_ damage: StoreDamage) {
        logger.error("The database is damaged, and no backup was made of it. \(damage)")
        mend(because: damage.description)
    }
}
