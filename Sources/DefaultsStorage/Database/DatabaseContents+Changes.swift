internal import DefaultsModel

/// What has changed, and since when.
extension DatabaseContents {
    /// The keys of a domain with the sizes of their values, in order.
    func summaries(of domain: Domain) throws(StorageError) -> [EntrySummary] {
        let stored = overlay.cleared(domain) == nil ? try store.summaries(of: domain) : []
        return merge(stored, of: domain).compactMap(EntrySummary.init)
    }

    /// What came after a generation; nil where that is before the horizon of the domain.
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

    /// Whether more than so many keys of a domain have changed after a generation, values and removals.
    func hasMoreChanges(
        than limit: Int, of domain: Domain, since generation: Generation
    ) throws(StorageError) -> Bool {
        let pending = overlay.entries(of: domain).count
        if pending > limit { return true }
        guard overlay.cleared(domain) == nil else { return false }
        return pending + (try store.count(of: domain, since: generation, upTo: limit + 1)) > limit
    }

    /// The last change of a domain; nil where it never had one.
    func lastChange(of domain: Domain) throws(StorageError) -> Generation? {
        if let pending = overlay.lastChange(of: domain) { return pending }
        return try store.record(of: domain).lastChange
    }

    /// The generation up to which removals in a domain are forgotten; nil where none is.
    func horizon(of domain: Domain) throws(StorageError) -> Generation? {
        if let cleared = overlay.cleared(domain) { return cleared }
        return try store.record(of: domain).horizon
    }

    /// The generation that was replied to a transaction with this token; nil where none is known.
    func generation(of token: Token, in domain: Domain) throws(StorageError) -> Generation? {
        if let pending = overlay.generation(of: token, in: domain) { return pending }
        return try store.generation(of: token, in: domain)
    }

    /// Lays what is pending over rows of the store.
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
