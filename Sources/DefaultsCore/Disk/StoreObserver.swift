import DefaultsStorage

/// Who hears of the store.
protocol StoreObserver: AnyObject {
    /// A flush has succeeded or failed.
    func flushEnded()
    /// A flush has succeeded, and those who waited for it know.
    func flushed()
    /// What waited for the flush that has succeeded may go on, and there is time for upkeep.
    ///
    /// - Parameter hasChores: Whether the file should be made smaller.
    func mayDoUpkeep(hasChores: Bool)
    /// An intact store was made from the damaged one, and is in use: what was read before may be wrong.
    func replaced()
    /// The trouble with the damaged store is over.
    func repaired(_ repair: CompletedRepair)
    /// A repair was tried; those who wait go on after this.
    nonisolated(nonsending) func repairEnded() async
    /// Calls that were postponed may go on.
    func mayGoOn()
    /// Why changes cannot be stored is another reason now, or none.
    func troubled()
    /// The database can no longer be used.
    func lost(because error: StorageError)
}
