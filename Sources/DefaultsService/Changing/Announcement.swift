import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms

/// What the signal `Changed` tells of one change: names, never values.
struct Announcement {
    let domain: Domain
    private(set) var changed: [Key]
    private(set) var removed: [Key]
    let generation: Generation
    let origin: String

    /// Of a change with very many keys, and of one that does not name them, no names are told.
    init(_ change: ChangeSet) {
        self.init(
            change.domain, changed: change.set.map(\.key), removed: change.removed,
            at: change.generation, by: change.origin)
    }

    /// Of what a start has found in the crash journal.
    init(_ pending: PendingNames) {
        self.init(
            pending.domain, changed: pending.changed, removed: pending.removed,
            at: pending.generation, by: "")
    }

    /// Of a domain that is not as it was, because the store was damaged.
    init(_ rescued: RescuedDomain, at generation: Generation) {
        self.init(
            rescued.domain, changed: rescued.changed, removed: rescued.removed, at: generation,
            by: "")
    }

    private init(
        _ domain: Domain, changed: [Key], removed: [Key], at generation: Generation,
        by origin: String
    ) {
        self.domain = domain
        self.generation = generation
        self.origin = origin
        let names = (changed + removed).reduce(0) { $0 + $1.length }
        guard names <= ContractLimits.maximumSignalledNames else {
            (self.changed, self.removed) = ([], [])
            return
        }
        // What else is locked by files has no names, either.
        self.changed = changed.filter { $0 != .fileRecord }
        self.removed = removed.filter { $0 != .fileRecord }
    }

    /// The same without names, for which those who listen have to ask.
    func withoutNames() -> Announcement {
        var announcement = self
        (announcement.changed, announcement.removed) = ([], [])
        return announcement
    }

    /// The signal, as it is sent.
    var signal: ChangedSignal {
        ChangedSignal(
            domain: domain.name, layer: domain.layer.name.rawValue, changed: changed.map(\.name),
            removed: removed.map(\.name), generation: generation.rawValue, origin: origin)
    }
}
