package import DefaultsModel
internal import DefaultsTerms
internal import SQLite

/// The history, which is written before each transaction of the store, and never keeps it from being
/// written.
extension DurableWriter {
    /// Notes what a batch changes.
    ///
    /// If that fails, the flush goes on without it, and the history has a gap: the next one that succeeds
    /// finds that the store is ahead of it.
    func noteInHistory(_ batch: FlushBatch) {
        guard let rules = batch.history, batch.generation != generationInHistory else { return }
        if rules != historyRules {
            (historyRules, historyChores.isDue) = (rules, true)
        } else if rules.isOff, !historyChores.isDue {
            // All of it was removed, and nothing is added to it.
            generationInHistory = batch.generation
            return
        }
        // On a disk that is nearly full it must not take the space of the settings.
        // It may write as much again as the database, to its log and to its file.
        let least = DurableWriter.leastSpaceForHistory + 4 * batch.addedBytes
        if let free = try? place.directory.freeSpace(), free < least {
            // Its log may have a megabyte, which the settings can use.
            if historyTrouble == nil { try? history?.foldLog() }
            return reportHistory("the disk has too little space")
        }
        do {
            let time = now
            let file = try openHistory(at: time)
            let growth = try HistoryFlush(
                batch, by: rules, into: file, from: openConnection, at: time
            ).write()
            historyChores.note(growth, by: rules)
            generationInHistory = batch.generation
            historyTrouble = nil
        } catch {
            abandonHistory(after: error)
            reportHistory("\((error as? SQLiteError)?.reason ?? "\(error)")")
        }
    }

    /// The present time, in seconds since 1970.
    private var now: Int64 { Int64(clamping: date.now) }

    /// The free space below which the history is not written: 8 MiB.
    private static let leastSpaceForHistory = 8 << 20

    /// Says once why changes are not noted.
    private func reportHistory(_ reason: String) {
        guard historyTrouble != reason else { return }
        historyTrouble = reason
        origin.report(.noHistory(place.directory.file(HistoryFile.name), reason))
    }

    /// Closes the history after an error, and sets a damaged file aside.
    private func abandonHistory(after error: any Error) {
        guard let file = history.take(), !file.isLost, let error = error as? SQLiteError,
            file.isDamaged(accordingTo: error)
        else { return }
        // If it cannot be renamed, the next flush fails as this one did, and says nothing new.
        try? HistoryFile.setAside(
            in: place.directory, because: error.reason, report: origin.report)
    }

    private func openHistory(at time: Int64) throws -> HistoryFile {
        if let history, !history.isLost { return history }
        history = nil
        let opened = try HistoryFile(
            in: place.directory, of: origin.database,
            at: try LiveValues(openConnection).generation(),
            known: isHistoryJudged ? nil : origin.known, time: time, report: origin.report)
        isHistoryJudged = true
        history = opened
        return opened
    }

    // MARK: Upkeep

    /// Whether the history may be above its bounds.
    var hasHistoryChores: Bool { history != nil && historyChores.isDue }

    /// Keeps the history within its bounds.
    ///
    /// - Returns: Whether there is more to do.
    func tidyHistory() -> Bool {
        guard hasHistoryChores, let history else { return false }
        do {
            let trimming = HistoryTrimming(
                of: history, by: historyRules, at: now)
            if historyRules.isOff {
                if try trimming.forgetAll() { historyChores.hasRemoved = true }
                HistoryFile.removeAside(in: place.directory)
            } else if try trimming.trimSome() {
                historyChores.hasRemoved = true
                return true
            }
            if historyChores.hasRemoved { try trimming.finish() }
            historyChores = HistoryChores(isDue: false)
        } catch {
            abandonHistory(after: error)
            // It is tried again when more was added. If it is off, nothing is added any more.
            historyChores = HistoryChores(isDue: historyRules.isOff)
        }
        return false
    }

    // MARK: Reading

    /// Reads the history over what is in the store.
    private func reading<Result>(
        _ body: (HistoryReading, HistoryFile) throws -> Result
    ) throws -> Result {
        do {
            let time = now
            let file = try openHistory(at: time)
            try file.noteGap(upTo: LiveValues(openConnection).generation(), at: time)
            return try body(try HistoryReading(file, over: openConnection), file)
        } catch let error as SQLiteError {
            abandonHistory(after: error)
            throw StorageError.historyFailure(place.directory.file(HistoryFile.name), error)
        }
    }

    /// The actions that a filter lets through, the newest first, and the time from which on the history is
    /// complete, in seconds since 1970.
    package func actions(
        _ filter: ActionFilter
    ) throws -> (actions: [ActionSummary], knownSince: Int64) {
        try reading { reading, _ in (try reading.actions(filter), try reading.knownSince()) }
    }

    /// An action with the keys that it changed; nil if the history does not have it.
    package func action(_ number: UInt64) throws -> (ActionSummary, [ActionChange])? {
        try reading { reading, _ in try reading.action(number) }
    }

    /// What keys of a domain had after a generation.
    ///
    /// - Parameters:
    ///   - keys: The keys; empty for all that are known.
    ///   - generation: The generation; nil for a time.
    ///   - time: The time, in seconds since 1970.
    package func values(
        of keys: [Key], in domain: Domain, at generation: Generation?, time: Int64
    ) throws -> HistoryValues {
        try reading { reading, _ in
            let store = openConnection
            let meant: Int64
            if let generation {
                meant = generation.column
            } else {
                meant = max(
                    try reading.generation(at: time) ?? 0,
                    try TimeTable(connection: store).generation(at: time) ?? 0)
            }
            let state = try self.file.state(store)
            let isOnRecord =
                Generation(column: meant)
                .map { state.record.reaches(backTo: $0, now: state.generation) } ?? false
            let (values, isComplete) = try reading.values(
                of: keys, in: domain, at: meant, isOnRecord: isOnRecord)
            return HistoryValues(
                generation: Generation(column: meant), values: values, isComplete: isComplete)
        }
    }

    /// Finds out what becomes of each key when actions are taken back.
    ///
    /// - Throws: ``TakingBackObstacle``, or a `StorageError`.
    package func plan(_ request: TakingBackRequest) throws -> TakingBackPlan {
        try reading { reading, file in
            let store = try LiveValues(openConnection)
            return try reading.plan(request, at: try store.generation(), of: store, in: file)
        }
    }
}

/// What keys had at some time.
package struct HistoryValues: Sendable {
    /// The generation that was meant; nil if it was before the first change that is known.
    package let generation: Generation?
    package let values: [(key: Key, value: KnownValue)]
    /// Whether all keys of the domain are among them, if all were asked for.
    package let isComplete: Bool
}

/// Whether the history may be above its bounds.
///
/// That is found out by reading all of it, so it is not done after each flush.
struct HistoryChores {
    /// The most rows that are added before it is looked at again.
    private static let mostRows = 512

    /// What was added since it was looked at.
    private var growth = HistoryFlush.Growth()
    /// Whether it is to be looked at.
    var isDue = true
    /// Whether something was removed of it, so that its log still has that.
    var hasRemoved = false

    init(isDue: Bool = true) { self.isDue = isDue }

    /// Takes note of what a flush has added.
    mutating func note(_ added: HistoryFlush.Growth, by rules: HistoryRules) {
        growth.rows += added.rows
        growth.bytes += added.bytes
        let mostBytes = min(rules[.bytesPerDomain], rules[.bytes]) / 64
        if added.isNewDay || growth.rows > Self.mostRows || growth.bytes > mostBytes {
            isDue = true
        }
    }
}

/// Whose history a writer keeps.
struct HistoryOrigin: Sendable {
    /// The database that it belongs to.
    let database: UniqueID
    /// The last change that is known of the time before this process.
    let known: Generation
    /// Gets what is to be said about the history.
    let report: @Sendable (Notice) -> Void
}
