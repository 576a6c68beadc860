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

    /// The domains that have keys, in order, the layers of hosts among them.
    ///
    /// - Throws: `.cannotRead` where the disk fails.
    public func domains() throws(StorageError) -> [Domain] {
        try contents.domains()
    }
}
