internal import DefaultsModel

/// Changes that come to light late.
extension DatabaseOpening {
    /// Makes late changes happen now, or leaves all that was found to a later start where there
    /// are no numbers for them.
    ///
    /// That is so where the counter has jumped to its ceiling and the disk does not take a higher
    /// one. The database can be read meanwhile, and once a flush has succeeded it can be changed.
    /// Nothing of what was found is lost by that: what is pending is written to the journal anew,
    /// and the later start finds out again what the store has as new.
    ///
    /// - Returns: Whether there were any, so that what was found is not the journal of what is
    ///   pending now.
    func takeUpOrPutOff(
        _ older: PendingOverlay, of history: inout JournalHistory,
        into contents: inout DatabaseContents, at counter: inout GenerationCounter
    ) throws(StorageError) -> Bool {
        var (taken, advanced) = (contents, counter)
        do throws(StorageError) {
            let isLate = try takeUp(older, into: &taken, at: &advanced)
            (contents, counter) = (taken, advanced)
            return isLate
        } catch {
            guard error.code == .generationsExhausted else { throw error }
            try history.putOff()
            report(.putOff(error))
            return true
        }
    }
}
