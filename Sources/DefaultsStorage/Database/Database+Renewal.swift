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
    /// - Throws: `.directoryUnusable` or `.cannotOpen` where the journal can be had in neither.
    func renewWhatIsLost() throws(StorageError) {
        let isJournalLost = journal.isLost
        let isPageLost = page?.isLost ?? false
        guard isJournalLost || isPageLost else { return }
        // First: from now on nothing that happens is shown there.
        page?.void()
        page = nil
        if isJournalLost { try renewJournal() }
        renewPage()
        if page != nil { report(.pageLost(now: journal.directory.path)) }
    }

    /// Makes a page, or takes one up, in the middle of the process's life.
    func renewPage() {
        do {
            page = try CounterPage.open(
                in: journal.directory, of: identity, at: counter.current,
                durable: counter.durable, replayed: nil)
        } catch {
            report(.noPage(error))
        }
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
        JournalPlace(boot: boot, path: place.path).note(in: directory, report: report)
    }
}
