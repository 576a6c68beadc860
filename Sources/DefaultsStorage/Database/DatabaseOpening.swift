internal import DefaultsModel
internal import SQLite
internal import SystemCalls

/// The steps from a locked directory to a database that can be used.
struct DatabaseOpening {
    let file: StoreFile
    let directory: PrivateDirectory
    let date: DateSource
    let report: (Notice) -> Void
    let store: OpenStore
    /// Whether the store was damaged and rebuilt.
    let isRepaired: Bool
    /// Where the previous process left its files.
    private let last: PlaceNote?
    private let search: JournalSearch
    private let standIn: StandIn?

    /// What a database begins with.
    struct Beginning {
        let journal: Journal
        let pages: CounterPages
        let contents: DatabaseContents
        let identity: StoreIdentity
        let counter: GenerationCounter
        /// The last change that is known of the time before this process.
        let known: Generation
        /// Why the journal is where no later process finds it, so that changes are refused; nil if it is
        /// not.
        let journalObstacle: StorageError?
    }

    /// Opens the store.
    ///
    /// A missing store is created, and a damaged one is rebuilt.
    ///
    /// - Parameters:
    ///   - locked: The directory of the store, and what the previous process noted there.
    ///   - standIn: A copy of the store, if that cannot be written.
    ///   - damage: What was found to be wrong with the store; nil if nothing was.
    ///   - date: The date.
    init(
        at location: DatabaseLocation, boot: UniqueID, in locked: StorePlace,
        or standIn: StandIn?, damage: String?, date: DateSource,
        report: @escaping (Notice) -> Void
    ) throws(StorageError) {
        directory = locked.directory
        self.date = date
        self.report = report
        self.standIn = standIn
        file = standIn?.file ?? StoreFile(in: directory)
        last = PlaceNote(in: directory)
        search = try JournalSearch(at: location, last: last)
        let repairer = StoreRepairer(
            of: file, in: locked, journals: search.ofThisPlace(),
            hasPlaceNote: last != nil, mayBeTorn: last?.journal.boot != boot, date: date,
            report: report)
        (store, isRepaired) = try repairer.open(damage: damage)
    }

    /// Takes over what the previous process left, and continues with a new journal and a page.
    func begin(
        at location: DatabaseLocation, boot: UniqueID, pageKeeper: PageKeeper?
    ) throws(StorageError) -> Beginning {
        let (left, moved) = (
            search.ofThisPlace(), search.ofMoved(store.state.uuid, now: file)
        )
        for directory in moved { report(.movedJournal(directory.path)) }
        let recovery = try recover(
            from: left, and: moved, last: isRepaired ? nil : last?.journal, boot: boot)
        let (journal, obstacle) = try startJournal(
            orInStandInAfter: recovery, at: location, boot: boot)
        var pages = CounterPages(of: recovery.store.uuid, keeper: pageKeeper, report: report)
        pages.void(in: (left + moved).filter { $0.path != journal.directory.path })
        // Write the note after (1) the new journal is complete and (2) every old page is void or
        // listed in the note, but before the old journal is removed. If the process dies here, its
        // note leads to everything.
        PlaceNote(
            journal: JournalPlace(boot: boot, path: journal.directory.path),
            pages: pages.left.map(\.path)
        ).write(in: directory, report: report)
        tidy(journal, after: recovery)
        // This comes before a client can ask for the page.
        pages.open(
            in: journal.directory, at: recovery.counter.current, durable: recovery.store.generation,
            replayed: recovery.replayed)
        return Beginning(
            journal: journal, pages: pages, contents: recovery.contents,
            identity: try file.identity(), counter: recovery.counter, known: recovery.known,
            journalObstacle: obstacle)
    }
}

/// The journal that a start continues with.
extension DatabaseOpening {
    /// Begins a journal with all pending changes.
    ///
    /// If the directory of the database cannot be written and there is no runtime directory, it is beside
    /// the copy of the store, where no later process looks for it.
    ///
    /// - Returns: The journal, and in that case why no other can be begun.
    private func startJournal(
        orInStandInAfter recovery: Recovery, at location: DatabaseLocation, boot: UniqueID
    ) throws(StorageError) -> (Journal, StorageError?) {
        do throws(StorageError) {
            return (try startJournal(after: recovery, at: location, boot: boot), nil)
        } catch {
            guard let standIn else { throw error }
            let journal = try startJournal(after: recovery, in: standIn.directory, boot: boot)
            return (journal, error)
        }
    }

    /// Begins a journal with all pending changes.
    ///
    /// It is beside the database if the runtime directory cannot be used or cannot hold it: after `su`,
    /// for example, the variable names the directory of another user.
    ///
    /// The journals that were found stay until `tidy(_:after:)`.
    func startJournal(
        after recovery: Recovery, at location: DatabaseLocation, boot: UniqueID
    ) throws(StorageError) -> Journal {
        do throws(StorageError) {
            let place = try location.takeJournalDirectory(of: recovery.store.uuid)
            return try startJournal(after: recovery, in: place, boot: boot)
        } catch {
            let beside = try location.takeJournalBesideDatabase()
            report(.journalBesideDatabase(beside.path, error))
            return try startJournal(after: recovery, in: beside, boot: boot)
        }
    }

    /// Removes the segments that were found, if the new one contains what they have.
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
        after recovery: Recovery, in place: JournalDirectory, boot: UniqueID
    ) throws(StorageError) -> Journal {
        do throws(SystemError) {
            let journal = try Journal(
                in: place, database: recovery.store.uuid, boot: boot, isNoted: standIn == nil,
                after: recovery.segments, at: recovery.counter)
            if recovery.needsRewriting(in: place.directory) {
                try journal.takeOver(recovery.contents.overlay, at: recovery.counter)
            }
            return journal
        } catch {
            throw .cannotOpen(place.path, error)
        }
    }
}

/// What was acknowledged, and where the numbers continue.
extension DatabaseOpening {
    /// Reads what the previous process left in the journal.
    ///
    /// - Parameters:
    ///   - directories: Where journals may be.
    ///   - moved: Where this database had journals before it was moved.
    ///   - place: Where the last one was.
    func recover(
        from directories: [PrivateDirectory], and moved: [PrivateDirectory],
        last place: JournalPlace?, boot: UniqueID
    ) throws(StorageError) -> Recovery {
        let state = store.state
        var contents = DatabaseContents(over: store.reader)
        var history = try JournalHistory(
            of: state.uuid, boot: boot, in: directories, and: moved, report: report)
        let older = try replay(&history, above: state.generation, into: &contents)
        let outcome = store.isNew ? nil : history.generation(after: state, last: place)
        var recovery = Recovery(
            store: state, known: max(state.generation, contents.overlay.newest ?? .first),
            contents: contents, counter: GenerationCounter(after: state, outcome),
            segments: history.segments, hasJumped: outcome?.hasJumped == true)
        if recovery.counter.isExhausted { raiseCeiling(of: &recovery) }
        try takeUpOrPutOff(older, in: &recovery)
        return recovery
    }

    /// Writes all that is pending, and with it a higher ceiling.
    ///
    /// If that fails, the database still opens. It can be read, and changes are refused until a
    /// flush succeeds.
    private func raiseCeiling(of recovery: inout Recovery) {
        recovery.isRaised = true
        let batch = FlushBatch(
            generation: recovery.counter.current, changes: recovery.contents.overlay.beginFlush(),
            record: recovery.counter.record, lastSegment: nil, host: nil, history: nil)
        do {
            // A damaged table of times must not keep a start from giving numbers. The next flush finds
            // it.
            try FlushTransaction(on: store.connection).write(batch, at: nil)
            try? TimeTable(connection: store.connection).note(batch.generation, at: date.now)
            recovery.contents.overlay.finishFlush()
            recovery.counter.noteDurable(batch)
        } catch {
            recovery.contents.overlay.abandonFlush()
            report(.ceilingNotRaised(.storeFailure(file.path, error, .cannotWrite)))
        }
    }

    /// Applies late changes now.
    ///
    /// If there are no numbers for them, all segments are left to a later start.
    ///
    /// There are none if the counter has jumped to its ceiling and the disk does not accept a
    /// higher one. Until a flush succeeds, the database can only be read. Nothing is lost: pending
    /// changes are written to the new journal, and the later start compares the segments with the
    /// store again.
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

/// The contents of the journals that a start finds.
extension DatabaseOpening {
    /// Takes every change that came after what is in the store, and every token.
    ///
    /// All tokens become pending again, also those of older changes and those that the store has.
    /// So they are in the order of the journal, in which the oldest are forgotten first.
    ///
    /// - Returns: The earlier changes, only the last one of each key. Nearly always the store has
    ///   them, too.
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
            contents.overlay.add(pending, totals: try contents.growth(by: pending.proposal).after)
            if !pending.proposal.changesNothing { count += 1 }
        }
        if count > 0 { report(.replayed(count)) }
        return older
    }

    /// Applies changes that neither the store nor the journal of the previous process has.
    ///
    /// A journal may be found late: the previous process could not see its runtime directory, or
    /// another host with the same home directory wrote it. The generations of its changes are lower
    /// than the generation of the store. The row of a key shows whether the store has the change:
    /// if the row is as new, it has it; if the row is newer, the change was replaced. All other
    /// changes get new generations, so that clients that have read since then learn of them. Their
    /// tokens keep the generations that were replied.
    ///
    /// - Returns: Whether there were any.
    func takeUp(
        _ older: PendingOverlay, into contents: inout DatabaseContents,
        at counter: inout GenerationCounter
    ) throws(StorageError) -> Bool {
        // All are checked before the first is applied: after that, its row would count as newer
        // than the rest.
        var missing: [ChangeProposal] = []
        for change in older.changeSets {
            if let proposal = try contents.missing(of: change) { missing.append(proposal) }
        }
        for proposal in missing {
            let late = ChangeSet(generation: try counter.next(), proposal: proposal)
            contents.overlay.add(late, totals: try contents.growth(by: proposal).after)
            counter.noteAcknowledged(late)
        }
        if !missing.isEmpty { report(.tookUpLate(missing.count)) }
        return !missing.isEmpty
    }
}

/// What a start has read from the store and the journals.
///
/// The new journal and the page are both made from this.
struct Recovery {
    /// The store as it was found.
    let store: StoreState
    /// The last change that the store or the journals have.
    let known: Generation
    /// What every call sees from now on.
    var contents: DatabaseContents
    var counter: GenerationCounter
    /// The segments that were found, except those that are left to a later start.
    var segments: [SealedSegment]
    /// Whether the counter has jumped, because unknown numbers may have been given.
    let hasJumped: Bool
    /// Whether the ceiling was reached, and what was pending may be in the store by now.
    var isRaised = false
    /// Whether changes were found late.
    ///
    /// They have new numbers, which no segment has.
    var isLate = false

    /// Whether all pending changes must be written to the journal of this directory, because the
    /// segments there do not have them.
    func needsRewriting(in directory: PrivateDirectory) -> Bool {
        isLate || segments.contains { $0.directory != directory.path }
    }

    /// All changes that an earlier page may lack; nil if there may be others.
    var replayed: [ChangeSet]? {
        hasJumped || isRaised || isLate ? nil : contents.overlay.changeSets
    }
}
