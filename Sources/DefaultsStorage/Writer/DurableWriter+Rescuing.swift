internal import DefaultsModel

/// A store that is damaged, and is made anew while the process goes on.
extension DurableWriter {
    /// Makes the store anew where a read, a flush or a check has found it damaged, and closes.
    ///
    /// The database can be read meanwhile, and takes changes; none of them is written before
    /// `Database.reopened(after:)` has taken up the new store, or the database has made another
    /// writer.
    ///
    /// - Parameters:
    ///   - damage: What was found, as a sentence.
    ///   - database: Whose store it is.
    /// - Returns: What has come of it.
    /// - Throws: `.cannotOpen` where the disk does not take the new store; nothing was done then.
    ///   `.replacementUndecided` where a new one may be there at the next start all the same: then
    ///   this one is not to be written any more.
    public func rescue(
        _ database: StoreIdentification, because damage: String
    ) throws(StorageError) -> CompletedRescue {
        close()
        let report = try file.rescue(
            because: damage, backups: (try? backups.backups()) ?? [], mayBeTorn: false,
            journal: database.uuid, note: place.currentNote)
        return CompletedRescue(report: report)
    }
}

/// By what a damaged store is known.
public struct StoreIdentification: Sendable {
    /// The identity of the database, which the store may not tell any more.
    let uuid: UniqueID
}

/// A store that was made anew and is yet to be opened.
public struct CompletedRescue: Sendable {
    let report: RescueReport

    /// What is not as it was, by domain.
    public var domains: [RescuedDomain] { report.domains }
}
