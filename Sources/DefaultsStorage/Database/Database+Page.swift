package import DefaultsModel

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
