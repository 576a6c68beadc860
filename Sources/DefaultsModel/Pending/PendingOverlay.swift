/// What is acknowledged but not on disk, laid over the store: reads look here first.
///
/// Invariants:
/// 1. A change is in `current` or in `flushing`, from its acknowledgement until it is on disk.
/// 2. Every change in `current` is newer than every change in `flushing`.
/// 3. Of one key each of the two holds the newest change that it was given.
/// 4. Of a domain each of the two holds the newest tokens, in the order in which they came.
/// 5. The totals of a domain are those after all of its changes, pending ones included.
/// 6. No cost here grows with the database. Beginning and finishing a flush copies nothing; only
///    taking back a failed one costs as much as is pending.
package struct PendingOverlay: Sendable {
    /// The most bytes that may be pending: 64 MiB.
    package static let maximumBytes = 64 << 20

    /// What memory an entry is taken to need beside its key and its archive, in bytes.
    package static let entryOverhead = 128

    private var current = PendingChanges()
    private var flushing: PendingChanges?

    /// An overlay with nothing in it.
    package init() {}

    /// Acknowledged changes that are not on disk.
    package var count: Int { current.count + (flushing?.count ?? 0) }

    /// The memory that they need, in bytes.
    package var bytes: Int { current.bytes + (flushing?.bytes ?? 0) }

    /// The part of `bytes` that no flush has taken up yet.
    package var bytesToFlush: Int { current.bytes }

    /// Whether there is something to flush, or being flushed: changes, or tokens alone.
    package var isEmpty: Bool { current.isEmpty && flushing?.isEmpty ?? true }

    /// Whether all of it is in the flush under way.
    package var isTakenUp: Bool { current.isEmpty && flushing != nil }

    /// What is pending for a key; nil where the store has the say.
    package func entry(_ domain: Domain, _ key: Key) -> PendingEntry? {
        current.domains[domain]?.entry(key) ?? flushing?.domains[domain]?.entry(key)
    }

    /// All keys of a domain for which something is pending by name.
    ///
    /// Of the store's keys those that are not among them hold, unless the domain was cleared.
    package func entries(of domain: Domain) -> [Key: PendingEntry] {
        let newer = current.domains[domain]
        let entries = newer?.entries ?? [:]
        guard newer?.cleared == nil, let older = flushing?.domains[domain]?.entries else {
            return entries
        }
        return older.merging(entries) { _, newer in newer }
    }

    /// The last change that removed every key of a domain at once; nil where none is pending.
    ///
    /// Nothing that the store has of the domain holds then.
    package func cleared(_ domain: Domain) -> Generation? {
        current.domains[domain]?.cleared ?? flushing?.domains[domain]?.cleared
    }

    /// All domains for which something is pending.
    package var domains: Set<Domain> {
        Set(current.domains.keys).union(flushing?.domains.keys ?? [:].keys)
    }

    /// The last change of a domain; nil where none is pending and the store has the say.
    package func lastChange(of domain: Domain) -> Generation? {
        current.domains[domain]?.lastChange ?? flushing?.domains[domain]?.lastChange
    }

    /// The generation that was replied to a transaction with this token; nil where the store has
    /// the say.
    package func generation(of token: Token, in domain: Domain) -> Generation? {
        current.domains[domain]?.tokens[token] ?? flushing?.domains[domain]?.tokens[token]
    }

    /// All tokens of a domain that are pending, in the order in which they were remembered.
    func tokens(of domain: Domain) -> [(token: Token, generation: Generation)] {
        [flushing, current].flatMap { $0?.domains[domain]?.tokens.inOrder ?? [] }
    }

    /// The keys of a domain after all pending changes; nil where none is pending and the store
    /// has the say.
    package func totals(of domain: Domain) -> KeyTotals? {
        current.domains[domain]?.totals ?? flushing?.domains[domain]?.totals
    }

    /// By how many bytes the overlay would grow.
    ///
    /// A change that replaces a larger one gives less than 0.
    package func growth(by proposal: ChangeProposal) -> Int {
        let domain = current.domains[proposal.domain] ?? PendingDomain(totals: KeyTotals())
        return domain.growth(by: proposal)
    }

    /// Takes a change in.
    ///
    /// - Parameters:
    ///   - change: Newer than all before it, unless it changes nothing and only brings a token.
    ///   - totals: The keys of its domain after it.
    package mutating func add(_ change: ChangeSet, totals: KeyTotals) {
        precondition(
            change.proposal.changesNothing
                || change.generation > (current.newest ?? flushing?.newest ?? .first),
            "changes are added in the order of their generations")
        current.add(change, totals: totals)
    }

    /// Begins a flush of all that is pending.
    ///
    /// What is added from now on is not part of it.
    ///
    /// - Returns: What to write; nothing is copied.
    package mutating func beginFlush() -> PendingChanges {
        precondition(flushing == nil, "one flush at a time")
        let changes = current
        flushing = changes
        current = PendingChanges()
        return changes
    }

    /// Ends the flush: what was written leaves the overlay.
    package mutating func finishFlush() {
        precondition(flushing != nil, "no flush was begun")
        flushing = nil
    }

    /// Ends the flush without success: what it was to write is pending as before.
    package mutating func abandonFlush() {
        guard var older = flushing else { preconditionFailure("no flush was begun") }
        older.add(current)
        current = older
        flushing = nil
    }
}

extension PendingOverlay {
    /// What is pending as changes again, in the order of their generations, without what later
    /// changes have replaced.
    ///
    /// The tokens follow as changes of their own, which change nothing, those of a domain in the
    /// order in which they were remembered. The writers' bus names are not kept.
    package var changeSets: [ChangeSet] {
        var parts: [Generation: Parts] = [:]
        var tokens: [ChangeSet] = []
        for domain in domains {
            for (key, entry) in entries(of: domain) {
                parts[entry.generation, default: Parts(domain: domain)].add(key, entry.archive)
            }
            if let cleared = cleared(domain) {
                parts[cleared, default: Parts(domain: domain)].clearsDomain = true
            }
            tokens += self.tokens(of: domain).map { token, generation in
                ChangeSet(
                    generation: generation,
                    proposal: ChangeProposal(domain: domain, token: token, origin: ""))
            }
        }
        return parts.sorted { $0.key < $1.key }
            .map { ChangeSet(generation: $0.key, proposal: $0.value.proposal) } + tokens
    }

    /// What is left of one change; a change is one domain's.
    private struct Parts {
        let domain: Domain
        var set: [ChangeProposal.Assignment] = []
        var removed: [Key] = []
        var clearsDomain = false

        mutating func add(_ key: Key, _ archive: [UInt8]?) {
            if let archive {
                set.append(.init(key: key, archive: archive))
            } else {
                removed.append(key)
            }
        }

        var proposal: ChangeProposal {
            clearsDomain
                ? ChangeProposal(clearing: domain, origin: "")
                : ChangeProposal(domain: domain, set: set, removed: removed, origin: "")
        }
    }
}

/// Changes on their way to disk, coalesced: of several to one key only the last is left.
///
/// ```swift
/// for (domain, pending) in changes.domains {
///     for (key, entry) in pending.entries { write(domain, key, entry) }
/// }
/// ```
package struct PendingChanges: Sendable {
    /// The domains that changed.
    package private(set) var domains: [Domain: PendingDomain] = [:]
    /// The changes that went in, each counted once however many keys it has.
    package private(set) var count = 0
    /// The memory of it all: keys, archives, tokens, and a fixed amount for each.
    package private(set) var bytes = 0
    /// The newest change that went in; nil where there is none.
    package private(set) var newest: Generation?

    /// No changes.
    package init() {}

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
