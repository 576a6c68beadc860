internal import DefaultsModel
internal import SQLite
internal import SystemCalls

/// The steps from a locked directory to a database that can be used.
struct DatabaseOpening {
    let file: StoreFile
    let directory: PrivateDirectory
    let report: (Notice) -> Void
    let store: OpenStore
    /// Whether the store was damaged, and made anew.
    let isRescued: Bool
    /// Where the process before has left its files.
    private let last: PlaceNote?
    private let place: PrivateDirectory

    /// What a database begins with.
    struct Beginning {
        let journal: Journal
        let pages: CounterPages
        let contents: DatabaseContents
        let identity: StoreIdentity
        let counter: GenerationCounter
    }

    /// Opens the store, makes it, or makes it anew where it is damaged.
    ///
    /// - Parameters:
    ///   - locked: The directory of the store, and what the process before has noted there.
    ///   - damage: What was found to be wrong with the store; nil where nothing was.
    init(
        at location: DatabaseLocation, boot: UniqueID, in locked: StorePlace,
        damage: String?, report: @escaping (Notice) -> Void
    ) throws(StorageError) {
        directory = locked.directory
        self.report = report
        file = StoreFile(in: directory)
        last = PlaceNote(in: directory)
        place = try DatabaseOpening.makeJournalDirectory(at: location, report: report)
        let rescuer = StoreRescuer(
            of: file, in: locked,
            journals: try location.journalDirectories(now: place, last: last?.journal),
            hasPlaceNote: last != nil, mayBeTorn: last?.journal.boot != boot, report: report)
        (store, isRescued) = try rescuer.open(damage: damage)
    }

    /// Takes up what the last process left, and goes on with a journal and a page of our own.
    func begin(
        at location: DatabaseLocation, boot: UniqueID, pageKeeper: PageKeeper?
    ) throws(StorageError) -> Beginning {
        let recovery = try recover(
            from: location.journalDirectories(now: place, last: last?.journal),
            last: isRescued ? nil : last?.journal, boot: boot)
        let journal = try startJournal(after: recovery, in: place, at: location, boot: boot)
        var pages = CounterPages(of: recovery.store.uuid, keeper: pageKeeper, report: report)
        let others = try location.pageDirectories(now: place, last: last)
        pages.void(in: others.filter { $0.path != journal.directory.path })
        // The note comes when the journal stands whole in the new place and no page is believed in
        // an old one, or that page is noted, too; and before the journal is gone from the old one.
        // A process that dies here leaves a note that leads to all of it.
        PlaceNote(
            journal: JournalPlace(boot: boot, path: journal.directory.path),
            pages: pages.left.map(\.path)
        ).write(in: directory, report: report)
        tidy(journal, after: recovery)
        // Before anybody can ask for it.
        pages.open(
            in: journal.directory, at: recovery.counter.current, durable: recovery.store.generation,
            replayed: recovery.replayed)
        return Beginning(
            journal: journal, pages: pages, contents: recovery.contents,
            identity: try file.identity(), counter: recovery.counter)
    }
}

/// The journal that a start goes on with.
extension DatabaseOpening {
    /// Makes the directory of the journal; beside the database where the runtime directory is
    /// not to be used, as `su` leaves that of another user behind.
    static func makeJournalDirectory(
        at location: DatabaseLocation, report: (Notice) -> Void
    ) throws(StorageError) -> PrivateDirectory {
        do throws(StorageError) {
            return try location.makeJournalDirectory()
        } catch {
            return try makeJournalBesideDatabase(at: location, because: error, report: report)
        }
    }

    /// Begins a journal with all that is pending; beside the database where the directory does not
    /// take it.
    ///
    /// What was found stays where it is until `tidy(_:after:)`.
    func startJournal(
        after recovery: Recovery, in directory: PrivateDirectory, at location: DatabaseLocation,
        boot: UniqueID
    ) throws(StorageError) -> Journal {
        do throws(StorageError) {
            return try startJournal(after: recovery, in: directory, boot: boot)
        } catch {
            let beside = try DatabaseOpening.makeJournalBesideDatabase(
                at: location, because: error, report: report)
            return try startJournal(after: recovery, in: beside, boot: boot)
        }
    }

    /// Removes the segments that were found, where the new one stands for them.
    func tidy(_ journal: Journal, after recovery: Recovery) {
        guard
            recovery.needsRewriting(in: journal.directory) || recovery.contents.overlay.isEmpty
        else { return }
        do {
            try journal.removeSealed()
        } catch {
            // They are not needed; the end of the next flush tries again.
            report(.journalNotTidied(error))
        }
    }

    private func startJournal(
        after recovery: Recovery, in directory: PrivateDirectory, boot: UniqueID
    ) throws(StorageError) -> Journal {
        do throws(SystemError) {
            let journal = try Journal(
                in: directory, database: recovery.store.uuid, boot: boot,
                after: recovery.segments, at: recovery.counter)
            if recovery.needsRewriting(in: directory) {
                try journal.takeOver(recovery.contents.overlay, at: recovery.counter)
            }
            return journal
        } catch {
            throw .cannotOpen(directory.path, error)
        }
    }

    private static func makeJournalBesideDatabase(
        at location: DatabaseLocation, because error: StorageError, report: (Notice) -> Void
    ) throws(StorageError) -> PrivateDirectory {
        let directory = try location.makeJournalBesideDatabase()
        report(.journalBesideDatabase(directory.path, error))
        return directory
    }
}

/// What was acknowledged, and from where the numbers go on.
extension DatabaseOpening {
    /// Takes up what the last process left in the journal.
    ///
    /// - Parameters:
    ///   - directories: Where journals may stand.
    ///   - place: Where the last one stood.
    func recover(
        from directories: [PrivateDirectory], last place: JournalPlace?, boot: UniqueID
    ) throws(StorageError) -> Recovery {
        let state = store.state
        var contents = DatabaseContents(over: store.reader)
        var history = try JournalHistory(
            of: state.uuid, boot: boot, in: directories, report: report)
        let older = try replay(&history, above: state.generation, into: &contents)
        let outcome = store.isNew ? nil : history.generation(after: state, last: place)
        var recovery = Recovery(
            store: state, contents: contents, counter: GenerationCounter(after: state, outcome),
            segments: history.segments, hasJumped: outcome?.hasJumped == true)
        if recovery.counter.isExhausted { raiseCeiling(of: &recovery) }
        try takeUpOrPutOff(older, in: &recovery)
        return recovery
    }

    /// Writes all that is pending, and with it a higher ceiling.
    ///
    /// Where that fails the database opens all the same: it can be read, and changes are refused
    /// until a flush succeeds.
    private func raiseCeiling(of recovery: inout Recovery) {
        recovery.isRaised = true
        let batch = FlushBatch(
            generation: recovery.counter.current, changes: recovery.contents.overlay.beginFlush(),
            recordStart: recovery.counter.recordStart, lastSegment: nil, host: nil)
        do {
            try FlushTransaction(on: store.connection).write(batch)
            recovery.contents.overlay.finishFlush()
            recovery.counter.noteDurable(batch)
        } catch {
            recovery.contents.overlay.abandonFlush()
            report(.ceilingNotRaised(.storeFailure(file.path, error, .cannotWrite)))
        }
    }

    /// Makes late changes happen now, or leaves all that was found to a later start where there
    /// are no numbers for them.
    ///
    /// That is so where the counter has jumped to its ceiling and the disk does not take a higher
    /// one. The database can be read meanwhile, and once a flush has succeeded it can be changed.
    /// Nothing of what was found is lost by that: what is pending is written to the journal anew,
    /// and the later start finds out again what the store has as new.
    private func takeUpOrPutOff(
        _ older: PendingOverlay, in recovery: inout Recovery
    ) throws(StorageError) {
        var tried = recovery
        do throws(StorageError) {
            tried.isLate = try takeUp(older, into: &tried.contents, at: &tried.counter)
            recovery = tried
        } catch {
            guard error.code == .generationsExhausted else { throw error }
            try putOff(recovery.segments)
            recovery.segments = []
            recovery.isLate = true
            report(.putOff(error))
        }
    }

    private func putOff(_ segments: [SealedSegment]) throws(StorageError) {
        for segment in segments {
            do {
                try segment.putOff()
            } catch {
                throw .cannotOpen(segment.path, error)
            }
        }
    }
}

/// What stands in the journals that a start finds.
extension DatabaseOpening {
    /// Takes every change that came after what is in the store, and every token.
    ///
    /// All tokens, those of older changes too, are pending again, whether the store has them or
    /// not: so their order is that of the journal, by which the oldest are forgotten first.
    ///
    /// - Returns: The changes before that, of each key the last one. Nearly always they are in the
    ///   store, too.
    func replay(
        _ history: inout JournalHistory, above durable: Generation,
        into contents: inout DatabaseContents
    ) throws(StorageError) -> PendingOverlay {
        var count = 0
        var older = PendingOverlay()
        let progress = Progress { [report] in report(.replaying($0)) }
        try history.replay { (change) throws(StorageError) in
            progress.step()
            let isOlder = change.generation <= durable && !change.proposal.changesNothing
            if isOlder { older.add(change, totals: KeyTotals()) }
            guard let pending = isOlder ? change.tokenAlone : change else { return }
            contents.overlay.add(pending, totals: try contents.totals(after: pending.proposal))
            if !pending.proposal.changesNothing { count += 1 }
        }
        if count > 0 { report(.replayed(count)) }
        return older
    }

    /// Makes the changes happen now that neither the store nor the journal of the last process has.
    ///
    /// A journal may come to light late, as a runtime directory that the last process could not
    /// see, or that of another host of a shared home. Its changes are below the generation of the
    /// store. But they are in the store only if the row of their key is as new as they are, and
    /// where it is newer they are replaced. The others get new numbers: whoever has looked since
    /// then must be told of them. Their tokens keep the numbers that were replied.
    ///
    /// - Returns: Whether there were any.
    func takeUp(
        _ older: PendingOverlay, into contents: inout DatabaseContents,
        at counter: inout GenerationCounter
    ) throws(StorageError) -> Bool {
        // All are looked at before the first is made: then it would pass for newer than the rest.
        var missing: [ChangeProposal] = []
        for change in older.changeSets {
            if let proposal = try contents.missing(of: change) { missing.append(proposal) }
        }
        for proposal in missing {
            let late = ChangeSet(generation: try counter.next(), proposal: proposal)
            contents.overlay.add(late, totals: try contents.totals(after: proposal))
            counter.noteAcknowledged(late)
        }
        if !missing.isEmpty { report(.tookUpLate(missing.count)) }
        return !missing.isEmpty
    }
}

/// What a start has made of the store and of the journals that it found.
///
/// The journal and the page that it goes on with both derive from this.
struct Recovery {
    /// The store as it was found.
    let store: StoreState
    /// What every caller sees from now on.
    var contents: DatabaseContents
    var counter: GenerationCounter
    /// The segments that were found, but for those that are left to a later start.
    var segments: [SealedSegment]
    /// Whether numbers may have been given that nothing tells of, so that the counter has jumped.
    let hasJumped: Bool
    /// Whether the ceiling was reached, and what was pending may be in the store by now.
    var isRaised = false
    /// Whether changes came to light late; they have numbers now that no segment has them under.
    var isLate = false

    /// Whether a journal in a directory needs all that is pending written anew, because the
    /// segments that were found do not stand for it there.
    func needsRewriting(in directory: PrivateDirectory) -> Bool {
        isLate || segments.contains { $0.directory != directory.path }
    }

    /// All changes that an earlier page may lack; nil where there may be others.
    var replayed: [ChangeSet]? {
        hasJumped || isRaised || isLate ? nil : contents.overlay.changeSets
    }
}
