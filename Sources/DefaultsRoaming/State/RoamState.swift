import SQLite

// Invariants
//
// 1. The base of a key is a version that stood here. The value here is its value, or there is an edit, or
//    the value is newer than the generation up to which its domain was looked at.
// 2. An arrival is written together with the revision up to which the engine was read. So every version
//    of the engine up to there is a base, is an arrival, or is replaced by a later one.
// 3. An arrival that is being stored has the token of that change. Until it is known whether the change
//    was made, no other is begun.
// 4. At most one batch is being pushed. Its edits are those of the keys until it is known what became of
//    it.
// 5. Each function is one transaction, which is on disk when it returns.

/// What a replica knows about its engine, in the file `roam.db` beside the database that it belongs to.
///
/// It is moved, copied and put back together with the database. It is used on one thread.
final class RoamState {
    /// The name of the file.
    static let fileName = "roam.db"
    /// The version of the tables: a file of a later one is left alone.
    private static let version: Int64 = 2

    let connection: Connection

    /// Opens the file, or makes it.
    ///
    /// - Throws: ``RoamError`` if it is of a later version, and `SQLiteError` if it cannot be used.
    init(path: String) throws {
        connection = try Connection(path: path, flags: [.readWrite, .create])
        try connection.pragma("busy_timeout", "10000")
        try connection.pragma("journal_mode", "WAL")
        // A push must not be forgotten in a power cut: it would be made twice.
        try connection.pragma("synchronous", "FULL")
        let version = Int64(try connection.pragma("user_version") ?? "0") ?? 0
        guard version <= Self.version else { throw RoamError.newerState(path) }
        if version == 0 { try makeTables() }
        if version == 1 { try addSharedRevision() }
    }

    private func makeTables() throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            try connection.execute(
                """
                CREATE TABLE replica (
                    id BLOB NOT NULL, engine TEXT NOT NULL, place BLOB, revision INTEGER NOT NULL,
                    batch INTEGER NOT NULL, nonce BLOB, isAnswered INTEGER NOT NULL,
                    isDoubtful INTEGER NOT NULL, shared INTEGER NOT NULL DEFAULT 0) STRICT;
                CREATE TABLE base (
                    domain TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER, context BLOB,
                    digest BLOB NOT NULL, time INTEGER, isDoubtful INTEGER NOT NULL,
                    PRIMARY KEY (domain, key)) STRICT, WITHOUT ROWID;
                CREATE TABLE edit (
                    domain TEXT NOT NULL, key TEXT NOT NULL, kind INTEGER NOT NULL, boot BLOB,
                    sinceBoot INTEGER, wall INTEGER, isRemoval INTEGER NOT NULL, obstacle TEXT,
                    PRIMARY KEY (domain, key)) STRICT, WITHOUT ROWID;
                CREATE TABLE arrival (
                    domain TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL,
                    context BLOB NOT NULL, archive BLOB, time INTEGER, replica BLOB NOT NULL,
                    token TEXT, obstacle TEXT,
                    PRIMARY KEY (domain, key)) STRICT;
                CREATE TABLE pushed (
                    domain TEXT NOT NULL, key TEXT NOT NULL, archive BLOB,
                    PRIMARY KEY (domain, key)) STRICT;
                CREATE TABLE domain (
                    domain TEXT NOT NULL PRIMARY KEY, generation INTEGER NOT NULL,
                    durable INTEGER NOT NULL, hasNewKeys INTEGER NOT NULL)
                    STRICT, WITHOUT ROWID;
                CREATE TABLE choice (key TEXT NOT NULL PRIMARY KEY, archive BLOB NOT NULL)
                    STRICT, WITHOUT ROWID;
                CREATE TABLE kept (
                    key TEXT NOT NULL PRIMARY KEY, days INTEGER NOT NULL, day INTEGER NOT NULL)
                    STRICT, WITHOUT ROWID;
                CREATE TABLE candidate (engine TEXT NOT NULL PRIMARY KEY, id BLOB NOT NULL)
                    STRICT, WITHOUT ROWID;
                PRAGMA user_version = \(Self.version);
                """)
        }
    }

    /// Version 2.
    private func addSharedRevision() throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            try connection.execute(
                """
                ALTER TABLE replica ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;
                PRAGMA user_version = 2;
                """)
        }
    }
}

/// Why roaming cannot work as it is set up.
package struct RoamError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, and what to do: a sentence.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    static func newerState(_ path: String) -> RoamError {
        RoamError(
            "'\(path)' is of a later version of defaultsd-roam; install that version, or remove the "
                + "file to join anew")
    }
}
