internal import DefaultsModel
internal import SQLite

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
