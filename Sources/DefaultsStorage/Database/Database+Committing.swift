public import DefaultsModel
import DefaultsTerms

extension Database {
    /// Makes a change happen: it gets its generation, stands in the journal, and is seen by every
    /// later read.
    ///
    /// When this returns it may be acknowledged.
    ///
    /// Whether it is a change, and not a repetition of what holds, is for the caller to decide.
    ///
    /// - Parameter proposal: A change of at least one key.
    /// - Returns: The change with its generation.
    /// - Throws: `.keyNamesTooLarge`, `.changeTooLarge`, `.pendingFull`, `.generationsExhausted` or `.cannotJournal`;
    ///   the change did not happen then.
    public func commit(_ proposal: ChangeProposal) throws(StorageError) -> ChangeSet {
        precondition(!proposal.changesNothing, "a change has at least one key")
        let totals = try contents.totals(after: proposal)
        try checkLimits(proposal, totals)
        let change = ChangeSet(generation: try counter.next(), proposal: proposal)
        try journal(change, totals)
        return change
    }

    /// Puts a change into the journal, and then where every read sees it, those without a call too.
    func journal(_ change: ChangeSet, _ totals: KeyTotals) throws(StorageError) {
        try write(change)
        contents.overlay.add(change, totals: totals)
        counter.noteAcknowledged(change)
        if !change.proposal.changesNothing { pages.current?.note(change) }
        tidyJournal(.rewriting) {
            try journal.rewriteIfOutgrown(by: contents.overlay, at: counter)
        }
    }

    private func write(_ change: ChangeSet) throws(StorageError) {
        do throws(StorageError) {
            try renewWhatIsLost()
        } catch {
            throw .journalLost(change.domain, error)
        }
        do throws(SystemError) {
            try journal.append(change)
        } catch {
            throw .cannotJournal(change.domain, error)
        }
    }

    func checkLimits(
        _ proposal: ChangeProposal, _ totals: KeyTotals
    ) throws(StorageError) {
        // A change that sets no key may bring a domain back below the limit, but not above it.
        if !proposal.set.isEmpty && totals.nameBytes > ContractLimits.maximumNameBytes {
            throw .keyNamesTooLarge(proposal.domain)
        }
        let growth = contents.overlay.growth(by: proposal)
        if growth > PendingOverlay.maximumBytes {
            throw .changeTooLarge(proposal.domain, size: growth)
        }
        if growth > 0 && contents.overlay.bytes + growth > PendingOverlay.maximumBytes {
            throw .pendingFull(proposal.domain)
        }
    }
}
