package import DefaultsModel
internal import SystemCalls

extension Database {
    /// Makes the writer for the batches of this database.
    ///
    /// - Throws: `.cannotOpen` if the file cannot be opened, or no thread can be made.
    ///
    /// - Parameter report: Gets what is to be said about the history, on the writer's thread.
    package func makeWriter(
        report: @escaping @Sendable (Notice) -> Void = { _ in }
    ) throws(StorageError) -> DurableWriter {
        try DurableWriter(
            to: identity, in: place, readingFrom: standIn?.file,
            history: HistoryOrigin(
                database: journal.database, known: generationAtStart, report: report),
            date: date)
    }

    /// Whether a flush has something to write: changes, tokens, a higher ceiling, or files that
    /// somebody has removed.
    package var needsFlush: Bool {
        !contents.overlay.isEmpty || counter.isExhausted || isMoved || diskDoubt != nil
    }

    /// Why the store cannot be written, although it can be read; nil if it can be written.
    package var unwritable: StorageError? {
        guard standIn != nil else { return nil }
        return place.obstacle.map { .storeUnwritable(path, $0) }
    }

    /// Notes that the disk does not answer.
    ///
    /// Flushes are needed until one succeeds, even if nothing is pending.
    package func doubtDisk(because error: StorageError) {
        diskDoubt = error
    }

    /// Whether files of the store were moved, removed or replaced, so that the next process would not find
    /// what is written to them.
    package var isMoved: Bool { identity.isLost(from: file) || place.isLost }

    /// The number of the flush that will have written everything that is acknowledged now; nil if
    /// everything is on disk.
    ///
    /// It is the current flush or the next one, as counted by `flushesBegun`. A call that waits for
    /// the disk waits for its end. A generation would not do: a token may have the generation of an
    /// earlier change.
    package var flushOfPending: UInt64? {
        guard needsFlush else { return nil }
        return contents.overlay.isTakenUp ? flushesBegun : flushesBegun + 1
    }

    /// Begins a flush of all that is pending.
    ///
    /// One flush at a time.
    ///
    /// - Parameter history: What of it is kept in the history; nil for nothing.
    /// - Returns: What to write; nil if there is nothing. The caller gives the outcome to
    ///   `finishFlush(_:_:)`.
    package func beginFlush(history: HistoryRules? = nil) -> FlushBatch? {
        guard needsFlush else { return nil }
        flushesBegun += 1
        tidyJournal(.beginning) {
            try renewWhatIsLost()
            try journal.rotate(at: counter)
        }
        let changes = contents.overlay.beginFlush()
        return FlushBatch(
            generation: counter.current, changes: changes, record: counter.record,
            lastSegment: journal.lastSealed, host: hostToNote(with: changes), history: history)
    }

    /// Ends a flush: what was written is removed from memory and journal.
    ///
    /// After a failure everything stays pending.
    package func finishFlush(_ batch: FlushBatch, _ outcome: Result<Void, StorageError>) {
        guard case .success = outcome else { return contents.overlay.abandonFlush() }
        if followStore(to: batch) {
            contents.overlay.finishFlush()
        } else {
            contents.overlay.abandonFlush()
        }
        counter.noteDurable(batch)
        if let host = batch.host { notedName = host.name }
        diskDoubt = nil
        place.noteWritten(journal.database, at: counter.durable)
        if let last = batch.lastSegment {
            tidyJournal(.removing) { try journal.remove(through: last) }
        }
        // If no new segment could be begun, this one still has what the flush has written.
        if contents.overlay.isEmpty { tidyJournal(.emptying) { try journal.clear() } }
    }

    /// Does work on the journal that can be postponed.
    ///
    /// If it fails, the journal is larger than needed until a later attempt.
    ///
    /// A failure is reported once, until all work that failed has succeeded.
    func tidyJournal(_ work: JournalWork, _ attempt: () throws -> Void) {
        do {
            try attempt()
            untidied.remove(work)
        } catch {
            if untidied.isEmpty { report(.journalNotTidied(error)) }
            untidied.insert(work)
        }
    }
}

/// Work on the journal that can be postponed.
enum JournalWork: Hashable {
    /// Beginning a segment.
    case beginning
    /// Removing segments, or emptying one.
    case removing, emptying
    /// Rewriting the journal.
    case rewriting
}

/// The store that the writer has replaced.
extension Database {
    /// Switches to the files that now have the names of the store, if they are new ones.
    ///
    /// If they cannot be read, the old files stay in use, with all later changes over them. Then
    /// these changes must stay in memory, and the next flush tries again.
    ///
    /// - Parameter batch: What the new store must have.
    /// - Returns: Whether the files that are written are the ones that are read.
    private func followStore(to batch: FlushBatch) -> Bool {
        guard identity.isLost(from: file) else { return true }
        do throws(StorageError) {
            let connection = try file.connect()
            let state = try file.state(connection)
            // Another file may have been put there in the meantime.
            guard state.uuid == journal.database, state.generation >= batch.generation else {
                throw .storeGone(path)
            }
            let store = try StoreReader(connection, path: path)
            identity = try file.identity()
            contents.move(to: store)
        } catch {
            report(.storeNotFollowed(path, error))
            return false
        }
        notePlaces()
        report(standIn == nil ? .storeRenewed(path) : .storeWritable(path))
        standIn?.remove()
        standIn?.close()
        standIn = nil
        journal.isNoted = true
        return true
    }
}

extension Database {
    /// Makes a new journal and a new page if one of them is no longer in its place.
    ///
    /// This happens when the session of the user ends and its runtime directory is removed, or when
    /// somebody cleans up. The journal then has no name and would be lost with the process, and the
    /// next process could not update the page that clients have mapped. The new ones are made in
    /// the runtime directory or, if that is impossible, beside the database.
    ///
    /// First, a page that clients still rely on but that shows no changes is voided.
    ///
    /// - Throws: `.directoryUnusable` or `.cannotOpen` if the journal can be made in neither.
    func renewWhatIsLost() throws(StorageError) {
        if pages.voidLeft() { notePlaces() }
        let isJournalLost = journal.isLost
        let isPageLost = pages.current?.isLost ?? false
        guard isJournalLost || isPageLost else { return }
        pages.giveUp()
        if isJournalLost { try renewJournal() }
        renewPage()
        if pages.current != nil { report(.pageLost(now: journal.directory.path)) }
    }

    /// Makes a page, or continues with an existing one, while the process runs.
    func renewPage() {
        pages.open(
            in: journal.directory, at: counter.current, durable: counter.durable, replayed: nil)
    }

    /// Begins a journal that a later process finds, if there was none until now.
    ///
    /// - Throws: `.directoryUnusable` or `.cannotOpen` if there can still be none.
    func leaveStandInJournal() throws(StorageError) {
        guard journalObstacle != nil else { return }
        do throws(StorageError) {
            try moveJournal(to: location.takeJournalDirectory(of: journal.database))
        } catch {
            try moveJournal(to: location.takeJournalBesideDatabase())
        }
        journalObstacle = nil
        pages.giveUp()
        renewPage()
    }

    private func renewJournal() throws(StorageError) {
        let lost = journal.directory.path
        do throws(StorageError) {
            try moveJournal(to: location.takeJournalDirectory(of: journal.database))
        } catch {
            try moveJournal(to: location.takeJournalBesideDatabase())
        }
        report(.journalLost(lost, now: journal.directory.path))
    }

    private func moveJournal(to place: JournalDirectory) throws(StorageError) {
        do {
            try journal.move(to: place, with: contents.overlay, at: counter)
        } catch {
            throw .cannotOpen(place.path, error)
        }
        notePlaces()
    }

    /// Continues the journal in another place because this one refuses a change: on disk, beside the
    /// database, if it is in the runtime directory, and in the runtime directory otherwise.
    ///
    /// So neither a full file system in memory nor a full disk alone keeps changes from being accepted.
    ///
    /// - Throws: `.directoryUnusable` or `.cannotOpen` if there is no other place.
    func moveJournal(awayFrom refusal: SystemError) throws(StorageError) {
        let refused = journal.directory.path
        if location.isBesideDatabase(refused) {
            guard location.runtimeDirectory != nil else { throw .cannotOpen(refused, refusal) }
            try moveJournal(to: location.takeJournalDirectory(of: journal.database))
        } else {
            try moveJournal(to: location.takeJournalBesideDatabase())
        }
        // The next process looks for the page where the journal is.
        pages.giveUp()
        renewPage()
        report(.journalRefused(refused, refusal, now: journal.directory.path))
    }

    private func notePlaces() {
        let place = JournalPlace(boot: boot, path: journal.directory.path)
        PlaceNote(journal: place, pages: pages.left.map(\.path)).write(
            in: directory, report: report)
    }
}

extension Database {
    /// What the writer needs for a repair of the store.
    package var identification: StoreIdentification {
        StoreIdentification(uuid: journal.database)
    }

    /// Closes the database and opens the repaired store, as the next process would.
    ///
    /// - Returns: The database to use from now on instead of this one.
    /// - Throws: As the opening of any database.
    package func reopened(after repair: CompletedRepair) throws(StorageError) -> Database {
        report(.repaired(repair.report))
        close()
        return try Database(
            at: location, boot: boot, machine: machine, date: date, pageKeeper: pageKeeper,
            report: report)
    }
}
