public import DefaultsModel

extension Database {
    /// The value of a key; nil where there is none.
    ///
    /// - Throws: `.damagedRow` where the stored value's checksum is wrong, in which case all other
    ///   keys can be read, and setting this one mends it; `.cannotRead` where the disk fails.
    public func value(_ domain: Domain, _ key: Key) throws(StorageError) -> StoredValue? {
        guard domain.layer.isWritable else { return nil }
        return try contents.value(domain, key)
    }

    /// The keys of a domain that have values, in the order of their bytes.
    ///
    /// - Throws: `.cannotRead` where the disk fails.
    public func keys(of domain: Domain) throws(StorageError) -> [Key] {
        guard domain.layer.isWritable else { return [] }
        return try contents.keys(of: domain)
    }

    /// The last change of a key; nil where it has no value.
    ///
    /// - Throws: `.cannotRead` where the disk fails.
    public func generation(_ domain: Domain, _ key: Key) throws(StorageError) -> Generation? {
        guard domain.layer.isWritable else { return nil }
        return try contents.generation(domain, key)
    }

    /// The keys of a domain that have values, with the sizes of these, in the order of their bytes.
    ///
    /// - Throws: `.cannotRead` where the disk fails.
    public func summaries(of domain: Domain) throws(StorageError) -> [EntrySummary] {
        guard domain.layer.isWritable else { return [] }
        return try contents.summaries(of: domain)
    }

    /// The number of a domain's keys and the length of their names.
    ///
    /// - Throws: `.cannotRead` where the disk fails.
    public func totals(of domain: Domain) throws(StorageError) -> KeyTotals {
        guard domain.layer.isWritable else { return KeyTotals() }
        return try contents.totals(of: domain)
    }

    /// What has changed in a domain after a generation.
    ///
    /// The whole domain where the record does not reach back that far: the numbers have jumped
    /// since, or removals that came since are forgotten, or the generation is none that this
    /// database has had.
    ///
    /// - Parameter generation: Nil for everything.
    /// - Throws: `.cannotRead` where the disk fails.
    public func changes(
        of domain: Domain, since generation: Generation?
    ) throws(StorageError) -> DomainChanges {
        guard domain.layer.isWritable else {
            let isKnown = generation.map { counter.reaches(backTo: $0) } ?? false
            return DomainChanges(changed: [], removed: [], isComplete: isKnown)
        }
        if let generation, counter.reaches(backTo: generation),
            let changes = try contents.changes(of: domain, since: generation)
        {
            return changes
        }
        return DomainChanges(
            changed: try contents.summaries(of: domain), removed: [], isComplete: false)
    }

    /// The domains that have keys, in order, the layers of hosts among them.
    ///
    /// - Throws: `.cannotRead` where the disk fails.
    public func domains() throws(StorageError) -> [Domain] {
        try contents.domains()
    }
}
