import SQLite

/// The tables of the engine in `roam.db`.
enum Tables {
    /// The version of these tables.
    static let version: Int64 = 1

    /// Times that are not known are NULL.
    ///
    /// An archive that is NULL is a removal.
    ///
    /// - `directory_self`: this replica; one row.
    /// - `directory_snapshot`: the last file that was joined of each other replica.
    /// - `directory_joined`: what such a file says about the files of others. Those of this replica are
    ///   what its own file says.
    /// - `directory_forgotten`: replicas whose files are not read any more.
    /// - `directory_former`: the names that this machine has had before, which a copy of it may have.
    /// - `directory_head`: the versions in the last file of each replica, its own too.
    /// - `directory_cover`: which versions are replaced, or kept as lost, as far as any file ever said.
    ///   Those with `published` are in this replica's file.
    /// - `directory_shown`: the version of each key that the replica was told. An orphan's version is
    ///   in no file any more.
    /// - `directory_loser`: what is to be kept on this machine.
    /// - `directory_outcome`: the answer to the last batch.
    /// - `directory_stable`: what all replicas must have joined before garbage is dropped.
    /// - `directory_clock`: the ``MeetingClock``; at most one row.
    static let schema = """
        CREATE TABLE IF NOT EXISTS directory_self (
            one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL, replica TEXT NOT NULL,
            name TEXT NOT NULL, counter INTEGER NOT NULL, sequence INTEGER NOT NULL,
            stamp TEXT NOT NULL, content INTEGER NOT NULL, revision INTEGER NOT NULL,
            batch INTEGER NOT NULL, nonce TEXT NOT NULL, day INTEGER NOT NULL) STRICT;
        CREATE TABLE IF NOT EXISTS directory_snapshot (
            replica TEXT PRIMARY KEY, sequence INTEGER NOT NULL, stamp TEXT NOT NULL,
            content INTEGER NOT NULL, name TEXT NOT NULL, written INTEGER NOT NULL,
            idle INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS directory_joined (
            replica TEXT NOT NULL, other TEXT NOT NULL, content INTEGER NOT NULL,
            PRIMARY KEY (replica, other)) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS directory_forgotten (
            replica TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS directory_former (
            replica TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS directory_head (
            domain TEXT NOT NULL, key TEXT NOT NULL, voucher TEXT NOT NULL, replica TEXT NOT NULL,
            counter INTEGER NOT NULL, time INTEGER, archive BLOB, garbage INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (domain, key, voucher, replica)) STRICT;
        CREATE INDEX IF NOT EXISTS directory_head_voucher ON directory_head (voucher);
        CREATE TABLE IF NOT EXISTS directory_cover (
            domain TEXT NOT NULL, key TEXT NOT NULL, replica TEXT NOT NULL,
            counter INTEGER NOT NULL, published INTEGER NOT NULL DEFAULT 0,
            garbage INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (domain, key, replica)) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS directory_cover_published ON directory_cover (published)
            WHERE published = 1;
        CREATE TABLE IF NOT EXISTS directory_shown (
            domain TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, replica TEXT NOT NULL,
            counter INTEGER NOT NULL, time INTEGER, archive BLOB, orphan INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (domain, key)) STRICT;
        CREATE INDEX IF NOT EXISTS directory_shown_revision ON directory_shown (revision);
        CREATE TABLE IF NOT EXISTS directory_loser (
            name TEXT PRIMARY KEY, domain TEXT NOT NULL, key TEXT NOT NULL, replica TEXT NOT NULL,
            counter INTEGER NOT NULL, time INTEGER, archive BLOB) STRICT;
        CREATE TABLE IF NOT EXISTS directory_outcome (
            position INTEGER PRIMARY KEY, domain TEXT NOT NULL, key TEXT NOT NULL,
            stands INTEGER NOT NULL, revision INTEGER NOT NULL, context TEXT NOT NULL,
            time INTEGER) STRICT;
        CREATE TABLE IF NOT EXISTS directory_stable (
            replica TEXT PRIMARY KEY, content INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS directory_clock (
            one INTEGER PRIMARY KEY CHECK (one = 1), boot TEXT NOT NULL,
            since_boot INTEGER NOT NULL, wall INTEGER NOT NULL, time INTEGER NOT NULL) STRICT;
        """

    /// All tables but those that outlive a replica: what it lost, whom it has forgotten, the names that its
    /// machine has had, and the clock.
    static let ofReplica = [
        "snapshot", "joined", "head", "cover", "shown", "outcome", "stable",
    ].map { "directory_\($0)" }
}

/// A value of a statement.
enum SQLValue {
    case integer(Int64)
    case text(String)
    /// At most one of a statement, as it is not copied.
    case blob([UInt8]?)
    case null
}

extension Connection {
    /// Runs a statement with values.
    func run(_ sql: String, _ values: [SQLValue] = []) throws(SQLiteError) {
        let statement = try prepare(sql)
        if let (blob, position) = try statement.bind(values) {
            try statement.run(withBlob: blob, at: position)
        } else {
            try statement.run()
        }
    }

    /// What a statement with values gives.
    func rows<Row>(
        _ sql: String, _ values: [SQLValue] = [], _ row: (borrowing Statement) -> Row
    ) throws(SQLiteError) -> [Row] {
        let statement = try prepare(sql)
        _ = try statement.bind(values)
        var rows: [Row] = []
        while try statement.step() { rows.append(row(statement)) }
        return rows
    }

    /// Whether a statement with values gives anything.
    func hasRow(_ sql: String, _ values: [SQLValue] = []) throws(SQLiteError) -> Bool {
        let statement = try prepare(sql)
        _ = try statement.bind(values)
        return try statement.step()
    }
}

extension Statement {
    /// Binds all values but a blob, which is returned.
    fileprivate func bind(
        _ values: [SQLValue]
    ) throws(SQLiteError) -> (blob: [UInt8], position: Int32)? {
        var blob: ([UInt8], Int32)?
        for (position, value) in zip(Int32(1)..., values) {
            switch value {
            case .integer(let value): try bind(value, at: position)
            case .text(let value): try bind(value, at: position)
            case .blob(let value): blob = value.map { ($0, position) }
            // What is not bound is NULL.
            case .null: break
            }
        }
        return blob
    }
}
