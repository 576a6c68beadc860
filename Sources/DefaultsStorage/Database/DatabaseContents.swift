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

    /// The last change of a key; nil where it has no value.
    func generation(_ domain: Domain, _ key: Key) throws(StorageError) -> Generation? {
        if let pending = overlay.entry(domain, key) {
            return pending.archive == nil ? nil : pending.generation
        }
        guard try store.hasValue(domain, key) else { return nil }
        return try store.generation(domain, key)
    }

    /// The keys of a domain, in order.
    func keys(of domain: Domain) throws(StorageError) -> [Key] {
        let stored = overlay.cleared(domain) == nil ? try store.keys(of: domain) : []
        let pending = overlay.entries(of: domain)
        let untouched = pending.isEmpty ? stored : stored.filter { pending[$0] == nil }
        let set = pending.filter { $0.value.archive != nil }.keys
        return (untouched + set).sorted()
    }

    /// The domains that have keys, in order.
    func domains() throws(StorageError) -> [Domain] {
        merge(try store.domains()).sorted()
    }

    /// Whether there may be more domains than a limit, by the store and what is pending together.
    func mayHaveMoreDomains(than limit: Int) throws(StorageError) -> Bool {
        try store.domainCount(upTo: limit + 1) + overlay.domains.count > limit
    }

    /// The layers of hosts that have keys, in order.
    func hostLayers() throws(StorageError) -> [(domain: Domain, host: HostID)] {
        merge(try store.hostLayers()).sorted().compactMap { domain in
            if case .host(let host) = domain.layer { (domain, host) } else { nil }
        }
    }

    /// Lays what is pending over domains of the store.
    private func merge(_ stored: Set<Domain>) -> Set<Domain> {
        var domains = stored
        for domain in overlay.domains {
            let isEmpty = overlay.totals(of: domain).map { $0.keys <= 0 } ?? true
            if isEmpty { domains.remove(domain) } else { domains.insert(domain) }
        }
        return domains
    }

    /// What a domain's totals will be after a change.
    func totals(after proposal: ChangeProposal) throws(StorageError) -> KeyTotals {
        let domain = proposal.domain
        if proposal.clearsDomain { return KeyTotals() }
        var totals = try totals(of: domain)
        for assignment in proposal.set {
            if try !hasValue(domain, assignment.key) { totals.add(assignment.key) }
        }
        for key in proposal.removed {
            if try hasValue(domain, key) { totals.remove(key) }
        }
        return totals
    }

    /// Reads from another store from now on, which has all that this one had.
    mutating func move(to store: StoreReader) {
        opened = store
    }

    /// Closes the store.
    mutating func close() {
        opened = nil
    }

    /// The number of a domain's keys and the length of their names.
    func totals(of domain: Domain) throws(StorageError) -> KeyTotals {
        if let pending = overlay.totals(of: domain) { return pending }
        return try store.totals(of: domain)
    }

    private func hasValue(_ domain: Domain, _ key: Key) throws(StorageError) -> Bool {
        if let pending = overlay.entry(domain, key) { return pending.archive != nil }
        return try store.hasValue(domain, key)
    }

    /// What is on disk.
    var store: StoreReader {
        guard let opened else { preconditionFailure("the database was used after it was closed") }
        return opened
    }
}
