public import DefaultsModel

/// What is known of a key without reading its value.
public struct EntrySummary: Sendable, Equatable {
    /// The key.
    public let key: Key
    /// Its last change.
    public let generation: Generation
    /// The size of its archive in bytes.
    public let size: Int
}

/// What has changed in a domain after some generation.
public struct DomainChanges: Sendable, Equatable {
    /// The keys that were set since, in the order of their bytes.
    public let changed: [EntrySummary]
    /// The keys that were removed since, in the order of their bytes.
    public let removed: [Key]
    /// Whether that is the whole difference.
    ///
    /// Where it is not, because the record does not reach back that far, `changed` is all that the
    /// domain has.
    public let isComplete: Bool
}
