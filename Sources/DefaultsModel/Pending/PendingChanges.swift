/// Changes on their way to disk, coalesced: of several to one key only the last is left.
///
/// ```swift
/// for (domain, pending) in changes.domains {
///     for (key, entry) in pending.entries { write(domain, key, entry) }
/// }
/// ```
public struct PendingChanges: Sendable {
    /// What is to be written of one domain.
    public struct PerDomain: Sendable {
        /// The keys that changed.
        public internal(set) var entries: [Key: PendingEntry] = [:]
        /// The domain's keys when all of this is written.
        public internal(set) var totals: KeyTotals
    }

    /// What memory an entry is taken to need beside its key and its archive, in bytes.
    static let entryOverhead = 128

    /// The domains that changed.
    public private(set) var domains: [Domain: PerDomain] = [:]
    /// The changes that went in, each counted once however many keys it has.
    public private(set) var count = 0
    /// The memory of the entries: keys, archives and a fixed amount for each.
    public private(set) var bytes = 0
    /// The newest change that went in; nil where there is none.
    public private(set) var newest: Generation?

    /// No changes.
    public init() {}

    /// Takes in a change that came after these.
    mutating func add(_ change: ChangeSet, totals: KeyTotals) {
        for assignment in change.set {
            put(
                PendingEntry(archive: assignment.archive, generation: change.generation),
                assignment.key, change.domain, totals)
        }
        for key in change.removed {
            put(
                PendingEntry(archive: nil, generation: change.generation), key, change.domain,
                totals)
        }
        count += 1
        newest = change.generation
    }

    /// Takes in changes that all came after these.
    mutating func add(_ later: PendingChanges) {
        for (domain, pending) in later.domains {
            for (key, entry) in pending.entries { put(entry, key, domain, pending.totals) }
        }
        count += later.count
        newest = later.newest ?? newest
    }

    /// How many bytes an entry for the key counts for.
    static func size(of key: Key, _ archive: [UInt8]?) -> Int {
        entryOverhead + key.length + (archive?.count ?? 0)
    }

    private mutating func put(
        _ entry: PendingEntry, _ key: Key, _ domain: Domain, _ totals: KeyTotals
    ) {
        bytes += PendingChanges.size(of: key, entry.archive)
        let replaced = domains[domain, default: PerDomain(totals: totals)].entries
            .updateValue(entry, forKey: key)
        if let replaced { bytes -= PendingChanges.size(of: key, replaced.archive) }
        domains[domain]?.totals = totals
    }
}
