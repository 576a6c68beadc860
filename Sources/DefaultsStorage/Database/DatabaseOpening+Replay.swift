internal import DefaultsModel

/// What stands in the journals that a start finds.
extension DatabaseOpening {
    /// Takes every change that came after what is in the store.
    ///
    /// - Returns: The changes before that. Nearly always they are in the store, too.
    func replay(
        _ history: inout JournalHistory, above durable: Generation,
        into contents: inout DatabaseContents
    ) throws(StorageError) -> [ChangeSet] {
        var count = 0
        var older: [ChangeSet] = []
        try history.replay { (change) throws(StorageError) in
            guard change.generation > durable || change.proposal.changesNothing else {
                return older.append(change)
            }
            contents.overlay.add(change, totals: try contents.totals(after: change.proposal))
            if !change.proposal.changesNothing { count += 1 }
        }
        if count > 0 { report(.replayed(count)) }
        return older
    }

    /// Makes the changes happen now that neither the store nor the journal of the last process has.
    ///
    /// A journal may come to light late, as a runtime directory that the last process could not
    /// see, or that of another host of a shared home. Its changes are below the generation of the
    /// store. But they are in the store only if the row of their key is as new as they are, and
    /// where it is newer they are replaced. The others get new numbers: whoever has looked since
    /// then must be told of them.
    ///
    /// - Returns: Whether there were any.
    func takeUp(
        _ older: [ChangeSet], into contents: inout DatabaseContents,
        at counter: inout GenerationCounter
    ) throws(StorageError) -> Bool {
        var count = 0
        for change in older {
            guard let proposal = try contents.missing(of: change) else { continue }
            let late = ChangeSet(generation: try counter.next(), proposal: proposal)
            contents.overlay.add(late, totals: try contents.totals(after: proposal))
            counter.noteAcknowledged(late)
            count += 1
        }
        if count > 0 { report(.tookUpLate(count)) }
        return count > 0
    }
}
