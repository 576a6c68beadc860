internal import DefaultsModel

/// What every caller sees: the store, and over it what is acknowledged but not in it.
struct DatabaseContents {
    var overlay = PendingOverlay()
    private var opened: StoreReader?

    init(over store: StoreReader) {
        opened = store
    }

    /// The value of a key; nil where there is none.
    func value(_ domain: Domain, _ key: Key) throws(StorageError) -> StoredValue? {
        guard let pending = overlay.entry(domain, key) else {
            return try store.value(domain, key)
        }
        return pending.archive.map { StoredValue(archive: $0, generation: pending.generation) }
    }

    /// The keys of a domain, in order.
    func keys(of domain: Domain) throws(StorageError) -> [Key] {
        let stored = try store.keys(of: domain)
        let pending = overlay.entries(of: domain)
        guard !pending.isEmpty else { return stored }
        let untouched = stored.filter { pending[$0] == nil }
        let set = pending.filter { $0.value.archive != nil }.keys
        return (untouched + set).sorted()
    }

    /// The domains that have keys, in order.
    func domains() throws(StorageError) -> [Domain] {
        var domains = try store.domains()
        for domain in overlay.domains {
            let isEmpty = overlay.totals(of: domain).map { $0.keys <= 0 } ?? true
            if isEmpty { domains.remove(domain) } else { domains.insert(domain) }
        }
        return domains.sorted()
    }

    /// What a domain's totals will be after a change.
    func totals(after proposal: ChangeProposal) throws(StorageError) -> KeyTotals {
        let domain = proposal.domain
        var totals = try totals(of: domain)
        for assignment in proposal.set {
            if try !hasValue(domain, assignment.key) { totals.add(assignment.key) }
        }
        for key in proposal.removed {
            if try hasValue(domain, key) { totals.remove(key) }
        }
        return totals
    }

    /// The part of a change for whose keys the store has nothing as new; nil where there is none.
    func notStored(of change: ChangeSet) throws(StorageError) -> ChangeSet? {
        var set: [ChangeProposal.Assignment] = []
        var removed: [Key] = []
        for assignment in change.set
        where try !store.hasRow(change.domain, assignment.key, from: change.generation) {
            set.append(assignment)
        }
        for key in change.removed
        where try !store.hasRow(change.domain, key, from: change.generation) {
            removed.append(key)
        }
        guard !set.isEmpty || !removed.isEmpty else { return nil }
        return ChangeSet(
            generation: change.generation,
            proposal: ChangeProposal(
                domain: change.domain, set: set, removed: removed, origin: change.origin))
    }

    /// Folds the write-ahead log back and closes the store.
    mutating func close() throws(StorageError) {
        defer { opened = nil }
        try store.checkpoint()
    }

    private func totals(of domain: Domain) throws(StorageError) -> KeyTotals {
        if let pending = overlay.totals(of: domain) { return pending }
        return try store.totals(of: domain)
    }

    private func hasValue(_ domain: Domain, _ key: Key) throws(StorageError) -> Bool {
        if let pending = overlay.entry(domain, key) { return pending.archive != nil }
        return try store.hasValue(domain, key)
    }

    private var store: StoreReader {
        guard let opened else { preconditionFailure("the database was used after it was closed") }
        return opened
    }
}
