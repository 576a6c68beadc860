internal import DefaultsModel

extension Database {
    /// Makes the writer that this database's batches are for.
    ///
    /// - Throws: `.cannotOpen` where the file, or a thread, is not to be had.
    package func makeWriter() throws(StorageError) -> DurableWriter {
        try DurableWriter(to: identity, in: place)
    }

    /// Whether there is something for a flush to write: changes, tokens, a ceiling to raise, or files
    /// that somebody has removed.
    package var needsFlush: Bool {
        !contents.overlay.isEmpty || counter.isExhausted || identity.isLost(from: file)
            || place.isLost
    }

    /// The flush that writes the last of what is acknowledged by now; nil where all is on disk.
    ///
    /// It is the one under way, or the next, as `flushesBegun` counts. Whoever waits for the disk
    /// waits for its end. No generation would tell as much: a token has that of an earlier change.
    package var flushOfPending: UInt64? {
        guard needsFlush else { return nil }
        return contents.overlay.isTakenUp ? flushesBegun : flushesBegun + 1
    }

    /// Begins a flush of all that is pending.
    ///
    /// One flush at a time.
    ///
    /// - Returns: What to write; nil where there is nothing. Whoever takes it tells
    ///   `finishFlush(_:_:)` what came of it.
    package func beginFlush() -> FlushBatch? {
        guard needsFlush else { return nil }
        flushesBegun += 1
        tidyJournal(.beginning) {
            try renewWhatIsLost()
            try journal.rotate(at: counter)
        }
        let changes = contents.overlay.beginFlush()
        return FlushBatch(
            generation: counter.current, changes: changes, recordStart: counter.recordStart,
            lastSegment: journal.lastSealed, host: hostToNote(with: changes))
    }

    /// Ends a flush: what was written leaves memory and journal, or stays pending as before.
    package func finishFlush(_ batch: FlushBatch, _ outcome: Result<Void, StorageError>) {
        guard case .success = outcome else { return contents.overlay.abandonFlush() }
        if followStore(to: batch) {
            contents.overlay.finishFlush()
        } else {
            contents.overlay.abandonFlush()
        }
        counter.noteDurable(batch)
        if let host = batch.host { notedName = host.name }
        place.noteWritten(journal.database, at: counter.durable)
        if let last = batch.lastSegment {
            tidyJournal(.removing) { try journal.remove(through: last) }
        }
        // What the flush has written is in there still where no new segment could be begun.
        if contents.overlay.isEmpty { tidyJournal(.emptying) { try journal.clear() } }
    }

    /// Does work on the journal that can be put off: where it fails, the journal holds more than
    /// it need, and a later attempt makes up for it.
    ///
    /// The log is told once, whatever work fails, until all that failed has succeeded.
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

/// Work on the journal that can be put off.
enum JournalWork: Hashable {
    /// Beginning a segment.
    case beginning
    /// Removing segments, or all that stands in one.
    case removing, emptying
    /// Writing the journal anew.
    case rewriting
}

/// The store that the writer has made anew.
extension Database {
    /// Reads from the files that bear the store's names, where these are others than were read.
    ///
    /// Where they cannot be read, the earlier ones are read on, under all that came since: then
    /// nothing of that may leave memory, and the next flush tries again.
    ///
    /// - Parameter batch: What the store has at least.
    /// - Returns: Whether what is written is read.
    private func followStore(to batch: FlushBatch) -> Bool {
        guard identity.isLost(from: file) else { return true }
        do throws(StorageError) {
            let connection = try file.connect()
            let state = try file.state(connection)
            // Somebody may have put another file there at this very moment.
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
        report(.storeRenewed(path))
        return true
    }
}

extension Database {
    /// Begins journal and page anew where one of them is no longer in its place.
    ///
    /// That is so when the user's session has ended and its runtime directory with it, or when
    /// somebody has cleaned up. What is appended to the journal then goes to a file without a name,
    /// which is gone with the process; and the next process would not bring the page up to date that
    /// clients have mapped. The new ones stand in the runtime directory again or, where that cannot
    /// be had, beside the database.
    ///
    /// A page that is still believed though nothing is shown on it is made void before all else.
    ///
    /// - Throws: `.directoryUnusable` or `.cannotOpen` where the journal can be had in neither.
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

    /// Makes a page, or takes one up, in the middle of the process's life.
    func renewPage() {
        pages.open(
            in: journal.directory, at: counter.current, durable: counter.durable, replayed: nil)
    }

    private func renewJournal() throws(StorageError) {
        let lost = journal.directory.path
        do throws(StorageError) {
            try moveJournal(to: location.makeJournalDirectory())
        } catch {
            try moveJournal(to: location.makeJournalBesideDatabase())
        }
        report(.journalLost(lost, now: journal.directory.path))
    }

    private func moveJournal(to place: PrivateDirectory) throws(StorageError) {
        do {
            try journal.move(to: place, with: contents.overlay, at: counter)
        } catch {
            throw .cannotOpen(place.path, error)
        }
        notePlaces()
    }

    private func notePlaces() {
        let place = JournalPlace(boot: boot, path: journal.directory.path)
        PlaceNote(journal: place, pages: pages.left.map(\.path)).write(
            in: directory, report: report)
    }
}

extension Database {
    /// What the writer needs to know to make the store anew.
    package var identification: StoreIdentification {
        StoreIdentification(uuid: journal.database)
    }

    /// Closes the database and opens the store that was made anew, as the next process would.
    ///
    /// - Returns: What to use from now on; this one is not used afterwards.
    /// - Throws: As the opening of any database.
    package func reopened(after rescue: CompletedRescue) throws(StorageError) -> Database {
        report(.rescued(rescue.report))
        close()
        return try Database(
            at: location, boot: boot, machine: machine, pageKeeper: pageKeeper, report: report)
    }
}
