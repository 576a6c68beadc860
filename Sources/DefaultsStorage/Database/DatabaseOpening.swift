internal import DefaultsModel
internal import SQLite

/// The steps from a locked directory to a database that can be used.
struct DatabaseOpening {
    let file: StoreFile
    private let directory: PrivateDirectory
    private let report: (Notice) -> Void
    private let connection: Connection
    private let isNew: Bool

    /// What a database begins with.
    struct Recovered {
        let journal: Journal
        let contents: DatabaseContents
        let counter: GenerationCounter
    }

    /// Opens the store, or makes it.
    init(
        of directory: PrivateDirectory, report: @escaping (Notice) -> Void
    ) throws(StorageError) {
        self.directory = directory
        self.report = report
        file = StoreFile(path: directory.file("defaults.db"))
        try file.make(in: directory)
        connection = try file.connect()
        isNew = try file.prepare(connection)
    }

    /// Takes up what the last process left in the journal and goes on with a journal of our own.
    func recover(
        from location: DatabaseLocation, boot: UniqueID
    ) throws(StorageError) -> Recovered {
        let state = try file.state(connection)
        let lastPlace = JournalPlace(notedIn: directory)
        let journalDirectory = try makeJournalDirectory(at: location)
        var contents = DatabaseContents(over: try StoreReader(connection, path: file.path))
        var history = try JournalHistory(
            of: state.uuid, boot: boot,
            in: location.journalDirectories(now: journalDirectory, last: lastPlace),
            report: report)
        try replay(&history, above: state.generation, into: &contents)
        var counter = GenerationCounter(
            current: isNew
                ? state.generation : history.generation(after: state, last: lastPlace),
            durable: state.generation, ceiling: state.ceiling)
        if counter.isExhausted { raiseCeiling(of: &counter, writing: &contents) }
        func start(in directory: PrivateDirectory) throws(StorageError) -> Journal {
            try startJournal(
                in: directory, of: state.uuid, boot, after: history.segments, at: counter,
                holding: contents.overlay)
        }
        let journal: Journal
        do throws(StorageError) {
            journal = try start(in: journalDirectory)
        } catch {
            journal = try start(in: makeJournalBesideDatabase(at: location, because: error))
        }
        return Recovered(journal: journal, contents: contents, counter: counter)
    }

    /// Makes the directory of the journal; beside the database where the runtime directory is
    /// not to be used, as `su` leaves that of another user behind.
    private func makeJournalDirectory(
        at location: DatabaseLocation
    ) throws(StorageError) -> PrivateDirectory {
        do throws(StorageError) {
            return try location.makeJournalDirectory()
        } catch {
            return try makeJournalBesideDatabase(at: location, because: error)
        }
    }

    private func makeJournalBesideDatabase(
        at location: DatabaseLocation, because error: StorageError
    ) throws(StorageError) -> PrivateDirectory {
        let directory = try location.makeJournalBesideDatabase()
        report(.journalBesideDatabase(directory.path, error))
        return directory
    }

    /// Takes every change that the store has nothing newer for.
    ///
    /// The store's generation alone does not decide what it has: a journal may come to light
    /// late, as a runtime directory that the last process could not see, or that of another host
    /// of a shared home. Its changes are then below that generation. But they are in the store
    /// only if the row of their key is as new as they are, and where it is newer they are
    /// replaced.
    private func replay(
        _ history: inout JournalHistory, above durable: Generation,
        into contents: inout DatabaseContents
    ) throws(StorageError) {
        var count = 0
        try history.replay { (change) throws(StorageError) in
            let missing =
                change.generation > durable ? change : try contents.notStored(of: change)
            guard let missing else { return }
            let totals = try contents.totals(after: missing.proposal)
            contents.overlay.add(missing, totals: totals)
            count += 1
        }
        if count > 0 { report(.replayed(count)) }
    }

    /// Writes all that is pending, and with it a higher ceiling.
    ///
    /// Where that fails the database opens all the same: it can be read, and changes are refused
    /// until a flush succeeds.
    private func raiseCeiling(
        of counter: inout GenerationCounter, writing contents: inout DatabaseContents
    ) {
        let batch = FlushBatch(
            generation: counter.current, changes: contents.overlay.beginFlush(), lastSegment: nil)
        do {
            try FlushTransaction(on: connection).write(batch)
            contents.overlay.finishFlush()
            counter.noteDurable(batch)
        } catch {
            contents.overlay.abandonFlush()
            report(.ceilingNotRaised(.storeFailure(file.path, error, .cannotWrite)))
        }
    }

    private func startJournal(
        in directory: PrivateDirectory, of database: UniqueID, _ boot: UniqueID,
        after found: [SealedSegment], at counter: GenerationCounter, holding pending: PendingOverlay
    ) throws(StorageError) -> Journal {
        let place = JournalPlace(boot: boot, path: directory.path)
        let isElsewhere = found.contains { $0.directory != place.path }
        do throws(SystemError) {
            let journal = try Journal(
                in: directory, database: database, boot: boot, after: found, at: counter)
            if isElsewhere { try journal.takeOver(pending, at: counter) }
            // The note comes when everything stands in the new place, and before it is gone from
            // the old one: a process that dies here leaves a note that leads to all of it.
            place.note(in: self.directory, report: report)
            if isElsewhere || pending.isEmpty { tidy(journal) }
            return journal
        } catch {
            throw .cannotOpen(directory.path, error)
        }
    }

    private func tidy(_ journal: Journal) {
        do {
            try journal.removeSealed()
        } catch {
            // They are not needed; the end of the next flush tries again.
            report(.journalNotTidied(error))
        }
    }
}
