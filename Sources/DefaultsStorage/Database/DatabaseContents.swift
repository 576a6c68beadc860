package import DefaultsModel
import DefaultsTerms

/// What every caller sees: the store, with the pending changes over it.
struct DatabaseContents {
    var overlay = PendingOverlay()
    private var opened: StoreReader?

    init(over store: StoreReader) {
        opened = store
    }

    /// The value of a key; nil if there is none.
    func value(_ domain: Domain, _ key: Key) throws(StorageError) -> StoredValue? {
        guard let pending = overlay.entry(domain, key) else {
            return try store.value(domain, key)
        }
        return pending.archive.map { StoredValue(archive: $0, generation: pending.generation) }
    }

    /// The last change of a key; nil if it has no value.
    func generation(_ domain: Domain, _ key: Key) throws(StorageError) -> Generation? {
        if let pending = overlay.entry(domain, key) {
            return pending.archive == nil ? nil : pending.generation
        }
        guard try store.size(domain, key) != nil else { return nil }
        return try store.generation(domain, key)
    }

    /// The keys of a domain, in no order.
    func keys(of domain: Domain) throws(StorageError) -> [Key] {
        let stored = overlay.cleared(domain) == nil ? try store.keys(of: domain) : []
        let pending = overlay.entries(of: domain)
        let untouched = pending.isEmpty ? stored : stored.filter { pending[$0] == nil }
        let set = pending.filter { $0.value.archive != nil }.keys
        return untouched + set
    }

    /// The domains that have keys, in order.
    func domains() throws(StorageError) -> [Domain] {
        merge(try store.domains()).sorted()
    }

    /// The totals of the domains that programs can write, as far as a pattern covers them.
    ///
    /// - Parameter pattern: Nil for all domains.
    func totals(of pattern: DomainPattern?) throws(StorageError) -> [Domain: KeyTotals] {
        var totals = try store.totals(of: pattern)
        for domain in overlay.domains
        where domain.layer.isWritable && pattern?.covers(domain.name) != false {
            totals[domain] = overlay.totals(of: domain).flatMap { $0.keys > 0 ? $0 : nil }
        }
        return totals
    }

    /// What all domains have that programs can write.
    func usage() throws(StorageError) -> Usage {
        var usage = try store.usage()
        for domain in overlay.domains where domain.layer.isWritable {
            guard let pending = overlay.totals(of: domain) else { continue }
            usage = usage.after(Growth(before: try store.totals(of: domain), after: pending))
        }
        return usage
    }

    /// How many domains that a pattern covers have keys or tokens.
    ///
    /// Counting stops at the limit.
    func domainsInUse(_ pattern: DomainPattern, atMost limit: Int) throws(StorageError) -> Int {
        var domains = try store.domainsInUse(pattern, atMost: limit)
        for domain in overlay.domains where pattern.covers(domain.name) {
            let hasKeys = overlay.totals(of: domain).map { $0.keys > 0 } ?? false
            if hasKeys || overlay.hasTokens(of: domain) { domains.insert(domain) }
        }
        return min(domains.count, limit)
    }

    /// Whether there may be more domains than a limit, in the store and the pending changes
    /// together.
    func mayHaveMoreDomains(than limit: Int) throws(StorageError) -> Bool {
        try store.domainCount(upTo: limit + 1) + overlay.domains.count > limit
    }

    /// The layers of hosts that have keys, in order.
    func hostLayers() throws(StorageError) -> [(domain: Domain, host: HostID)] {
        merge(try store.hostLayers()).sorted().compactMap { domain in
            if case .host(let host) = domain.layer { (domain, host) } else { nil }
        }
    }

    /// Applies the pending changes to domains of the store.
    private func merge(_ stored: Set<Domain>) -> Set<Domain> {
        var domains = stored
        for domain in overlay.domains {
            let isEmpty = overlay.totals(of: domain).map { $0.keys <= 0 } ?? true
            if isEmpty { domains.remove(domain) } else { domains.insert(domain) }
        }
        return domains
    }

    /// What a change would make of the totals of its domain.
    func growth(by proposal: ChangeProposal) throws(StorageError) -> Growth {
        let before = try totals(of: proposal.domain)
        return Growth(before: before, after: try totals(after: proposal, from: before))
    }

    private func totals(
        after proposal: ChangeProposal, from before: KeyTotals
    ) throws(StorageError) -> KeyTotals {
        let domain = proposal.domain
        if proposal.clearsDomain { return KeyTotals() }
        var totals = before
        for assignment in proposal.set {
            totals.set(
                assignment.key, size: assignment.archive.count,
                replacing: try size(domain, assignment.key))
        }
        for key in proposal.removed {
            if let size = try size(domain, key) { totals.remove(key, size: size) }
        }
        return totals
    }

    /// Reads from another store from now on, which has everything that the old one had.
    mutating func move(to store: StoreReader) {
        opened = store
    }

    /// Closes the store.
    mutating func close() {
        opened = nil
    }

    /// The number of a domain's keys, and the sizes of their names and values.
    func totals(of domain: Domain) throws(StorageError) -> KeyTotals {
        if let pending = overlay.totals(of: domain) { return pending }
        return try store.totals(of: domain)
    }

    /// The size of a key's archive; nil if it has no value.
    func size(_ domain: Domain, _ key: Key) throws(StorageError) -> Int? {
        if let pending = overlay.entry(domain, key) { return pending.archive?.count }
        return try store.size(domain, key)
    }

    /// What is on disk.
    var store: StoreReader {
        guard let opened else { preconditionFailure("the database was used after it was closed") }
        return opened
    }
}

/// Changes and their generations.
extension DatabaseContents {
    /// The keys of a domain with the sizes of their values, in order.
    func summaries(of domain: Domain) throws(StorageError) -> [EntrySummary] {
        let stored = overlay.cleared(domain) == nil ? try store.summaries(of: domain) : []
        return merge(stored, of: domain).compactMap(EntrySummary.init)
    }

    /// The changes after a generation; nil if that is before the horizon of the domain.
    func changes(
        of domain: Domain, since generation: Generation
    ) throws(StorageError) -> DomainChanges? {
        let cleared = overlay.cleared(domain)
        if let cleared, cleared > generation { return nil }
        let known = cleared == nil ? try store.changes(of: domain, since: generation) : []
        guard let stored = known else { return nil }
        let entries = merge(stored, of: domain).filter { $0.generation > generation }
        return DomainChanges(
            changed: entries.compactMap(EntrySummary.init),
            removed: entries.filter { $0.size == nil }.map(\.key), isComplete: true)
    }

    /// Whether more than `limit` keys of a domain were set or removed after a generation.
    func hasMoreChanges(
        than limit: Int, of domain: Domain, since generation: Generation
    ) throws(StorageError) -> Bool {
        let pending = overlay.entries(of: domain).count
        if pending > limit { return true }
        guard overlay.cleared(domain) == nil else { return false }
        return pending + (try store.count(of: domain, since: generation, upTo: limit + 1)) > limit
    }

    /// The last change of a domain; nil if it never had one.
    func lastChange(of domain: Domain) throws(StorageError) -> Generation? {
        if let pending = overlay.lastChange(of: domain) { return pending }
        return try store.record(of: domain).lastChange
    }

    /// The last change or the removal of a key, as far as it is known.
    ///
    /// - Returns: Its generation, and nil in place of `forgotten`; or nil, and the generation up to which
    ///   its removal may be forgotten, if there is one.
    func lastChange(
        of key: Key, in domain: Domain
    ) throws(StorageError) -> (generation: Generation?, forgotten: Generation?) {
        if let pending = overlay.entry(domain, key) {
            // If all keys were removed at once, it is not on record whether this one was among them.
            let isNamed = pending.archive != nil || pending.generation != overlay.cleared(domain)
            return isNamed ? (pending.generation, nil) : (nil, pending.generation)
        }
        if let stored = try store.generation(domain, key) { return (stored, nil) }
        return (nil, try store.record(of: domain).horizon)
    }

    /// The keys of a domain that were removed after a generation, as far as that is on record, in order.
    ///
    /// - Parameter generation: Nil for all removals.
    func removals(
        of domain: Domain, since generation: Generation?
    ) throws(StorageError) -> [Key] {
        let stored = overlay.cleared(domain) == nil ? try store.removals(of: domain) : []
        return merge(stored, of: domain).filter { entry in
            entry.size == nil && generation.map { entry.generation > $0 } ?? true
        }.map(\.key)
    }

    /// The generation up to which removals in a domain are forgotten; nil if none is.
    func horizon(of domain: Domain) throws(StorageError) -> Generation? {
        if let cleared = overlay.cleared(domain) { return cleared }
        return try store.record(of: domain).horizon
    }

    /// The generation that was replied to a transaction with this token; nil if none is known.
    func generation(of token: Token, in domain: Domain) throws(StorageError) -> Generation? {
        if let pending = overlay.generation(of: token, in: domain) { return pending }
        return try store.generation(of: token, in: domain)
    }

    /// Applies the pending changes to rows of the store.
    ///
    /// - Returns: In the order of the keys' bytes.
    private func merge(_ stored: [StoredEntry], of domain: Domain) -> [StoredEntry] {
        let pending = overlay.entries(of: domain)
        let untouched = pending.isEmpty ? stored : stored.filter { pending[$0.key] == nil }
        let newer = pending.map { key, entry in
            StoredEntry(key: key, generation: entry.generation, size: entry.archive?.count)
        }
        return (untouched + newer).sorted { $0.key < $1.key }
    }
}

extension EntrySummary {
    /// Nil for a removal.
    fileprivate init?(_ entry: StoredEntry) {
        guard let size = entry.size else { return nil }
        self.init(key: entry.key, generation: entry.generation, size: size)
    }
}

/// Late changes, which a start finds in journals.
extension DatabaseContents {
    /// The part of a change that is missing in the store and in the pending changes, without its
    /// token; nil if there is none.
    ///
    /// A key with a newer row is not missing. A key without a row is not missing either if the
    /// change is before the horizon of its domain, because a removal may have been forgotten.
    func missing(of change: ChangeSet) throws(StorageError) -> ChangeProposal? {
        let domain = change.domain
        let horizon = try horizon(of: domain)
        func isMissing(_ key: Key) throws(StorageError) -> Bool {
            if overlay.entry(domain, key) != nil { return false }
            let known = try store.generation(domain, key) ?? horizon
            return known.map { $0 < change.generation } ?? true
        }
        var set: [ChangeProposal.Assignment] = []
        for assignment in change.set where try isMissing(assignment.key) { set.append(assignment) }
        var removed: [Key] = []
        let named = change.clearsDomain ? try keys(of: domain) : change.removed
        for key in named where try isMissing(key) { removed.append(key) }
        guard !set.isEmpty || !removed.isEmpty else { return nil }
        var proposal = ChangeProposal(
            domain: domain, set: set, removed: removed, origin: change.origin)
        proposal.note = change.proposal.note.map {
            ChangeNote(author: $0.author, kind: .late, time: $0.time)
        }
        return proposal
    }
}

/// The pending changes of a domain, by the names of their keys.
package struct PendingNames: Sendable, Hashable {
    /// The domain, one layer of it.
    package let domain: Domain
    /// The keys that were set.
    package let changed: [Key]
    /// The keys that were removed.
    ///
    /// If all keys were removed at once, this and `changed` are empty.
    package let removed: [Key]
    /// The last change.
    package let generation: Generation
}

extension Database {
    /// The changes that are not on disk yet, in no order.
    ///
    /// After a start, these are the changes that came from the crash journal.
    package var pendingNames: [PendingNames] {
        let overlay = contents.overlay
        return overlay.domains.compactMap { domain in
            guard let last = overlay.lastChange(of: domain) else { return nil }
            let entries = overlay.cleared(domain) == nil ? overlay.entries(of: domain) : [:]
            return PendingNames(
                domain: domain, changed: entries.filter { $0.value.archive != nil }.keys.sorted(),
                removed: entries.filter { $0.value.archive == nil }.keys.sorted(),
                generation: last)
        }
    }
}
