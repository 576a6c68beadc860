public import DefaultsModel

/// The pending changes of a domain, by the names of their keys.
public struct PendingNames: Sendable, Hashable {
    /// The domain, one layer of it.
    public let domain: Domain
    /// The keys that were set.
    public let changed: [Key]
    /// The keys that were removed.
    ///
    /// If all keys were removed at once, this and `changed` are empty.
    public let removed: [Key]
    /// The last change.
    public let generation: Generation
}

extension Database {
    /// The changes that are not on disk yet, in no order.
    ///
    /// After a start, these are the changes that came from the crash journal.
    public var pendingNames: [PendingNames] {
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
