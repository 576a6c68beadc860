package import DefaultsModel
internal import DefaultsTerms
internal import SQLite

/// How much programs have stored, for quotas.
extension DatabaseView {
    /// The totals of all domains that programs can write and that have keys.
    ///
    /// - Throws: `.cannotRead` if the disk fails.
    package func totals() throws(StorageError) -> [Domain: KeyTotals] {
        try contents.totals(of: nil).filter { shows($0.key) }
    }
}

extension Database {
    /// What programs have stored in the domains that a pattern covers, in all layers that they can
    /// write.
    ///
    /// The cost grows with the number of these domains.
    ///
    /// - Parameter pattern: Nil for all domains.
    /// - Throws: `.cannotRead` if the disk fails.
    package func usage(of pattern: DomainPattern?) throws(StorageError) -> Usage {
        guard pattern != nil else { return try contents.usage() }
        var usage = Usage()
        for totals in try contents.totals(of: pattern).values { usage.add(totals) }
        return usage
    }

    /// How many domains that a pattern covers have keys or tokens.
    ///
    /// - Parameter limit: Counting stops here.
    /// - Throws: `.cannotRead` if the disk fails.
    package func domainsInUse(
        _ pattern: DomainPattern, atMost limit: Int
    ) throws(StorageError) -> Int {
        try contents.domainsInUse(pattern, atMost: limit)
    }

    /// The size of a key's archive, in bytes; nil if it has no value.
    ///
    /// - Throws: `.cannotRead` if the disk fails.
    package func size(_ domain: Domain, _ key: Key) throws(StorageError) -> Int? {
        try contents.size(domain, key)
    }

    /// The size of all changes that are not on disk, also of those that are being written, in bytes.
    package var unwrittenBytes: Int { contents.overlay.bytes }

    /// The space on the disk of the database; nil if the system does not say.
    package var diskSpace: DiskSpace? { try? directory.diskSpace() }
}

extension StoreReader {
    /// The totals of the domains that programs can write and that have keys, as far as a pattern
    /// covers them.
    ///
    /// - Parameter pattern: Nil for all domains.
    func totals(of pattern: DomainPattern?) throws(StorageError) -> [Domain: KeyTotals] {
        try reading { () throws(SQLiteError) in
            let select = try prepare(
                pattern?.domain == nil ? StoreQuery.totalsOfAll : StoreQuery.totalsBelow)
            if let name = pattern?.domain { try Self.bind(select, toDomainsBelow: name) }
            var found: [Domain: KeyTotals] = [:]
            while try select.step() {
                guard let domain = Self.domain(in: select), domain.layer.isWritable,
                    pattern?.covers(domain.name) != false
                else { continue }
                found[domain] = Self.totals(in: select, from: 2)
            }
            return found
        }
    }

    /// What all domains have that programs can write.
    ///
    /// Their names are not read, so this takes a small part of the time of ``totals(of:)``.
    func usage() throws(StorageError) -> Usage {
        try reading { () throws(SQLiteError) in
            let select = try prepare(StoreQuery.totalsOfWritable)
            var usage = Usage()
            while try select.step() { usage.add(Self.totals(in: select, from: 0)) }
            return usage
        }
    }

    /// The domains that a pattern covers and that have keys or tokens.
    ///
    /// The search stops at the limit.
    func domainsInUse(
        _ pattern: DomainPattern, atMost limit: Int
    ) throws(StorageError) -> Set<Domain> {
        try reading { () throws(SQLiteError) in
            let select = try prepare(StoreQuery.domainsInUse)
            try Self.bind(select, toDomainsBelow: pattern.domain ?? "")
            try select.bind(Int64(limit), at: 4)
            var found: Set<Domain> = []
            while try select.step() {
                if let domain = Self.domain(in: select), pattern.covers(domain.name) {
                    found.insert(domain)
                }
            }
            return found
        }
    }

    /// Binds the name and the range of names that begin with it and a dot.
    private static func bind(
        _ select: borrowing Statement, toDomainsBelow name: String
    ) throws(SQLiteError) {
        try select.bind(name, at: 1)
        try select.bind(name + ".", at: 2)
        // The character after the dot.
        try select.bind(name + "/", at: 3)
    }
}
