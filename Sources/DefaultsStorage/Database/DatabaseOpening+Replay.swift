internal import DefaultsModel

/// What stands in the journals that a start finds.
extension DatabaseOpening {
    /// Takes every change that came after what is in the store, and every token.
    ///
    /// All tokens, those of older changes too, are pending again, whether the store has them or
    /// not: so their order is that of the journal, by which the oldest are forgotten first.
    ///
    /// - Returns: The changes before that, of each key the last one. Nearly always they are in the
    ///   store, too.
    func replay(
        _ history: inout JournalHistory, above durable: Generation,
        into contents: inout DatabaseContents
    ) throws(StorageError) -> PendingOverlay {
        var count = 0
        var older = PendingOverlay()
        let progress = Progress { [report] in report(.replaying($0)) }
        try history.replay { (change) throws(StorageError) in
            progress.step()
            let isOlder = change.generation <= durable && !change.proposal.changesNothing
            if isOlder { older.add(change, totals: KeyTotals()) }
            guard let pending = isOlder ? change.tokenAlone : change else { return }
            contents.overlay.add(pending, totals: try contents.totals(after: pending.proposal))
            if !pending.proposal.changesNothing { count += 1 }
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
    /// then must be told of them. Their tokens keep the numbers that were replied.
    ///
    /// - Returns: Whether there were any.
    func takeUp(
        _ older: PendingOverlay, into contents: inout DatabaseContents,
        at counter: inout GenerationCounter
    ) throws(StorageError) -> Bool {
        // All are looked at before the first is made: then it would pass for newer than the rest.
        var missing: [ChangeProposal] = []
        for change in older.changeSets {
            if let proposal = try contents.missing(of: change) { missing.append(proposal) }
        }
        for proposal in missing {
            let late = ChangeSet(generation: try counter.next(), proposal: proposal)
            contents.overlay.add(late, totals: try contents.totals(after: proposal))
            counter.noteAcknowledged(late)
        }
        if !missing.isEmpty { report(.tookUpLate(missing.count)) }
        return !missing.isEmpty
    }
}
