import DefaultsProtocol

/// What has changed in a domain after a generation.
public struct DomainDifference: Sendable {
    /// The archives that were set since and are small enough to be sent at once, as bytes that
    /// nobody has looked at.
    public let changed: [String: [UInt8]]
    /// The keys that were set since, too, and whose archives are to be read one by one.
    public let large: [String]
    /// The keys that were removed since.
    public let removed: [String]
    /// The generation up to which this tells everything.
    public let generation: UInt64
    /// Whether that is the difference; otherwise `changed` and `large` are the whole domain.
    public let isComplete: Bool
}

extension RemoteDefaults {
    /// What has changed in a domain after a generation; after 0 it is the whole domain.
    public func difference(
        of domain: String, since generation: UInt64
    ) async throws -> DomainDifference {
        let reply = try await call(
            Contract.GetChanges.self, (domain, generation), timeout: Self.patience)
        return DomainDifference(
            changed: Dictionary(reply.changed) { first, _ in first }, large: reply.large,
            removed: reply.removed, generation: reply.generation, isComplete: reply.isComplete)
    }

    /// The whole domain as the difference from nothing, in one reply where it fits.
    ///
    /// Values that are damaged are left out then.
    public func wholeDifference(of domain: String) async throws -> DomainDifference {
        do {
            let (entries, generation) = try await call(
                Contract.GetAll.self, domain, timeout: Self.patience)
            return DomainDifference(
                changed: Dictionary(entries) { first, _ in first }, large: [], removed: [],
                generation: generation, isComplete: false)
        } catch let error as DefaultsError where error.code == .tooLarge {
            return try await difference(of: domain, since: 0)
        }
    }

    /// As long as a large domain, and a daemon that others keep busy, may take.
    private static var patience: Duration { .seconds(300) }
}
