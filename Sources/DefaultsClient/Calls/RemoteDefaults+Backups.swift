import DefaultsProtocol

/// A backup as the daemon lists it.
public struct RemoteBackup: Sendable, Hashable {
    /// The name by which it is restored.
    public let name: String
    /// When it was made, in seconds since 1970.
    public let date: UInt64
    /// The generation of the last change that it contains.
    public let generation: UInt64
    /// `daily`, `manual`, or `undo` for one that was made before a restoration.
    public let kind: String
    /// The size of its file in bytes.
    public let size: UInt64
}

/// What a restoration has changed.
public struct RestorationOutcome: Sendable, Hashable {
    /// The backup that undoes it; empty if nothing had to be changed, or the database was too damaged
    /// for one.
    public let undo: String
    /// How many keys have got another value.
    public let set: UInt64
    /// How many keys were removed.
    public let removed: UInt64
    /// How many values of the backup were damaged.
    ///
    /// Their keys were neither changed nor removed.
    public let damaged: UInt64
    /// How many keys differ and were not changed, because the administrator has locked them.
    public let locked: UInt64
    /// What would be changed, by domain; empty if it was changed.
    public let changes: [DomainRestoration]
}

/// What the restoration of a backup would change in a domain.
public struct DomainRestoration: Sendable, Hashable {
    /// The domain, with the suffix of its layer.
    public let domain: String
    /// The keys that would get another value.
    public let set: [String]
    /// The keys that would be removed.
    public let removed: [String]
    /// How many keys differ and would not be changed, because the administrator has locked them.
    public let locked: UInt64
}

/// Backups; the interface is for the project's own tool.
extension RemoteDefaults {
    /// The whole database is read and written, which takes as long as the disk.
    private static let backupPatience = Duration.seconds(3600)

    /// The backups, the newest first.
    public func backups() async throws -> [RemoteBackup] {
        try await call(Contract.ListBackups.self, ()).map {
            RemoteBackup(
                name: $0.name, date: $0.date, generation: $0.generation, kind: $0.kind,
                size: $0.size)
        }
    }

    /// Makes a backup of everything that was acknowledged so far, and returns its name.
    public func backUp() async throws -> String {
        try await call(Contract.BackUp.self, (), timeout: Self.backupPatience)
    }

    /// Gives every key the value that it has in a backup, and removes the keys that the backup does not
    /// have.
    public func restoreBackup(_ name: String) async throws -> RestorationOutcome {
        RestorationOutcome(
            try await call(Contract.RestoreBackup.self, name, timeout: Self.backupPatience))
    }

    /// Restores some domains or the file of a backup, or finds out what that would change.
    ///
    /// - Parameters:
    ///   - name: The backup; empty if there is a path.
    ///   - path: The absolute path of a backup's file; empty if there is a name.
    ///   - domains: The domains to restore; empty for all. A name without a suffix means all its layers.
    ///   - isDry: Whether to change nothing.
    public func restore(
        _ name: String, at path: String, domains: [String], isDry: Bool
    ) async throws -> RestorationOutcome {
        let (counts, changes) = try await call(
            Contract.Restore.self, (name, path, domains, isDry), timeout: Self.backupPatience)
        return RestorationOutcome(
            counts,
            changes.map {
                DomainRestoration(
                    domain: $0.domain, set: $0.set, removed: $0.removed, locked: $0.locked)
            })
    }
}

extension RestorationOutcome {
    fileprivate init(_ counts: RestoredCounts, _ changes: [DomainRestoration] = []) {
        self.init(
            undo: counts.undo, set: counts.set, removed: counts.removed, damaged: counts.damaged,
            locked: counts.locked, changes: changes)
    }
}

/// What has changed in a domain after a generation.
public struct DomainDifference: Sendable {
    /// The keys that were set since then with their archives, as bytes that have not been validated.
    ///
    /// Large ones are not included. Two keys may be equal as strings and have different bytes.
    public let changed: [(key: String, archive: [UInt8])]
    /// The keys of large archives that were set since then, too; each has to be read by a call.
    public let large: [String]
    /// The keys that were removed since then.
    ///
    /// If this is the whole domain, they are those whose removal is still on record.
    public let removed: [String]
    /// The generation up to which this is complete.
    public let generation: UInt64
    /// Whether this is the difference.
    ///
    /// Otherwise `changed` and `large` are the whole domain.
    public let isComplete: Bool
}

/// When a key was last changed.
public struct KeyChangeTime: Sendable, Hashable {
    /// The key.
    public let key: String
    /// The generation of the change, or of the removal.
    public let generation: UInt64
    /// When it was written to disk, in seconds since 1970; nil if that is unknown.
    public let time: UInt64?
}

extension RemoteDefaults {
    /// When keys of a domain were last set or removed.
    ///
    /// A change is on disk some 2 seconds later, and one that is not on disk yet has the present time.
    /// The times of older changes are less exact: see `GetTimes` in the contract.
    ///
    /// - Parameters:
    ///   - keys: Those of which nothing is on record are left out.
    ///   - domain: The domain, with the suffix of a layer.
    /// - Returns: Nil if the daemon is an older one, which does not know it.
    public func changeTimes(
        of keys: [String], in domain: String
    ) async throws -> [KeyChangeTime]? {
        try await ifTold {
            try await self.call(
                Contract.GetTimes.self, (domain, keys), timeout: Self.differencePatience
            ).map {
                KeyChangeTime(
                    key: $0.key, generation: $0.generation, time: $0.time == 0 ? nil : $0.time)
            }
        }
    }

    /// What has changed in a domain after a generation; the whole domain if that is 0.
    public func difference(
        of domain: String, since generation: UInt64
    ) async throws -> DomainDifference {
        let reply = try await call(
            Contract.GetChanges.self, (domain, generation), timeout: Self.differencePatience)
        return DomainDifference(
            changed: reply.changed.map { (key: $0.0, archive: $0.1) }, large: reply.large,
            removed: reply.removed, generation: reply.generation, isComplete: reply.isComplete)
    }

    /// The whole domain as the difference from nothing, in one reply if it fits.
    ///
    /// Such a reply leaves out damaged values.
    public func wholeDifference(of domain: String) async throws -> DomainDifference {
        do {
            let (entries, generation) = try await call(
                Contract.GetAll.self, domain, timeout: Self.differencePatience)
            return DomainDifference(
                changed: entries.map { (key: $0.0, archive: $0.1) }, large: [], removed: [],
                generation: generation, isComplete: false)
        } catch let error as DefaultsError where error.code == .tooLarge {
            return try await difference(of: domain, since: 0)
        }
    }

    /// As long as a large domain, and a daemon that others keep busy, may take.
    private static var differencePatience: Duration { .seconds(300) }
}
