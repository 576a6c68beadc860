package import DefaultsModel
internal import DefaultsTerms
internal import Glibc
internal import SQLite
package import SystemCalls

/// The database of defaults: a store on disk, the pending changes, and the crash journal, which
/// keeps pending changes if the process dies.
///
/// It belongs to one thread and never waits. Its owner decides when to flush, and gives the batch
/// to a `DurableWriter`.
///
/// ```swift
/// let database = try Database(at: .fromEnvironment(), date: date) { notice in log(notice) }
/// let change = try database.commit(
///     ChangeProposal(domain: domain, set: [.init(key: key, archive: archive)], origin: caller))
/// try database.value(domain, key)?.generation == change.generation  // true
/// ```
///
/// Invariants:
/// 1. A change that was acknowledged is seen by every later read, and by the next process,
///    however this one ends.
/// 2. A change that was refused is seen by nobody, now or later.
/// 3. Generations increase, and none is given twice, not even after a crash, a power cut or a
///    restored backup.
/// 4. A change is whole or absent, in every read and in every process.
/// 5. A failed flush loses nothing: its changes stay pending.
/// 6. A change is on the counter page before it can be acknowledged, in this process and in every
///    later one.
/// 7. The cost of a change does not grow with the database.
package final class Database {
    /// The last repair from a damaged store; nil if there was none.
    package let lastRepair: RepairRecord?
    /// The directory and its lock.
    package let fileSystem: FileSystem

    /// Dates what is kept.
    package let date: DateSource
    let location: DatabaseLocation
    let place: StorePlace
    /// Which files of the store are read.
    var identity: StoreIdentity
    /// The copy of the store that is read, because the store cannot be written; nil if the store itself is
    /// used.
    var standIn: StandIn?
    /// Why changes are refused: no journal can be written that a later process finds; nil if one can.
    var journalObstacle: StorageError?
    let boot: UniqueID
    let machine: Machine
    /// The machines and their names; this machine is the first.
    package internal(set) var hosts: HostNames
    /// The name of this machine that the store has; nil if it has none.
    var notedName: String?
    let report: (Notice) -> Void
    let journal: Journal
    /// Who keeps the page when this process dies; nil if the page is a file.
    let pageKeeper: PageKeeper?
    /// The pages on which clients see that something has changed.
    var pages: CounterPages
    var contents: DatabaseContents
    var counter: GenerationCounter
    /// The last change that is known of the time before this process.
    let generationAtStart: Generation
    /// How many flushes have begun since the database was opened.
    package internal(set) var flushesBegun: UInt64 = 0
    /// Why the disk has not answered; nil since the last flush that succeeded.
    package internal(set) var diskDoubt: StorageError?
    /// The work on the journal whose failure was reported.
    var untidied: Set<JournalWork> = []

    /// Opens the database, or creates it, and takes over what the previous process left.
    ///
    /// - Parameters:
    ///   - location: Where it is. Missing directories are created.
    ///   - date: The date.
    ///   - damage: What the process has found to be wrong with the store, which is then repaired;
    ///     nil if nothing was. Damage that is found while opening is handled in the same way.
    ///   - pageKeeper: Who keeps the page of counters for the next process if this one is killed; nil
    ///     makes it a file.
    ///   - report: Receives messages for the log, on the thread of the database.
    /// - Throws: `.inUse` if another process has the database; `.newerSchema` or `.notOurDatabase`
    ///   if this version cannot use the store; `.directoryUnusable` or `.cannotOpen` if the system
    ///   refuses.
    package convenience init(
        at location: DatabaseLocation, date: DateSource, damage: String? = nil,
        pageKeeper: PageKeeper? = nil, report: @escaping (Notice) -> Void
    ) throws(StorageError) {
        try self.init(
            at: location, boot: .ofThisBoot(), machine: .current, date: date, damage: damage,
            pageKeeper: pageKeeper, report: report)
    }

    /// Opens the database as in a given boot of a given machine.
    init(
        at location: DatabaseLocation, boot: UniqueID, machine: Machine = .current,
        date: DateSource, damage: String? = nil, pageKeeper: PageKeeper? = nil,
        report: @escaping (Notice) -> Void
    ) throws(StorageError) {
        self.date = date
        self.pageKeeper = pageKeeper
        place = try StorePlace(at: location)
        fileSystem = place.fileSystem
        if let aside = place.strangeLock {
            report(.strangeFile(place.directory.file("lock"), setAside: aside))
        }
        if place.obstacle != nil {
            standIn = try .make(of: StoreFile(in: place.directory), at: location)
        } else {
            standIn = nil
        }
        let opening = try DatabaseOpening(
            at: location, boot: boot, in: place, or: standIn, damage: damage, date: date,
            report: report)
        let beginning = try opening.begin(
            at: location, boot: boot, pageKeeper: pageKeeper)
        lastRepair = opening.store.lastRepair
        identity = beginning.identity
        self.location = location
        self.boot = boot
        self.machine = machine
        let known = opening.store.hosts
        hosts = HostNames(of: Host(id: machine.id, name: machine.name()), others: known)
        notedName = known.first { $0.id == machine.id }?.name
        self.report = report
        journal = beginning.journal
        journalObstacle = beginning.journalObstacle
        pages = beginning.pages
        contents = beginning.contents
        counter = beginning.counter
        generationAtStart = beginning.known
        if fileSystem.isNetwork { report(.onNetwork(directory.path, fileSystem.name)) }
        do {
            try adoptHostLayers { _ in }
        } catch {
            report(.notAdopted(error))
        }
    }

    var directory: PrivateDirectory { place.directory }

    /// The file of the store, after following the links that exist now.
    var file: StoreFile { StoreFile(in: directory) }

    /// The path of the store.
    package var path: String { file.path }

    /// The generation of the database: that of its last change.
    package var generation: Generation { counter.current }

    /// The last change that is on disk, with all before it.
    package var durableGeneration: Generation { counter.durable }

    /// Changes that are acknowledged and not on disk.
    package var pendingChanges: Int { contents.overlay.count }

    /// The bytes that the next flush will write, for `FlushSchedule`.
    package var pendingBytes: Int { contents.overlay.bytesToFlush }

    /// The size of the crash journal in bytes.
    package var journalSize: Int { journal.footprint }

    /// The size of the store in bytes, with its write-ahead log.
    package var storeSize: Int {
        [file.path, file.logPath].reduce(0) { size, path in
            // The file is not opened: closing it would release SQLite's lock.
            size + (FileStatus.ifAny(path)?.size ?? 0)
        }
    }

    /// The space that is reserved for removals on a full disk, in bytes; 0 while it is used up.
    package var reserveSize: Int { DiskReserve(in: directory).isThere ? DiskReserve.size : 0 }

    /// Closes the database and releases its lock.
    ///
    /// It is not used afterwards.
    ///
    /// The `DurableWriter` must be closed before. Pending changes stay in the journal for the next
    /// process.
    package func close() {
        // The next daemon may run on another machine, with a page of its own.
        if fileSystem.isNetwork || journalObstacle != nil { pages.giveUp() } else { pages.close() }
        do {
            try contents.store.checkpoint()
            // SQLite removes the log when the store is closed.
            place.noteClosed(journal.database, at: counter.durable)
        } catch {
            // Everything is in the WAL and on disk; the next process folds it back.
            report(.notFoldedBack(error))
        }
        contents.close()
        journal.close()
        standIn?.close()
        place.giveUp()
    }
}

extension Database {
    /// Makes a change: it gets its generation, is written to the journal, and is seen by every
    /// later read.
    ///
    /// When this returns it may be acknowledged.
    ///
    /// The caller checks before that the change differs from the current values.
    ///
    /// - Parameters:
    ///   - proposal: A change of at least one key.
    ///   - growth: What ``growth(by:)`` has returned for it. No change was made since.
    /// - Returns: The change with its generation.
    /// - Throws: `.keyNamesTooLarge`, `.changeTooLarge`, `.pendingFull`, `.generationsExhausted` or
    ///   `.cannotJournal`; then nothing was changed.
    package func commit(
        _ proposal: ChangeProposal, _ growth: Growth
    ) throws(StorageError) -> ChangeSet {
        try commit([(proposal, growth)])[0]
    }

    /// Makes a change of several domains, all or none, with one generation.
    ///
    /// - Parameter parts: A part for each domain, and what ``growth(by:)`` has returned for it. One of
    ///   them may only have a token.
    /// - Returns: The parts with their generation.
    /// - Throws: The errors of ``commit(_:_:)``.
    package func commit(
        _ parts: [(proposal: ChangeProposal, growth: Growth)]
    ) throws(StorageError) -> [ChangeSet] {
        precondition(Set(parts.map(\.proposal.domain)).count == parts.count, "a domain comes twice")
        precondition(
            parts.contains { !$0.proposal.changesNothing }, "a change has at least one key")
        try checkLimits(parts)
        let generation = try counter.next()
        let changes = parts.map { ChangeSet(generation: generation, proposal: $0.proposal) }
        try journal(zip(changes, parts.map(\.growth.after)).map { ($0, $1) })
        return changes
    }

    /// Makes a change whose growth does not matter to the caller.
    ///
    /// - Throws: The errors of ``growth(by:)`` and ``commit(_:_:)``.
    package func commit(_ proposal: ChangeProposal) throws(StorageError) -> ChangeSet {
        try commit(proposal, growth(by: proposal))
    }

    /// What a change would make of the size of its domain.
    ///
    /// - Throws: `.cannotRead` if the disk fails.
    package func growth(by proposal: ChangeProposal) throws(StorageError) -> Growth {
        try contents.growth(by: proposal)
    }

    /// Appends a change of one domain or several to the journal, and then adds it to the overlay and the
    /// counter page.
    func journal(
        _ parts: [(change: ChangeSet, totals: KeyTotals)]
    ) throws(StorageError) {
        try write(parts.map(\.change))
        for (change, totals) in parts {
            contents.overlay.add(change, totals: totals)
            counter.noteAcknowledged(change)
            if !change.proposal.changesNothing { pages.current?.note(change) }
        }
        tidyJournal(.rewriting) {
            try journal.rewriteIfOutgrown(by: contents.overlay, at: counter)
        }
    }

    private func write(_ changes: [ChangeSet]) throws(StorageError) {
        let domain = changes[0].domain
        do throws(StorageError) {
            try leaveStandInJournal()
            try renewWhatIsLost()
        } catch {
            throw journalObstacle == nil ? .journalLost(domain, error) : .noJournal(domain, error)
        }
        do throws(SystemError) {
            try journal.append(changes)
        } catch {
            try write(changes, to: domain, after: error)
        }
    }

    /// Appends a change to a journal in another place, because this one has refused it.
    private func write(
        _ changes: [ChangeSet], to domain: Domain, after refusal: SystemError
    ) throws(StorageError) {
        do throws(StorageError) {
            try moveJournal(awayFrom: refusal)
        } catch {
            throw .cannotJournal(domain, refusal, nor: error)
        }
        do throws(SystemError) {
            try journal.append(changes)
        } catch {
            throw .cannotJournal(domain, error)
        }
    }

    private func checkLimits(
        _ parts: [(proposal: ChangeProposal, growth: Growth)]
    ) throws(StorageError) {
        var size = 0
        for (proposal, growth) in parts {
            // A change that sets no key may bring a domain back below the limit, but not above it.
            if !proposal.set.isEmpty && growth.after.nameBytes > ContractLimits.maximumNameBytes {
                throw .keyNamesTooLarge(proposal.domain)
            }
            size += contents.overlay.growth(by: proposal)
        }
        let domain = parts[0].proposal.domain
        if size > PendingOverlay.maximumBytes { throw .changeTooLarge(domain, size: size) }
        if size > 0 && contents.overlay.bytes + size > PendingOverlay.maximumBytes {
            throw .pendingFull(domain)
        }
    }
}

extension Database {
    /// The generation that was replied to an earlier transaction with this token; nil if none is
    /// remembered.
    ///
    /// - Throws: `.cannotRead` if the disk fails.
    package func outcome(of token: Token, in domain: Domain) throws(StorageError) -> Generation? {
        try contents.generation(of: token, in: domain)
    }

    /// The first expectation of a domain that is not met; nil if all are met.
    ///
    /// - Throws: `.cannotRead` if the disk fails.
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
            case .unchanged(let key, let since):
                let (actual, forgotten) = try contents.lastChange(of: key, in: domain)
                let holds =
                    since.map { since in
                        Expectation.holds(
                            unchangedSince: since, lastChange: actual,
                            isOnRecord: counter.reaches(backTo: since)
                                && forgotten.map { $0 <= since } ?? true)
                    } ?? false
                if !holds { return Conflict(expectation: expectation, actual: actual) }
            }
        }
        return nil
    }

    /// Remembers the token of a transaction that changed nothing, with the current generation.
    ///
    /// When this returns, the token is in the journal. The next flush writes it to disk.
    ///
    /// - Throws: `.pendingFull` or `.cannotJournal`; then it is not remembered.
    package func remember(_ token: Token, of domain: Domain) throws(StorageError) {
        let change = ChangeSet(
            generation: counter.current,
            proposal: ChangeProposal(domain: domain, token: token, origin: ""))
        let totals = try contents.totals(of: domain)
        try checkLimits([(change.proposal, Growth(before: totals, after: totals))])
        try journal([(change, totals)])
    }
}

/// An expectation that is not met.
package struct Conflict: Hashable, Sendable {
    /// What was expected.
    package let expectation: Expectation
    /// The last change of the key or of the domain; nil if the key is absent, or if its removal is
    /// not on record.
    package let actual: Generation?
}

extension Database {
    /// Opens the page of counters for a client that maps it.
    ///
    /// The contract describes the layout of the file at the method Attach. A page that is no longer
    /// in its place is not given to clients, because the next process would not continue with it.
    ///
    /// - Returns: A descriptor for reading only. The caller closes it.
    /// - Throws: `.noPage` if none can be made.
    package func openCounterPage() throws(StorageError) -> Int32 {
        try renewWhatIsLost()
        if pages.current == nil { renewPage() }
        // The directory may have been removed in the meantime.
        if pages.current == nil, journal.isLost { try renewWhatIsLost() }
        guard let page = pages.current else { throw .noPage(journal.directory.path) }
        do {
            return try page.openForReading()
        } catch {
            throw .cannotOpen(journal.directory.path, error)
        }
    }

    /// Voids the page if the next process may not find it.
    ///
    /// For a process that ends without closing the database.
    package func leavePage() {
        if pages.current?.hasNoName == true { pages.giveUp() }
    }

    /// The number of a domain's word on that page.
    ///
    /// All layers of a domain share it.
    package static func counterSlot(of domain: Domain) -> UInt32 {
        CounterPage.slot(of: domain)
    }
}
