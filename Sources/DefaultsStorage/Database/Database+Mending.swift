public import DefaultsModel

extension Database {
    /// What the writer needs to know to make the store anew.
    public var identification: StoreIdentification {
        StoreIdentification(uuid: journal.database)
    }

    /// Closes the database and opens the store that was made anew, as the next process would.
    ///
    /// - Returns: What to use from now on; this one is not used afterwards.
    /// - Throws: As the opening of any database.
    public func reopened(after rescue: CompletedRescue) throws(StorageError) -> Database {
        report(.rescued(rescue.report))
        close()
        return try Database(
            at: location, boot: boot, machine: machine, pageKeeper: pageKeeper, report: report)
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
