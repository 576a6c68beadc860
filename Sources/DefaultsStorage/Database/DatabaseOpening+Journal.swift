internal import DefaultsModel

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
