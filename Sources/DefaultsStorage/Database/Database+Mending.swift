public import DefaultsModel

extension Database {
    /// Makes the store anew where a read, a flush or a check has found it damaged.
    ///
    /// The writer is closed before. The database goes on as it was until ``reopened()`` takes up the
    /// new store.
    ///
    /// - Parameter damage: What was found, as a sentence.
    /// - Returns: What is not as it was, by domain.
    /// - Throws: `.cannotOpen` where the disk does not take the new store; nothing was done then.
    /// `.replacementUndecided` where a new one may be there at the next start all the same: then this
    /// one is not to be written any more.
    public func rescue(because damage: String) throws(StorageError) -> [RescuedDomain] {
        let last = PlaceNote(in: directory)
        let report = try StoreRescuer(
            of: file, in: directory,
            journals: location.journalDirectories(now: journal.directory, last: last?.journal),
            wasLeftOpen: true, hasNote: true, mayBeTorn: false, report: self.report
        ).rescue(because: damage)
        self.report(.rescued(report))
        return report.domains
    }

    /// Closes the database and opens it anew, as the next process would.
    ///
    /// - Returns: What to use from now on; this one is not used afterwards.
    /// - Throws: As the opening of any database.
    public func reopened() throws(StorageError) -> Database {
        close()
        return try Database(at: location, boot: boot, report: report)
    }
}

/// A domain that a rescue has not left as it was.
public struct RescuedDomain: Sendable, Hashable {
    /// The domain.
    public let domain: Domain
    /// The keys that have an earlier value now.
    public internal(set) var changed: [Key] = []
    /// The keys that are lost; more may be, whose names nothing tells.
    public internal(set) var removed: [Key] = []
}
