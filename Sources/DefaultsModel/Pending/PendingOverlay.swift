/// The acknowledged changes that are not on disk yet.
///
/// Reads look here first, and then into the store.
///
/// Invariants:
/// 1. From its acknowledgement until it is on disk, a change is in `current` or in `flushing`.
/// 2. Every change in `current` is newer than every change in `flushing`.
/// 3. Both of them have only the newest change of each key.
/// 4. Both of them have the newest tokens of each domain, in the order in which they came.
/// 5. The totals of a domain include all of its changes, also the pending ones.
/// 6. The cost of an operation does not grow with the database. Beginning and finishing a flush
///    copies nothing. Only abandoning a flush costs as much as is pending.
package struct PendingOverlay: Sendable {
    /// The most bytes that may be pending: 64 MiB.
    package static let maximumBytes = 64 << 20

    /// The memory that an entry is estimated to need besides its key and its archive, in bytes.
    package static let entryOverhead = 128

    private var current = PendingChanges()
    private var flushing: PendingChanges?

    /// An empty overlay.
    package init() {}

    /// How many acknowledged changes are not on disk.
    package var count: Int { current.count + (flushing?.count ?? 0) }

    /// The memory that they need, in bytes.
    ///
    /// What is remembered for the history has a bound of its own: ``PendingHistory``.
    package var bytes: Int { current.bytes + (flushing?.bytes ?? 0) }

    /// The part of `bytes` that no flush has included yet.
    package var bytesToFlush: Int { current.bytes }

    /// The newest pending change; nil if there is none.
    package var newest: Generation? { current.newest ?? flushing?.newest }

    /// Whether nothing is pending and no flush is in progress.
    ///
    /// Tokens without a change count, too.
    package var isEmpty: Bool { current.isEmpty && flushing?.isEmpty ?? true }

    /// Whether the flush in progress includes everything.
    package var isTakenUp: Bool { current.isEmpty && flushing != nil }

    /// The pending change of a key; nil if there is none, so that the store decides.
    package func entry(_ domain: Domain, _ key: Key) -> PendingEntry? {
        current.domains[domain]?.entry(key) ?? flushing?.domains[domain]?.entry(key)
    }

    /// All keys of a domain that have a pending change of their own.
    ///
    /// For other keys the store decides, unless the domain was cleared.
    package func entries(of domain: Domain) -> [Key: PendingEntry] {
        let newer = current.domains[domain]
        let entries = newer?.entries ?? [:]
        guard newer?.cleared == nil, let older = flushing?.domains[domain]?.entries else {
            return entries
        }
        return older.merging(entries) { _, newer in newer }
    }

    /// The last change that removed every key of a domain at once; nil if there is none pending.
    ///
    /// If there is one, everything that the store has for the domain is obsolete.
    package func cleared(_ domain: Domain) -> Generation? {
        current.domains[domain]?.cleared ?? flushing?.domains[domain]?.cleared
    }

    /// All domains that have pending changes or tokens.
    package var domains: Set<Domain> {
        Set(current.domains.keys).union(flushing?.domains.keys ?? [:].keys)
    }

    /// The last change of a domain; nil if there is none pending, so that the store decides.
    package func lastChange(of domain: Domain) -> Generation? {
        current.domains[domain]?.lastChange ?? flushing?.domains[domain]?.lastChange
    }

    /// The generation of the reply to a transaction with this token; nil if the token is not
    /// pending, so that the store decides.
    package func generation(of token: Token, in domain: Domain) -> Generation? {
        current.domains[domain]?.tokens[token] ?? flushing?.domains[domain]?.tokens[token]
    }

    /// Whether tokens of a domain are pending.
    package func hasTokens(of domain: Domain) -> Bool {
        [flushing, current].contains { $0?.domains[domain]?.tokens.isEmpty == false }
    }

    /// All pending tokens of a domain, in the order in which they were remembered.
    func tokens(of domain: Domain) -> [(token: Token, generation: Generation)] {
        [flushing, current].flatMap { $0?.domains[domain]?.tokens.inOrder ?? [] }
    }

    /// The totals of a domain after all pending changes; nil if there are none, so that the store
    /// decides.
    package func totals(of domain: Domain) -> KeyTotals? {
        current.domains[domain]?.totals ?? flushing?.domains[domain]?.totals
    }

    /// How many more bytes of memory a change would need.
    ///
    /// The result is negative if the change replaces a larger one.
    package func growth(by proposal: ChangeProposal) -> Int {
        let domain = current.domains[proposal.domain] ?? PendingDomain(totals: KeyTotals())
        return domain.growth(by: proposal)
    }

    /// Adds a change.
    ///
    /// - Parameters:
    ///   - change: It must be newer than all before it, unless it only brings a token, or the last
    ///     one is of another domain and of the same change.
    ///   - totals: The totals of its domain after it.
    package mutating func add(_ change: ChangeSet, totals: KeyTotals) {
        precondition(
            change.proposal.changesNothing
                || change.generation >= (current.newest ?? flushing?.newest ?? .first),
            "changes must be added in the order of their generations")
        current.add(change, totals: totals)
    }

    /// Begins a flush of everything that is pending.
    ///
    /// Changes that are added later are not part of it.
    ///
    /// - Returns: What to write. Nothing is copied.
    package mutating func beginFlush() -> PendingChanges {
        precondition(flushing == nil, "another flush is in progress")
        let changes = current
        flushing = changes
        current = PendingChanges()
        return changes
    }

    /// Ends the flush: the overlay drops what was written.
    package mutating func finishFlush() {
        precondition(flushing != nil, "no flush was begun")
        flushing = nil
    }

    /// Ends a flush that has failed: what it was to write is pending as before.
    package mutating func abandonFlush() {
        guard var older = flushing else { preconditionFailure("no flush was begun") }
        older.add(current)
        current = older
        flushing = nil
    }
}

extension PendingOverlay {
    /// What is pending as a list of changes, in the order of their generations.
    ///
    /// A key that was changed several times is only in the last of them.
    ///
    /// The tokens follow as separate changes without keys. The tokens of a domain are in the order
    /// in which they were remembered. The bus names of the writers are lost.
    package var changeSets: [ChangeSet] {
        var parts: [Generation: [Domain: Parts]] = [:]
        var tokens: [ChangeSet] = []
        for domain in domains {
            for (key, entry) in entries(of: domain) {
                parts[entry.generation, default: [:]][domain, default: Parts(domain: domain)]
                    .add(key, entry.archive)
            }
            if let cleared = cleared(domain) {
                parts[cleared, default: [:]][domain, default: Parts(domain: domain)].clearsDomain =
                    true
            }
            tokens += self.tokens(of: domain).map { token, generation in
                ChangeSet(
                    generation: generation,
                    proposal: ChangeProposal(domain: domain, token: token, origin: ""))
            }
        }
        return parts.sorted { $0.key < $1.key }.flatMap { generation, domains in
            domains.values.map { parts in
                var proposal = parts.proposal
                proposal.note = note(of: proposal)
                return ChangeSet(generation: generation, proposal: proposal)
            }
        } + tokens
    }

    /// What the history is to know about a change of which only the newest keys are left.
    private func note(of change: ChangeProposal) -> ChangeNote? {
        let domain = change.domain
        let both = [current, flushing].compactMap { $0 }
        if change.clearsDomain {
            return both.lazy.compactMap { $0.history.note(ofClearing: domain) }.first
        }
        let notes = (change.set.map(\.key) + change.removed).map { key in
            var found = both.compactMap { $0.history.note(of: key, in: domain) }
            if found.count > 1 { found[0].isCoalesced = true }
            return found.first
        }
        guard var note = notes.first ?? nil else { return .unknown }
        note.isCoalesced = notes.contains { $0?.isCoalesced ?? true }
        return note
    }

    /// What is left of one change in one domain.
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

/// Changes that are being written to disk.
///
/// Of several changes of a key only the last one is left.
///
/// ```swift
/// for (domain, pending) in changes.domains {
///     for (key, entry) in pending.entries { write(domain, key, entry) }
/// }
/// ```
package struct PendingChanges: Sendable {
    /// The domains that changed.
    package private(set) var domains: [Domain: PendingDomain] = [:]
    /// How many changes were added.
    ///
    /// A change counts once, whatever the number of its keys.
    package private(set) var count = 0
    /// The memory that all of it needs: keys, archives, tokens, and a fixed amount for each of
    /// them.
    package private(set) var bytes = 0
    /// The newest change that was added; nil if there is none.
    package private(set) var newest: Generation?
    /// The actions that they are, for the history.
    package private(set) var history = PendingHistory()

    /// No changes.
    package init() {}

    /// Whether there are neither changes nor tokens.
    ///
    /// A domain that was cleared is a change that needs no memory. A token is not a change, and
    /// needs memory.
    var isEmpty: Bool { count == 0 && bytes == 0 }

    /// Adds a change, which must be newer than all changes here.
    mutating func add(_ change: ChangeSet, totals: KeyTotals) {
        history.add(change, to: domains[change.domain])
        bytes += domains[change.domain, default: PendingDomain(totals: totals)]
            .add(change, totals: totals)
        guard !change.proposal.changesNothing else { return }
        count += 1
        newest = change.generation
    }

    /// Adds changes that are all newer than the ones here.
    mutating func add(_ later: PendingChanges) {
        history.add(later.history, after: domains)
        for (domain, pending) in later.domains {
            bytes += domains[domain, default: PendingDomain(totals: pending.totals)].add(pending)
        }
        count += later.count
        newest = later.newest ?? newest
    }
}
