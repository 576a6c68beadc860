internal import SQLite

/// The versions of what the storage reads and writes.
package enum StorageVersions {
    /// The schema of the database; a database with a later one is refused.
    package static var schema: Int { Schema.version }
    /// The format of the crash journal.
    package static var journal: Int { Int(JournalHeader.notedFormat) }
    /// The SQLite library.
    package static var library: String { Connection.libraryVersion }
}
