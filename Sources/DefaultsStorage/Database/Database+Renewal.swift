internal import DefaultsModel

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

    func notePlaces() {
        let place = JournalPlace(boot: boot, path: journal.directory.path)
        PlaceNote(journal: place, pages: pages.left.map(\.path)).write(
            in: directory, report: report)
    }
}
