public import DefaultsModel

/// Everything that one flush writes: a snapshot of what is pending, for the writer's thread.
public struct FlushBatch: Sendable {
    /// The last change that is in the store when the batch is written, with all before it.
    public let generation: Generation
    /// The changes themselves, coalesced.
    let changes: PendingChanges
    /// From where on the record of changes is whole.
    let recordStart: Generation
    /// The last segment of the journal that is not needed when the batch is written.
    let lastSegment: UInt64?
    /// This machine, where the name that the store has for it is to be another one.
    let host: Host?

    /// The number up to which generations may be given when the batch is written.
    var ceiling: Generation { generation.ceiling }

    /// Whether something is removed by it.
    var removes: Bool {
        changes.domains.values.contains { domain in
            domain.cleared != nil || domain.entries.values.contains { $0.archive == nil }
        }
    }

    /// Whether a whole domain is removed by it.
    var clearsDomain: Bool { changes.domains.values.contains { $0.cleared != nil } }

    /// The size of the values that it adds, in bytes.
    var addedBytes: Int {
        changes.domains.values.reduce(0) { sum, domain in
            domain.entries.values.reduce(sum) { $0 + ($1.archive?.count ?? 0) }
        }
    }

    /// How many tokens it writes.
    var tokenCount: Int { changes.domains.values.reduce(0) { $0 + $1.tokens.count } }

    /// How many of its domains may be left without a key.
    var emptyDomains: Int { changes.domains.values.count { $0.totals.keys <= 0 } }

    /// The rows that it writes: one for each key that changed, however often.
    public var rowCount: Int { changes.domains.values.reduce(0) { $0 + $1.entries.count } }
}
