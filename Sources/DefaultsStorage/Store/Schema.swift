internal import Glibc
internal import SQLite
internal import SystemCalls

/// The tables of the store and how they came to be.
enum Schema {
    /// What a database of this program says of itself in its header: "DfDb".
    ///
    /// See [PRAGMA application_id](https://www.sqlite.org/pragma.html#pragma_application_id).
    static let applicationID = 0x4466_4462

    /// The steps from an empty file to the schema of this program.
    ///
    /// A database at version N has had the first N of them; a step that was released is never
    /// changed.
    static let migrations = [
        """
        CREATE TABLE state (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            uuid BLOB NOT NULL,
            generation INTEGER NOT NULL, -- the last change that is in here, with all before it
            ceiling INTEGER NOT NULL     -- no number above it was ever given
        ) STRICT;
        CREATE TABLE domains (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            host TEXT NOT NULL,          -- empty: the layer for every host
            key_count INTEGER NOT NULL,  -- removed keys are not counted
            key_bytes INTEGER NOT NULL,  -- the length of their names together
            UNIQUE (name, host)
        ) STRICT;
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY,
            domain INTEGER NOT NULL REFERENCES domains (id),
            key TEXT NOT NULL,
            generation INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            archive BLOB,                -- NULL: the key was removed
            UNIQUE (domain, key)
        ) STRICT;
        """,
        """
        -- The record of changes is whole from this generation on.
        ALTER TABLE state ADD COLUMN record_start INTEGER NOT NULL DEFAULT 1;
        UPDATE state SET record_start = generation;
        -- 0: it never had one.
        ALTER TABLE domains ADD COLUMN last_change INTEGER NOT NULL DEFAULT 0;
        UPDATE domains SET last_change = coalesce(
            (SELECT max(generation) FROM entries WHERE entries.domain = domains.id), 0);
        -- Removals up to this generation are forgotten.
        ALTER TABLE domains ADD COLUMN horizon INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE tokens (
            id INTEGER PRIMARY KEY,      -- later ones have higher numbers
            domain INTEGER NOT NULL REFERENCES domains (id),
            token TEXT NOT NULL,
            generation INTEGER NOT NULL, -- what was replied to the transaction
            UNIQUE (domain, token)
        ) STRICT;
        \(indexes)
        """,
        """
        -- The repairs from a damaged database that this one came from.
        CREATE TABLE rescues (
            id INTEGER PRIMARY KEY,
            time INTEGER NOT NULL,       -- in seconds since 1970
            report TEXT NOT NULL
        ) STRICT;
        """,
        """
        -- The names that machines had when they last wrote layers of their own.
        CREATE TABLE hosts (
            id TEXT PRIMARY KEY NOT NULL, -- as in domains.host
            name TEXT NOT NULL
        ) STRICT;
        """,
        """
        -- Empty domains may have no row: of these, changes up to this generation are forgotten.
        ALTER TABLE state ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;
        """,
        """
        -- The length of the archives together. It is a text, because rows are recognized by the types
        -- of their columns, and `horizon` before it is a number.
        ALTER TABLE domains ADD COLUMN value_bytes TEXT NOT NULL DEFAULT '0';
        UPDATE domains SET value_bytes = coalesce(
            (SELECT sum(length(archive)) FROM entries WHERE entries.domain = domains.id), 0);
        """,
        """
        -- When changes were written to disk: those up to a generation, and after that of the row
        -- before it.
        CREATE TABLE times (
            generation INTEGER PRIMARY KEY,
            time INTEGER NOT NULL        -- in seconds since 1970; 0: unknown
        ) STRICT;
        INSERT INTO times SELECT generation, 0 FROM state;
        """,
        """
        -- The record of changes is whole from these generations on, too: ranges such as 1-17.
        ALTER TABLE state ADD COLUMN eras TEXT NOT NULL DEFAULT '';
        """,
        """
        -- From here on the journal has notes for the history, which earlier versions cannot read. So they
        -- must refuse the store.
        SELECT 1;
        """,
    ]

    /// What makes changes, removals, tokens and values be found without a search.
    ///
    /// An index changes what a read costs, never what it gives. So a database may lack any of these,
    /// and is given it when it is opened; if they are there, that writes nothing.
    ///
    /// The rows of a domain that are values (`present`) stand in the order of the rows: with the keys
    /// in it the index would cost every change far more, and every read a search for each row.
    static let indexes = namedIndexes.map { "CREATE INDEX IF NOT EXISTS \($0.name) ON \($0.rows);" }
        .joined(separator: "\n")

    /// What removes all of ``indexes``.
    static let dropIndexes = namedIndexes.map { "DROP INDEX \($0.name);" }.joined(separator: "\n")

    /// The names of the indexes, and what each of them is on.
    private static let namedIndexes = [
        (name: "entries_by_generation", rows: "entries (domain, generation)"),
        (name: "removals", rows: "entries (domain, generation) WHERE archive IS NULL"),
        (name: "tokens_by_age", rows: "tokens (domain, id)"),
        (name: "present", rows: "entries (domain) WHERE archive IS NOT NULL"),
    ]

    /// No version will be above it: what claims to be is damaged.
    static let lastVersion = 10_000

    /// The first version in which domains have the sizes of their values.
    static let withValueBytes = 6

    /// The version of the schema that this program writes.
    static var version: Int { migrations.count }
}

/// What a database says of itself: whose it is, and of which schema.
struct StoreHeader {
    /// Whether nothing was ever made in it.
    let isEmpty: Bool
    let applicationID: Int
    let version: Int

    /// Asks an open database.
    init(of connection: Connection) throws(SQLiteError) {
        isEmpty = try connection.number("schema_version") == 0
        applicationID = try connection.number("application_id")
        version = try connection.number("user_version")
    }

    /// Reads the file of a database that another process may have open; nil if there is none.
    ///
    /// Contents of the write-ahead log are not seen.
    ///
    /// See [the database header](https://www.sqlite.org/fileformat2.html#the_database_header).
    ///
    /// - Throws: `.cannotOpen` if it cannot be opened for writing, `.damagedDatabase` if it
    ///   is no database at all.
    init?(inFile path: String) throws(StorageError) {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try File.regular(path, O_RDWR).read(StoreHeader.size, at: 0)
        } catch {
            if error.number == ENOENT { return nil }
            throw .cannotOpen(path, error)
        }
        // A file without a byte is a database that is to be made.
        if bytes.isEmpty { return nil }
        guard bytes.count == StoreHeader.size, bytes.starts(with: StoreHeader.magic) else {
            throw .noDatabase(path)
        }
        isEmpty = StoreHeader.number(in: bytes, at: 40) == 0
        version = StoreHeader.number(in: bytes, at: 60)
        applicationID = StoreHeader.number(in: bytes, at: 68)
    }

    /// Whether this program has made it, or is to.
    var isOurs: Bool {
        isEmpty
            ? version == 0
            : applicationID == Schema.applicationID && (1...Schema.lastVersion).contains(version)
    }

    /// The number of migrations that the database at a path has had; 0 for an empty one.
    ///
    /// - Throws: `.notOurDatabase` or `.newerSchema` if it is not ours to touch.
    func migrations(at path: String) throws(StorageError) -> Int {
        guard isOurs else { throw .notOurDatabase(path) }
        guard version <= Schema.version else { throw .newerSchema(path, version: version) }
        return version
    }

    private static let size = 100
    private static let magic = Array("SQLite format 3\0".utf8)

    /// A number of 32 bits with a sign, the highest byte first.
    private static func number(in header: [UInt8], at offset: Int) -> Int {
        Int(Int32(bitPattern: header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }))
    }
}

extension Connection {
    /// A pragma whose answer is a number.
    fileprivate func number(_ pragma: String) throws(SQLiteError) -> Int {
        try self.pragma(pragma).flatMap { Int($0) } ?? 0
    }
}
