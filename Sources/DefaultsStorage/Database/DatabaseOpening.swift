internal import DefaultsModel
internal import SQLite

/// The steps from a locked directory to a database that can be used.
struct DatabaseOpening {
    let file: StoreFile
    private let directory: PrivateDirectory
    let report: (Notice) -> Void
    private let connection: Connection
    private let isNew: Bool

    /// What a database begins with.
    struct Recovered {
        let identity: UniqueID
        let journal: Journal
        let contents: DatabaseContents
        let counter: GenerationCounter
        let page: CounterPage?
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
        do {
            try file.makeIndex(connection)
        } catch {
            report(.indexNotMade(error))
        }
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
        let older = try replay(&history, above: state.generation, into: &contents)
        let outcome = isNew ? nil : history.generation(after: state, last: lastPlace)
        var counter = GenerationCounter(after: state, outcome)
        let isRaised = counter.isExhausted
        if isRaised { raiseCeiling(of: &counter, writing: &contents) }
        let isLate = try takeUpOrPutOff(
            older, of: &history, into: &contents, at: &counter)
        func start(in directory: PrivateDirectory) throws(StorageError) -> Journal {
            try startJournal(
                in: directory, of: state.uuid, boot, after: history.segments, at: counter,
                holding: contents.overlay, isLate: isLate)
        }
        let journal: Journal
        do throws(StorageError) {
            journal = try start(in: journalDirectory)
        } catch {
            journal = try start(in: makeJournalBesideDatabase(at: location, because: error))
        }
        // Only without any of these is all that the page lacks still pending.
        let isWhole = outcome?.hasJumped != true && !isRaised && !isLate
        let page = openPage(
            of: state, in: journal.directory, at: counter,
            replayed: isWhole ? contents.overlay.changeSets : nil,
            others: try location.journalDirectories(now: journal.directory, last: lastPlace))
        return Recovered(
            identity: state.uuid, journal: journal, contents: contents, counter: counter,
            page: page)
    }

    /// Brings the page of counters up to date, before anybody can ask for it.
    ///
    /// Where there is none to be had, nobody reads without asking until one can be made.
    ///
    /// - Parameter others: Where the last process may have had its page. Clients must not believe
    ///   it any more.
    private func openPage(
        of state: StoreState, in directory: PrivateDirectory, at counter: GenerationCounter,
        replayed: [ChangeSet]?, others: [PrivateDirectory]
    ) -> CounterPage? {
        for other in others where other.path != directory.path {
            do {
                try CounterPage.voidPage(in: other)
            } catch {
                report(.pageNotVoided(other.path, error))
            }
        }
        do {
            return try CounterPage.open(
                in: directory, of: state.uuid, at: counter.current, durable: state.generation,
                replayed: replayed)
        } catch {
            report(.noPage(error))
            return nil
        }
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

    /// Writes all that is pending, and with it a higher ceiling.
    ///
    /// Where that fails the database opens all the same: it can be read, and changes are refused
    /// until a flush succeeds.
    private func raiseCeiling(
        of counter: inout GenerationCounter, writing contents: inout DatabaseContents
    ) {
        let batch = FlushBatch(
            generation: counter.current, changes: contents.overlay.beginFlush(),
            recordStart: counter.recordStart, lastSegment: nil)
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
        after found: [SealedSegment], at counter: GenerationCounter,
        holding pending: PendingOverlay,
        isLate: Bool
    ) throws(StorageError) -> Journal {
        let place = JournalPlace(boot: boot, path: directory.path)
        let isElsewhere = found.contains { $0.directory != place.path }
        do throws(SystemError) {
            let journal = try Journal(
                in: directory, database: database, boot: boot, after: found, at: counter)
            // The records of late changes bear their old numbers.
            if isElsewhere || isLate { try journal.takeOver(pending, at: counter) }
            // The note comes when everything stands in the new place, and before it is gone from
            // the old one: a process that dies here leaves a note that leads to all of it.
            place.note(in: self.directory, report: report)
            if isElsewhere || isLate || pending.isEmpty { tidy(journal) }
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
