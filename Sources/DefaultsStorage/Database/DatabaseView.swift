package import DefaultsModel
internal import Glibc
internal import SQLite
internal import SystemCalls

/// What can be read of a database at one moment: the store, and over it what is acknowledged and not
/// on disk.
///
/// It is for one thread at a time. That of the database itself (`Database.view`) is used up before the
/// next change; one that is to last is a `DatabaseSnapshot`'s.
package struct DatabaseView {
    let contents: DatabaseContents
    let counter: GenerationCounter
    let path: String

    /// The generation of the database: that of its last change.
    package var generation: Generation { counter.current }

    /// The value of a key; nil where there is none.
    ///
    /// - Throws: `.damagedRow` where the stored value's checksum is wrong, in which case all other
    ///   keys can be read, and setting this one mends it; `.cannotRead` where the disk fails.
    package func value(_ domain: Domain, _ key: Key) throws(StorageError) -> StoredValue? {
        try contents.value(domain, key)
    }

    /// The keys of a domain that have values, in the order of their bytes.
    ///
    /// - Throws: `.cannotRead` where the disk fails.
    package func keys(of domain: Domain) throws(StorageError) -> [Key] {
        try contents.keys(of: domain).withoutFileRecord(of: domain) { $0 }
    }

    /// The keys as `keys(of:)` gives them, which must be as many as the database has counted.
    ///
    /// - Throws: `.damagedDatabase` if the count is wrong; `.cannotRead` if the disk fails.
    package func countedKeys(of domain: Domain) throws(StorageError) -> [Key] {
        let keys = try contents.keys(of: domain)
        guard try contents.totals(of: domain).keys == keys.count else {
            throw .miscounted(path, "\(domain)")
        }
        return keys.withoutFileRecord(of: domain) { $0 }
    }

    /// The last change of a key; nil where it has no value.
    ///
    /// - Throws: `.cannotRead` where the disk fails.
    package func generation(_ domain: Domain, _ key: Key) throws(StorageError) -> Generation? {
        try contents.generation(domain, key)
    }

    /// The keys of a domain that have values, with the sizes of these, in the order of their bytes.
    ///
    /// - Throws: `.cannotRead` where the disk fails.
    package func summaries(of domain: Domain) throws(StorageError) -> [EntrySummary] {
        try contents.summaries(of: domain).withoutFileRecord(of: domain) { $0.key }
    }

    /// The number of a domain's keys and the length of their names.
    ///
    /// In a layer that is made of files the record of them counts, too.
    ///
    /// - Throws: `.cannotRead` where the disk fails.
    package func totals(of domain: Domain) throws(StorageError) -> KeyTotals {
        try contents.totals(of: domain)
    }

    /// What has changed in a domain after a generation.
    ///
    /// The whole domain where the record does not reach back that far: the numbers have jumped
    /// since, or removals that came since are forgotten, or the generation is none that this
    /// database has had.
    ///
    /// - Parameter generation: Nil for everything.
    /// - Throws: `.cannotRead` where the disk fails.
    package func changes(
        of domain: Domain, since generation: Generation?
    ) throws(StorageError) -> DomainChanges {
        if let generation, counter.reaches(backTo: generation),
            let changes = try contents.changes(of: domain, since: generation)
        {
            return DomainChanges(
                changed: changes.changed.withoutFileRecord(of: domain) { $0.key },
                removed: changes.removed.withoutFileRecord(of: domain) { $0 },
                isComplete: changes.isComplete)
        }
        return DomainChanges(changed: try summaries(of: domain), removed: [], isComplete: false)
    }

    /// The domains that have keys of their own, in order, the layers of hosts among them.
    ///
    /// - Throws: `.cannotRead` where the disk fails.
    package func domains() throws(StorageError) -> [Domain] {
        try contents.domains().filter { $0.layer.isWritable }
    }

    /// Whether there may be more domains than a limit; no more than that are counted.
    ///
    /// - Throws: `.cannotRead` where the disk fails.
    package func mayHaveMoreDomains(than limit: Int) throws(StorageError) -> Bool {
        try contents.mayHaveMoreDomains(than: limit)
    }

    /// The domains that are made of files, in order.
    ///
    /// - Throws: `.cannotRead` where the disk fails.
    package func domainsOfFiles() throws(StorageError) -> [Domain] {
        try contents.domains().filter { !$0.layer.isWritable }
    }

    /// Whether a domain has changed in more than so many keys after a generation, as far as that can be
    /// told without reading the changes.
    ///
    /// - Throws: `.cannotRead` where the disk fails.
    package func hasMoreChanges(
        than limit: Int, of domain: Domain, since generation: Generation?
    ) throws(StorageError) -> Bool {
        let horizon = try contents.horizon(of: domain)
        guard let generation, counter.reaches(backTo: generation),
            horizon.map({ $0 <= generation }) ?? true
        else { return try totals(of: domain).keys > limit }
        return try contents.hasMoreChanges(than: limit, of: domain, since: generation)
    }
}

/// The database as it is now.
extension Database {
    /// What can be read now; to be used up before the next change.
    package var view: DatabaseView {
        DatabaseView(contents: contents, counter: counter, path: path)
    }

    /// As ``DatabaseView/value(_:_:)``.
    package func value(_ domain: Domain, _ key: Key) throws(StorageError) -> StoredValue? {
        try contents.value(domain, key)
    }

    /// As ``DatabaseView/keys(of:)``.
    package func keys(of domain: Domain) throws(StorageError) -> [Key] { try view.keys(of: domain) }

    /// As ``DatabaseView/countedKeys(of:)``.
    package func countedKeys(of domain: Domain) throws(StorageError) -> [Key] {
        try view.countedKeys(of: domain)
    }

    /// As ``DatabaseView/generation(_:_:)``.
    package func generation(_ domain: Domain, _ key: Key) throws(StorageError) -> Generation? {
        try contents.generation(domain, key)
    }

    /// As ``DatabaseView/summaries(of:)``.
    package func summaries(of domain: Domain) throws(StorageError) -> [EntrySummary] {
        try view.summaries(of: domain)
    }

    /// As ``DatabaseView/totals(of:)``.
    package func totals(of domain: Domain) throws(StorageError) -> KeyTotals {
        try contents.totals(of: domain)
    }

    /// As ``DatabaseView/changes(of:since:)``.
    package func changes(
        of domain: Domain, since generation: Generation?
    ) throws(StorageError) -> DomainChanges {
        try view.changes(of: domain, since: generation)
    }

    /// As ``DatabaseView/domains()``.
    package func domains() throws(StorageError) -> [Domain] { try view.domains() }

    /// As ``DatabaseView/domainsOfFiles()``.
    package func domainsOfFiles() throws(StorageError) -> [Domain] { try view.domainsOfFiles() }
}

extension Array {
    /// Without the record of the files that the domain is made of, where it is made of files.
    fileprivate func withoutFileRecord(of domain: Domain, key: (Element) -> Key) -> [Element] {
        domain.layer.isWritable ? self : filter { key($0) != .fileRecord }
    }
}

/// What is known of a key without reading its value.
package struct EntrySummary: Sendable, Equatable {
    /// The key.
    package let key: Key
    /// Its last change.
    package let generation: Generation
    /// The size of its archive in bytes.
    package let size: Int
}

/// What has changed in a domain after some generation.
package struct DomainChanges: Sendable, Equatable {
    /// The keys that were set since, in the order of their bytes.
    package let changed: [EntrySummary]
    /// The keys that were removed since, in the order of their bytes.
    package let removed: [Key]
    /// Whether that is the whole difference.
    ///
    /// Where it is not, because the record does not reach back that far, `changed` is all that the
    /// domain has.
    package let isComplete: Bool
}

/// A database as it was at one moment, to be read on another thread while it goes on changing.
///
/// It has a connection of its own, on which one transaction reads as long as the snapshot lives, and a
/// copy of what was pending. So it takes no lock that a change or a flush waits for; only the write-ahead
/// log cannot begin from its start before the end of it.
///
/// Invariants:
/// 1. Everything that it gives is of one generation.
/// 2. One thread at a time uses it: it is made on the thread of the database, and belongs to the one that
///    it is given to after that (hence `@unchecked Sendable`).
/// 3. Closing it leaves the files as they are: they may not bear the store's names any more.
package final class DatabaseSnapshot: @unchecked Sendable {
    private let connection: Connection
    private var opened: DatabaseView?

    init(
        of file: StoreFile, under overlay: PendingOverlay, at counter: GenerationCounter,
        identity: StoreIdentity
    ) throws(StorageError) {
        connection = try file.connect()
        connection.keepLogOnClose(true)
        do {
            try connection.pragma("query_only", "ON")
            try connection.execute("BEGIN")
        } catch {
            throw .storeFailure(file.path, error, .cannotOpen)
        }
        // The first read is what fixes the moment.
        _ = try file.state(connection)
        guard try file.identity() == identity else { throw .storeGone(file.path) }
        var contents = DatabaseContents(over: try StoreReader(connection, path: file.path))
        contents.overlay = overlay
        opened = DatabaseView(contents: contents, counter: counter, path: file.path)
    }

    /// What the database had.
    package var view: DatabaseView {
        guard let opened else { preconditionFailure("the snapshot was used after it was closed") }
        return opened
    }

    /// Ends it; the log is free to begin anew.
    package func close() {
        opened = nil
        // Where it fails there is no transaction any more.
        try? connection.execute("ROLLBACK")
    }
}

extension Database {
    /// Keeps what can be read now for another thread.
    ///
    /// It is closed before the database is, and before the store is made anew.
    ///
    /// - Throws: `.cannotOpen` if a second connection cannot be opened.
    package func snapshot() throws(StorageError) -> DatabaseSnapshot {
        try DatabaseSnapshot(of: file, under: contents.overlay, at: counter, identity: identity)
    }

    /// What the write-ahead log takes up, in bytes.
    package var logSize: Int {
        FileStatus.ifAny(file.logPath)?.size ?? 0
    }
}
