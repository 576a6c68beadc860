internal import DefaultsModel

extension Database {
    /// Begins the journal anew, with all that is pending, where it is no longer in its place.
    ///
    /// That is so when the user's session has ended and its runtime directory with it, or when
    /// somebody has cleaned up. What is appended then goes to a file without a name, which is gone
    /// with the process. The new one stands in the runtime directory again or, where that cannot
    /// be had, beside the database.
    ///
    /// - Throws: `.directoryUnusable` or `.cannotOpen` where neither can be had.
    func renewJournalIfLost() throws(StorageError) {
        guard journal.isLost else { return }
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
