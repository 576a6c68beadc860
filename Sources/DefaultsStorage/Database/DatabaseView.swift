package import DefaultsModel
internal import Glibc
internal import SQLite
internal import SystemCalls

/// What can be read of a database at one moment: the store, and the pending changes over it.
///
/// One thread at a time uses it. The view of the database itself (`Database.view`) is valid until
/// the next change; a view that must last longer comes from a `DatabaseSnapshot`.
///
/// A view for a program in a sandbox shows a domain outside of the program's scope as one that does
/// not exist.
package struct DatabaseView {
    let contents: DatabaseContents
    let counter: GenerationCounter
    let path: String
    private let date: DateSource
    /// What may be seen; nil for everything.
    private var scope: AccessScope?

    init(
        contents: DatabaseContents, counter: GenerationCounter, path: String, date: DateSource
    ) {
        self.contents = contents
        self.counter = counter
        self.path = path
        self.date = date
    }

    /// The same, with nothing outside of a scope.
    ///
    /// - Parameter scope: Nil for everything.
    package func limited(to scope: AccessScope?) -> DatabaseView {
        var view = self
        view.scope = scope
        return view
    }

    /// Whether anything of a domain may be seen.
    package func shows(_ domain: Domain) -> Bool { scope?.mayRead(domain) ?? true }

    /// The generation of the database: that of its last change.
    package var generation: Generation { counter.current }

    /// The generation from which on all changes are known, except removals that a domain has
    /// forgotten.
    package var recordStart: Generation { counter.record.start }

    /// The value of a key; nil if there is none.
    ///
    /// - Throws: `.damagedRow` if the checksum of the stored value is wrong. All other keys can
    ///   still be read, and setting this one replaces the row. `.cannotRead` if the disk fails.
    package func value(_ domain: Domain, _ key: Key) throws(StorageError) -> StoredValue? {
        guard shows(domain) else { return nil }
        return try contents.value(domain, key)
    }

    /// The keys of a domain that have values, in the order of their bytes.
    ///
    /// - Throws: `.cannotRead` if the disk fails.
    package func keys(of domain: Domain) throws(StorageError) -> [Key] {
        try keysInNoOrder(of: domain).sorted()
    }

    /// The keys of a domain that have values, in no order, which takes less time.
    ///
    /// - Throws: `.cannotRead` if the disk fails.
    package func keysInNoOrder(of domain: Domain) throws(StorageError) -> [Key] {
        guard shows(domain) else { return [] }
        return try contents.keys(of: domain).withoutFileRecord(of: domain) { $0 }
    }

    /// The keys as `keys(of:)` gives them, compared with the count that the database keeps.
    ///
    /// - Throws: `.damagedDatabase` if the count is wrong; `.cannotRead` if the disk fails.
    package func keysCheckedAgainstCount(of domain: Domain) throws(StorageError) -> [Key] {
        guard shows(domain) else { return [] }
        let keys = try contents.keys(of: domain)
        guard try contents.totals(of: domain).keys == keys.count else {
            throw .miscounted(path, "\(domain)")
        }
        return keys.withoutFileRecord(of: domain) { $0 }.sorted()
    }

    /// The last change of a key; nil if it has no value.
    ///
    /// - Throws: `.cannotRead` if the disk fails.
    package func generation(_ domain: Domain, _ key: Key) throws(StorageError) -> Generation? {
        guard shows(domain) else { return nil }
        return try contents.generation(domain, key)
    }

    /// The keys of a domain that have values, with the sizes of the values, in the order of their
    /// bytes.
    ///
    /// - Throws: `.cannotRead` if the disk fails.
    package func summaries(of domain: Domain) throws(StorageError) -> [EntrySummary] {
        guard shows(domain) else { return [] }
        return try contents.summaries(of: domain).withoutFileRecord(of: domain) { $0.key }
    }

    /// The number of a domain's keys and the length of their names.
    ///
    /// In a layer that is made of files, it is one key more than `keys(of:)` gives: the record of the
    /// files is counted, too.
    ///
    /// - Throws: `.cannotRead` if the disk fails.
    package func totals(of domain: Domain) throws(StorageError) -> KeyTotals {
        guard shows(domain) else { return KeyTotals() }
        return try contents.totals(of: domain)
    }

    /// What has changed in a domain after a generation.
    ///
    /// It gives the whole domain if the record does not reach back that far: the numbers have
    /// jumped since, or later removals are forgotten, or this database never had the generation. Then
    /// the removals are those that are still on record.
    ///
    /// - Parameter generation: Nil for everything.
    /// - Throws: `.cannotRead` if the disk fails.
    package func changes(
        of domain: Domain, since generation: Generation?
    ) throws(StorageError) -> DomainChanges {
        guard shows(domain) else {
            return DomainChanges(
                changed: [], removed: [],
                isComplete: generation.map(counter.reaches(backTo:)) ?? false)
        }
        if let generation, counter.reaches(backTo: generation),
            let changes = try contents.changes(of: domain, since: generation)
        {
            return DomainChanges(
                changed: changes.changed.withoutFileRecord(of: domain) { $0.key },
                removed: changes.removed.withoutFileRecord(of: domain) { $0 },
                isComplete: changes.isComplete)
        }
        return DomainChanges(
            changed: try summaries(of: domain),
            removed: try contents.removals(of: domain, since: generation)
                .withoutFileRecord(of: domain) { $0 },
            isComplete: false)
    }

    /// When keys of a domain were last set or removed.
    ///
    /// - Parameter keys: Those of which nothing is on record are left out.
    /// - Throws: `.cannotRead` if the disk fails.
    package func changeTimes(of keys: [Key], in domain: Domain) throws(StorageError) -> [ChangeTime]
    {
        guard shows(domain) else { return [] }
        var changes: [(key: Key, generation: Generation)] = []
        for key in keys where domain.layer.isWritable || key != .fileRecord {
            if let last = try contents.lastChange(of: key, in: domain).generation {
                changes.append((key, last))
            }
        }
        let times = try contents.store.times(of: changes.map(\.generation))
        let now = date.now
        return zip(changes, times).map { change, time in
            ChangeTime(key: change.key, generation: change.generation, time: time ?? now)
        }
    }

    /// The domains that have keys of their own, in order, the layers of hosts among them.
    ///
    /// - Throws: `.cannotRead` if the disk fails.
    package func domains() throws(StorageError) -> [Domain] {
        try contents.domains().filter { $0.layer.isWritable && shows($0) }
    }

    /// Whether there may be more domains than a limit; no more than that are counted.
    ///
    /// - Throws: `.cannotRead` if the disk fails.
    package func mayHaveMoreDomains(than limit: Int) throws(StorageError) -> Bool {
        try contents.mayHaveMoreDomains(than: limit)
    }

    /// The domains that are made of files, in order.
    ///
    /// - Throws: `.cannotRead` if the disk fails.
    package func domainsOfFiles() throws(StorageError) -> [Domain] {
        try contents.domains().filter { !$0.layer.isWritable && shows($0) }
    }

    /// Whether more keys of a domain than a limit have changed after a generation, as far as can be
    /// known without reading the changes.
    ///
    /// - Throws: `.cannotRead` if the disk fails.
    package func hasMoreChanges(
        than limit: Int, of domain: Domain, since generation: Generation?
    ) throws(StorageError) -> Bool {
        guard shows(domain) else { return false }
        let horizon = try contents.horizon(of: domain)
        guard let generation, counter.reaches(backTo: generation),
            horizon.map({ $0 <= generation }) ?? true
        else { return try totals(of: domain).keys > limit }
        return try contents.hasMoreChanges(than: limit, of: domain, since: generation)
    }
}

/// The database as it is now.
extension Database {
    /// What can be read now; valid until the next change.
    package var view: DatabaseView {
        DatabaseView(contents: contents, counter: counter, path: path, date: date)
    }

    /// As ``DatabaseView/value(_:_:)``.
    package func value(_ domain: Domain, _ key: Key) throws(StorageError) -> StoredValue? {
        try contents.value(domain, key)
    }

    /// As ``DatabaseView/keys(of:)``.
    package func keys(of domain: Domain) throws(StorageError) -> [Key] { try view.keys(of: domain) }

    /// As ``DatabaseView/keysCheckedAgainstCount(of:)``.
    package func keysCheckedAgainstCount(of domain: Domain) throws(StorageError) -> [Key] {
        try view.keysCheckedAgainstCount(of: domain)
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
    /// The elements without the record of files, which a domain that is made of files has.
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

/// When a key was last set or removed.
package struct ChangeTime: Sendable, Equatable {
    /// The key.
    package let key: Key
    /// Its last change or its removal.
    package let generation: Generation
    /// When that was written to disk, in seconds since 1970: now if it is not on disk yet, and 0 if the
    /// time is unknown.
    package let time: UInt64
}

/// What has changed in a domain after some generation.
package struct DomainChanges: Sendable, Equatable {
    /// The keys that were set since, in the order of their bytes.
    package let changed: [EntrySummary]
    /// The keys that were removed since, as far as that is on record, in the order of their bytes.
    package let removed: [Key]
    /// Whether that is the whole difference.
    ///
    /// If it is not, because the record does not reach back that far, `changed` has all keys of the
    /// domain, and `removed` may lack some.
    package let isComplete: Bool
}

/// A database as it was at one moment, for reading on another thread while the database changes.
///
/// It has its own connection with one open read transaction, and a copy of the pending changes. So
/// no change and no flush waits for it. But until it is closed, the write-ahead log cannot start
/// again from its beginning.
///
/// Invariants:
/// 1. Everything that it gives has one generation.
/// 2. One thread at a time uses it: the thread of the database makes it, and then gives it to
///    another one (hence `@unchecked Sendable`).
/// 3. Closing it does not change the files: they may no longer have the names of the store.
package final class DatabaseSnapshot: @unchecked Sendable {
    private let connection: Connection
    private var opened: DatabaseView?

    init(
        of file: StoreFile, under overlay: PendingOverlay, at counter: GenerationCounter,
        identity: StoreIdentity, date: DateSource
    ) throws(StorageError) {
        connection = try file.connectAgain()
        connection.keepLogOnClose(true)
        do {
            try connection.pragma("query_only", "ON")
            try connection.execute("BEGIN")
        } catch {
            throw .storeFailure(file.path, error, .cannotOpen)
        }
        // The first read fixes the moment.
        _ = try file.state(connection)
        guard try file.identity() == identity else { throw .storeGone(file.path) }
        var contents = DatabaseContents(over: try StoreReader(connection, path: file.path))
        contents.overlay = overlay
        opened = DatabaseView(
            contents: contents, counter: counter, path: file.path, date: date)
    }

    /// What the database had.
    package var view: DatabaseView {
        guard let opened else { preconditionFailure("the snapshot was used after it was closed") }
        return opened
    }

    /// Ends it.
    ///
    /// From then on the log can start again from its beginning.
    package func close() {
        opened = nil
        // If this fails, the transaction has already ended.
        try? connection.execute("ROLLBACK")
    }
}

extension Database {
    /// Keeps the current contents for another thread.
    ///
    /// It must be closed before the database is closed, and before the store is rebuilt.
    ///
    /// - Throws: `.cannotOpen` if a second connection cannot be opened.
    package func snapshot() throws(StorageError) -> DatabaseSnapshot {
        try DatabaseSnapshot(
            of: file, under: contents.overlay, at: counter, identity: identity, date: date)
    }

    /// The size of the write-ahead log in bytes.
    package var logSize: Int {
        FileStatus.ifAny(file.logPath)?.size ?? 0
    }
}
