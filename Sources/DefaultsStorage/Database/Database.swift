package import DefaultsModel
internal import DefaultsTerms
internal import Glibc
internal import SQLite
internal import SystemCalls

/// The database of defaults: a store on disk, what is acknowledged but not in it yet, and the
/// crash journal that keeps the latter over the death of the process.
///
/// It belongs to one thread, and does no waiting of its own: its owner decides when to flush and
/// gives the batch to a `DurableWriter`.
///
/// ```swift
/// let database = try Database(at: .fromEnvironment()) { notice in log(notice) }
/// let change = try database.commit(
///     ChangeProposal(domain: domain, set: [.init(key: key, archive: archive)], origin: caller))
/// try database.value(domain, key)?.generation == change.generation  // true
/// ```
///
/// Invariants:
/// 1. A change that was acknowledged is seen by every later read, and by the next process,
///    however this one ends.
/// 2. A change that was refused is seen by nobody, now or later.
/// 3. Generations rise, and none is given twice: not over a crash, a power cut, or a restored
///    backup.
/// 4. A change is whole or absent, in every read and in every process.
/// 5. A failed flush loses nothing: what it was to write is pending as before.
/// 6. A change stands on the page of counters before it can be acknowledged, in this process and in
///    every later one.
/// 7. The cost of a change does not grow with the database.
package final class Database {
    /// The last rescue from a damaged store; nil where there was none.
    package let lastRescue: RescueRecord?
    /// What the database stands on.
    package let fileSystem: FileSystem

    let location: DatabaseLocation
    let place: StorePlace
    /// Which files of the store are read.
    var identity: StoreIdentity
    let boot: UniqueID
    let machine: Machine
    /// The machines by their names; this one is the first of them.
    package internal(set) var hosts: HostNames
    /// The name of this machine that the store has; nil where it has none.
    var notedName: String?
    let report: (Notice) -> Void
    let journal: Journal
    /// Who keeps the page when this process dies; nil where it is a file.
    let pageKeeper: PageKeeper?
    /// Where clients see that something has changed.
    var pages: CounterPages
    var contents: DatabaseContents
    var counter: GenerationCounter
    /// How many flushes have begun since the database was opened.
    package internal(set) var flushesBegun: UInt64 = 0
    /// The work on the journal that failed, as the log knows.
    var untidied: Set<JournalWork> = []

    /// Opens the database, or makes a new one, and takes up what the last process left.
    ///
    /// - Parameters:
    ///   - location: Where it stands. Directories that are missing are made.
    ///   - damage: What the process has found to be wrong with the store, which is made anew then;
    ///     nil where nothing was. What is found while opening is mended in the same way.
    ///   - pageKeeper: Who keeps the page of counters for the next process if this one is killed; nil
    ///     makes it a file.
    ///   - report: Takes what the log should tell; it is called on the thread of the database.
    /// - Throws: `.inUse` where another process has it; `.newerSchema` or `.notOurDatabase` where
    ///   the store is nothing to work with; `.directoryUnusable` or `.cannotOpen` where the system
    ///   refuses.
    package convenience init(
        at location: DatabaseLocation, damage: String? = nil, pageKeeper: PageKeeper? = nil,
        report: @escaping (Notice) -> Void
    ) throws(StorageError) {
        try self.init(
            at: location, boot: .ofThisBoot(), machine: .current, damage: damage,
            pageKeeper: pageKeeper, report: report)
    }

    /// Opens the database as in a given boot of a given machine.
    init(
        at location: DatabaseLocation, boot: UniqueID, machine: Machine = .current,
        damage: String? = nil, pageKeeper: PageKeeper? = nil,
        report: @escaping (Notice) -> Void
    ) throws(StorageError) {
        self.pageKeeper = pageKeeper
        place = try StorePlace(at: location)
        fileSystem = place.fileSystem
        if let aside = place.strangeLock {
            report(.strangeFile(place.directory.file("lock"), setAside: aside))
        }
        let opening = try DatabaseOpening(
            at: location, boot: boot, in: place,
            damage: damage, report: report)
        let beginning = try opening.begin(
            at: location, boot: boot, pageKeeper: pageKeeper)
        lastRescue = opening.store.lastRescue
        identity = beginning.identity
        self.location = location
        self.boot = boot
        self.machine = machine
        let known = opening.store.hosts
        hosts = HostNames(of: Host(id: machine.id, name: machine.name()), others: known)
        notedName = known.first { $0.id == machine.id }?.name
        self.report = report
        journal = beginning.journal
        pages = beginning.pages
        contents = beginning.contents
        counter = beginning.counter
        if fileSystem.isNetwork { report(.onNetwork(directory.path, fileSystem.name)) }
        do {
            try adoptHostLayers { _ in }
        } catch {
            report(.notAdopted(error))
        }
    }

    var directory: PrivateDirectory { place.directory }

    /// The file of the store, by the links that there are now.
    var file: StoreFile { StoreFile(in: directory) }

    /// The path of the store.
    package var path: String { file.path }

    /// The generation of the database: that of its last change.
    package var generation: Generation { counter.current }

    /// The last change that is on disk, with all before it.
    package var durableGeneration: Generation { counter.durable }

    /// Changes that are acknowledged and not on disk.
    package var pendingChanges: Int { contents.overlay.count }

    /// The bytes that the next flush is to write, as `FlushSchedule` wants to know them.
    package var pendingBytes: Int { contents.overlay.bytesToFlush }

    /// What the crash journal takes up, in bytes.
    package var journalSize: Int { journal.footprint }

    /// What the store takes up, in bytes, its write-ahead log included.
    package var storeSize: Int {
        [file.path, file.logPath].reduce(0) { size, path in
            // A file that is opened and closed here would take SQLite's lock with it.
            size + (FileStatus.ifAny(path)?.size ?? 0)
        }
    }

    /// The space that is reserved for removals on a full disk, in bytes; 0 while it is used up.
    package var reserveSize: Int { DiskReserve(in: directory).isThere ? DiskReserve.size : 0 }

    /// Closes the database and gives up its lock.
    ///
    /// It is not used afterwards.
    ///
    /// The `DurableWriter` is closed before. What is still pending stays in the journal, from
    /// where the next process takes it.
    package func close() {
        // On another machine a daemon may be next, and show its changes on a page of its own.
        if fileSystem.isNetwork { pages.giveUp() } else { pages.close() }
        do {
            try contents.store.checkpoint()
            // SQLite removes the log when it is closed.
            place.noteClosed(journal.database, at: counter.durable)
        } catch {
            // Everything is in the WAL and on disk; the next process folds it back.
            report(.notFoldedBack(error))
        }
        contents.close()
        place.giveUp()
    }
}

extension Database {
    /// Makes a change happen: it gets its generation, stands in the journal, and is seen by every
    /// later read.
    ///
    /// When this returns it may be acknowledged.
    ///
    /// Whether it is a change, and not a repetition of what holds, is for the caller to decide.
    ///
    /// - Parameter proposal: A change of at least one key.
    /// - Returns: The change with its generation.
    /// - Throws: `.keyNamesTooLarge`, `.changeTooLarge`, `.pendingFull`, `.generationsExhausted` or `.cannotJournal`;
    ///   the change did not happen then.
    package func commit(_ proposal: ChangeProposal) throws(StorageError) -> ChangeSet {
        precondition(!proposal.changesNothing, "a change has at least one key")
        let totals = try contents.totals(after: proposal)
        try checkLimits(proposal, totals)
        let change = ChangeSet(generation: try counter.next(), proposal: proposal)
        try journal(change, totals)
        return change
    }

    /// Puts a change into the journal, and then where every read sees it, those without a call too.
    func journal(_ change: ChangeSet, _ totals: KeyTotals) throws(StorageError) {
        try write(change)
        contents.overlay.add(change, totals: totals)
        counter.noteAcknowledged(change)
        if !change.proposal.changesNothing { pages.current?.note(change) }
        tidyJournal(.rewriting) {
            try journal.rewriteIfOutgrown(by: contents.overlay, at: counter)
        }
    }

    private func write(_ change: ChangeSet) throws(StorageError) {
        do throws(StorageError) {
            try renewWhatIsLost()
        } catch {
            throw .journalLost(change.domain, error)
        }
        do throws(SystemError) {
            try journal.append(change)
        } catch {
            throw .cannotJournal(change.domain, error)
        }
    }

    func checkLimits(
        _ proposal: ChangeProposal, _ totals: KeyTotals
    ) throws(StorageError) {
        // A change that sets no key may bring a domain back below the limit, but not above it.
        if !proposal.set.isEmpty && totals.nameBytes > ContractLimits.maximumNameBytes {
            throw .keyNamesTooLarge(proposal.domain)
        }
        let growth = contents.overlay.growth(by: proposal)
        if growth > PendingOverlay.maximumBytes {
            throw .changeTooLarge(proposal.domain, size: growth)
        }
        if growth > 0 && contents.overlay.bytes + growth > PendingOverlay.maximumBytes {
            throw .pendingFull(proposal.domain)
        }
    }
}

extension Database {
    /// The generation that was replied to an earlier transaction of this name; nil where none is
    /// remembered.
    ///
    /// - Throws: `.cannotRead` where the disk fails.
    package func outcome(of token: Token, in domain: Domain) throws(StorageError) -> Generation? {
        try contents.generation(of: token, in: domain)
    }

    /// The first of some expectations of a domain that does not hold; nil where all do.
    ///
    /// - Throws: `.cannotRead` where the disk fails.
    package func firstConflict(
        of expected: [Expectation], in domain: Domain
    ) throws(StorageError) -> Conflict? {
        for expectation in expected {
            switch expectation {
            case .key(let key, let generation):
                let actual = try contents.generation(domain, key)
                if !Expectation.holds(expected: generation, actual: actual) {
                    return Conflict(expectation: expectation, actual: actual)
                }
            case .wholeDomain(let generation):
                let actual = try contents.lastChange(of: domain)
                let holds = Expectation.holds(
                    expected: generation, lastChange: actual,
                    isOnRecord: generation.map { counter.reaches(backTo: $0) } ?? false,
                    isEmpty: try contents.totals(of: domain).keys <= 0)
                if !holds { return Conflict(expectation: expectation, actual: actual) }
            }
        }
        return nil
    }

    /// Remembers the token of a transaction that was no change, with the generation of now.
    ///
    /// The token stands in the journal when this returns, and goes to disk with the next flush.
    ///
    /// - Throws: `.pendingFull` or `.cannotJournal`; it is not remembered then.
    package func remember(_ token: Token, of domain: Domain) throws(StorageError) {
        let change = ChangeSet(
            generation: counter.current,
            proposal: ChangeProposal(domain: domain, token: token, origin: ""))
        let totals = try contents.totals(of: domain)
        try checkLimits(change.proposal, totals)
        try journal(change, totals)
    }
}

/// An expectation that does not hold.
package struct Conflict: Hashable, Sendable {
    /// What was expected.
    package let expectation: Expectation
    /// The last change of the key, nil where it is absent, or of the domain.
    package let actual: Generation?
}

extension Database {
    /// Opens the page of counters for a client that maps it.
    ///
    /// The file is laid out as the method Attach of the contract tells. A page that is no longer in
    /// its place is not given away: the next process would not go on with it.
    ///
    /// - Returns: A descriptor for reading only, the caller's to close.
    /// - Throws: `.noPage` where there is none to be had.
    package func openCounterPage() throws(StorageError) -> Int32 {
        try renewWhatIsLost()
        if pages.current == nil { renewPage() }
        // Somebody may have taken the directory away at this very moment.
        if pages.current == nil, journal.isLost { try renewWhatIsLost() }
        guard let page = pages.current else { throw .noPage(journal.directory.path) }
        do {
            return try page.openForReading()
        } catch {
            throw .cannotOpen(journal.directory.path, error)
        }
    }

    /// Makes the page void where the next process may not find it: this one ends without closing the
    /// database.
    package func leavePage() {
        if pages.current?.hasNoName == true { pages.giveUp() }
    }

    /// The number of the word on that page which is a domain's, whatever its layer.
    package static func counterSlot(of domain: Domain) -> UInt32 {
        CounterPage.slot(of: domain)
    }
}
