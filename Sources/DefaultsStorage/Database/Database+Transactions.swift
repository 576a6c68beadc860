public import DefaultsModel

extension Database {
    /// The generation that was replied to an earlier transaction of this name; nil where none is
    /// remembered.
    ///
    /// - Throws: `.cannotRead` where the disk fails.
    public func outcome(of token: Token, in domain: Domain) throws(StorageError) -> Generation? {
        try contents.generation(of: token, in: domain)
    }

    /// The first of some expectations of a domain that does not hold; nil where all do.
    ///
    /// - Throws: `.cannotRead` where the disk fails.
    public func firstConflict(
        of expected: [Expectation], in domain: Domain
    ) throws(StorageError) -> Conflict? {
        for expectation in expected {
            switch expectation {
            case .key(let key, let generation):
                let actual = try contents.generation(domain, key)
                if !Expectation.holds(expected: generation, actual: actual) {
                    return Conflict(expectation: expectation, actual: actual)
                }
            case .wholeDomain(let generation):
                let actual = try contents.lastChange(of: domain)
                let holds = Expectation.holds(
                    expected: generation, lastChange: actual,
                    isOnRecord: generation.map { counter.reaches(backTo: $0) } ?? false,
                    isEmpty: try contents.totals(of: domain).keys <= 0)
                if !holds { return Conflict(expectation: expectation, actual: actual) }
            }
        }
        return nil
    }

    /// Remembers the token of a transaction that was no change, with the generation of now.
    ///
    /// The token stands in the journal when this returns, and goes to disk with the next flush.
    ///
    /// - Throws: `.pendingFull` or `.cannotJournal`; it is not remembered then.
    public func remember(_ token: Token, of domain: Domain) throws(StorageError) {
        let change = ChangeSet(
            generation: counter.current,
            proposal: ChangeProposal(domain: domain, token: token, origin: ""))
        let totals = try contents.totals(of: domain)
        try checkLimits(change.proposal, totals)
        try journal(change, totals)
    }
}

/// An expectation that does not hold.
public struct Conflict: Hashable, Sendable {
    /// What was expected.
    public let expectation: Expectation
    /// The last change of the key, nil where it is absent, or of the domain.
    public let actual: Generation?
}
