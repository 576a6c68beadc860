/// Changes on their way to disk, coalesced: of several to one key only the last is left.
///
/// ```swift
/// for (domain, pending) in changes.domains {
///     for (key, entry) in pending.entries { write(domain, key, entry) }
/// }
/// ```
public struct PendingChanges: Sendable {
    /// The domains that changed.
    public private(set) var domains: [Domain: PendingDomain] = [:]
    /// The changes that went in, each counted once however many keys it has.
    public private(set) var count = 0
    /// The memory of it all: keys, archives, tokens, and a fixed amount for each.
    public private(set) var bytes = 0
    /// The newest change that went in; nil where there is none.
    public private(set) var newest: Generation?

    /// No changes.
    public init() {}

    /// Whether there is nothing: no changes and no tokens.
    ///
    /// A domain that was cleared is a change and takes no memory; a token is none and takes some.
    var isEmpty: Bool { count == 0 && bytes == 0 }

    /// Takes in a change that came after these.
    mutating func add(_ change: ChangeSet, totals: KeyTotals) {
        bytes += domains[change.domain, default: PendingDomain(totals: totals)]
            .add(change, totals: totals)
        guard !change.proposal.changesNothing else { return }
        count += 1
        newest = change.generation
    }

    /// Takes in changes that all came after these.
    mutating func add(_ later: PendingChanges) {
        for (domain, pending) in later.domains {
            bytes += domains[domain, default: PendingDomain(totals: pending.totals)].add(pending)
        }
        count += later.count
        newest = later.newest ?? newest
    }
}
