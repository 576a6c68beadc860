internal import DefaultsModel
internal import SQLite

/// The steps from a locked directory to a database that can be used.
struct DatabaseOpening {
    let file: StoreFile
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
        let directory = try location.makeJournalDirectory()
        var contents = DatabaseContents(over: try StoreReader(connection, path: file.path))
        var history = try JournalHistory(
            of: state.uuid, boot: boot, in: location.journalDirectories(now: directory),
            report: report)
        try replay(&history, above: state.generation, into: &contents)
        var counter = GenerationCounter(
            current: isNew ? state.generation : history.generation(after: state),
            durable: state.generation, ceiling: state.ceiling)
        if counter.isExhausted { raiseCeiling(of: &counter, writing: &contents) }
        let journal = try startJournal(
            in: directory, of: state.uuid, boot, after: history.segments, at: counter,
            isNeeded: !contents.overlay.isEmpty)
        return Recovered(journal: journal, contents: contents, counter: counter)
    }

    private func replay(
        _ history: inout JournalHistory, above durable: Generation,
        into contents: inout DatabaseContents
    ) throws(StorageError) {
        let count = try history.replay(above: durable) { (change) throws(StorageError) in
            let totals = try contents.totals(after: change.proposal)
            contents.overlay.add(change, totals: totals)
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
        after found: [SealedSegment], at counter: GenerationCounter, isNeeded: Bool
    ) throws(StorageError) -> Journal {
        do throws(SystemError) {
            let journal = try Journal(
                in: directory, database: database, boot: boot, after: found, at: counter)
            if !isNeeded, let last = journal.lastSealed { try journal.remove(through: last) }
            return journal
        } catch {
            throw .cannotOpen(directory.path, error)
        }
    }
}
