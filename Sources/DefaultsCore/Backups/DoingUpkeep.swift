import class DBus.EventLoop
import DefaultsProtocol
import DefaultsStorage
import Logging
import Wording

/// Backups: the daily ones, which follow a flush, and those for callers.
///
/// One request is carried out at a time, on the writer's thread and between its flushes. A failed
/// backup affects no change.
extension Settings {
    /// How long returning free pages may take at the end: the next daemon waits for the database
    /// meanwhile.
    private static let timeAtEnd = Duration.seconds(2)

    /// Adds a request to the queue.
    package func request(_ request: Upkeep.Request) {
        guard upkeep.add(request) else { return }
        begin(.upkeep)
    }

    /// Begins the daily backup if it is due.
    ///
    /// Call this after a flush.
    func backUpDaily() {
        let isDue = upkeep.isDailyDue(
            at: loop.continuousNow, date: store.database.date.now,
            generation: store.database.durableGeneration
        ) {
            (try? store.database.backups()) ?? []
        }
        if isDue { request(.daily) }
    }

    /// Keeps the database small after the requests in the queue.
    ///
    /// Call this after a flush.
    func tidyUp() {
        if !upkeep.isTidyingAwaited { request(.tidying) }
    }

    /// Removes what the previous process has left of removed values from the file.
    nonisolated(nonsending) func tidyUpAfterStart() async {
        if await store.writer.mayHoldRemovedValues { tidyUp() }
    }

    /// Returns free pages until the time is over.
    ///
    /// Removed values are in the file until their pages are returned.
    ///
    /// Call this at the end, after the last flush.
    nonisolated(nonsending) func tidyAtEnd() async {
        let deadline = loop.now + Self.timeAtEnd
        guard await store.writer.mayHoldRemovedValues else { return }
        await tidy { loop.now < deadline }
    }

    /// Cancels the request in progress, refuses those in the queue, and returns when that is done.
    nonisolated(nonsending) func endUpkeep() async {
        upkeep.beginEnd()
        await store.writer.giveUpBackup()
        await upkeep.over()
    }

    /// Stops long work if the service is ending.
    func checkNotEnding() throws {
        if upkeep.isEnding { throw ContractError.isEnding }
    }

    private nonisolated(nonsending) func tidy() async {
        await tidy { !upkeep.isEnding }
    }

    /// Keeps the database small, in steps.
    ///
    /// Between two steps, flushes come first.
    private nonisolated(nonsending) func tidy(while mayGoOn: () -> Bool) async {
        do {
            while mayGoOn(), try await store.writer.tidy() {}
        } catch {
            // This is tried again after the next flush. The log may have to restart for that.
            lanes.noteLogInUse()
            logger.debug("The database could not be made smaller: \(error)")
            if error.isDamage { store.requestRepair(because: error.description) }
        }
    }

    nonisolated(nonsending) func doUpkeep() async {
        while let request = upkeep.next() {
            switch request {
            case .daily: await makeDailyBackup()
            case .tidying:
                await tidy()
                continue
            case .backup(let kind, let answer):
                await makeBackup(kind, for: [answer] + upkeep.takeFurtherBackups(kind))
            case .restoration(let restoration, let answer):
                do {
                    answer(.success(try await restore(restoration)))
                } catch {
                    answer(.failure(error))
                }
            }
            upkeep.noteBackups()
        }
        // A backup has connections of its own.
        Memory.returnFreePages()
        upkeep.rest()
    }
}

// MARK: Making backups

extension Settings {
    /// Makes a backup of everything that has been acknowledged so far.
    ///
    /// - Parameters:
    ///   - kind: The kind of the backup.
    ///   - spared: A backup that must not be removed for this one.
    /// - Returns: The backup, or an error if the database is damaged.
    /// - Throws: If the disk has refused, or if the service is ending.
    nonisolated(nonsending) func makeBackup(
        _ kind: Backup.Kind, sparing spared: Backup? = nil
    ) async throws -> Result<Backup, ContractError> {
        while true {
            try checkNotEnding()
            _ = try await store.durability().get()
            await tidy()
            try checkNotEnding()
            switch try await store.writer.backUp(kind, sparing: spared) {
            case .made(let backup):
                logger.info("Made the backup \(backup.name) of \(counted(backup.size, "byte")).")
                store.noteIntact()
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

    private nonisolated(nonsending) func makeBackup(
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

    private nonisolated(nonsending) func makeDailyBackup() async {
        await tidy()
        guard !upkeep.isEnding else { return }
        do {
            switch try await store.writer.backUp(.daily) {
            case .made(let backup):
                logger.info(
                    "Made the daily backup \(backup.name) of \(counted(backup.size, "byte")).")
                upkeep.noteDaily()
                store.noteIntact()
            case .damaged(let damage):
                if noteDailyFailure() { note(damage) }
            case .givenUp: break
            }
        } catch {
            if noteDailyFailure() {
                logger.log(.backupFails, level: .warning, "\(error) It is retried every hour.")
            }
        }
    }

    private func noteDailyFailure() -> Bool {
        upkeep.noteDailyFailure(at: loop.continuousNow)
    }

    /// Reports damage that was found while every row was read, and starts the repair.
    private func note(_ damage: StoreDamage) {
        logger.log(
            .damage, level: .error,
            "The database is damaged, and no backup was made of it. \(damage)")
        store.requestRepair(because: damage.description)
    }
}
