/// The tables of the history's file.
enum HistorySchema {
    /// The version that this program writes.
    ///
    /// A file of version 1 is converted. One of a later version is kept beside a new one.
    static let version = 2

    /// What makes version 2 of a file of version 1, which had more than is needed to join changes.
    static let conversionOfFirstVersion = """
        ALTER TABLE actions DROP COLUMN line;
        ALTER TABLE actions DROP COLUMN started;
        ALTER TABLE actions DROP COLUMN paused;
        """

    static let tables = """
        CREATE TABLE meta (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            uuid BLOB NOT NULL,          -- of the database that it belongs to
            noted INTEGER NOT NULL,      -- all changes up to this generation were looked at
            number INTEGER NOT NULL,     -- of the next action
            known_from INTEGER NOT NULL, -- no change after this generation is missing
            known_since INTEGER NOT NULL,-- the time of that, in seconds since 1970
            day INTEGER NOT NULL,        -- the day of the last action, in days since 1970
            days INTEGER NOT NULL        -- how many days it has seen
        ) STRICT;
        CREATE TABLE authors (
            id INTEGER PRIMARY KEY,
            program TEXT NOT NULL,
            application TEXT NOT NULL,
            machine TEXT NOT NULL,
            owner TEXT NOT NULL,
            UNIQUE (program, application, machine, owner)
        ) STRICT;
        CREATE TABLE actions (
            id INTEGER PRIMARY KEY,      -- the generation of its first change
            number INTEGER NOT NULL UNIQUE,
            last INTEGER NOT NULL,       -- the generation of its last change
            began INTEGER NOT NULL,      -- in seconds since 1970
            ended INTEGER NOT NULL,
            author INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            day INTEGER NOT NULL,        -- as meta.days when it began
            keys INTEGER NOT NULL,       -- how many keys it changed
            lost INTEGER NOT NULL,       -- whether its changes were lost in a power cut
            note TEXT NOT NULL
        ) STRICT;
        CREATE TABLE refs (
            action INTEGER NOT NULL,     -- an undo or redo
            ref INTEGER NOT NULL,        -- the action that it has taken back or done again
            PRIMARY KEY (action, ref)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX refs_by_ref ON refs (ref);
        CREATE TABLE domains (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            host TEXT NOT NULL,
            known_from INTEGER NOT NULL, -- as in meta
            bytes INTEGER NOT NULL,      -- the size of its rows
            UNIQUE (name, host)
        ) STRICT;
        CREATE TABLE rows (
            id INTEGER PRIMARY KEY,
            domain INTEGER NOT NULL,
            key TEXT NOT NULL,
            base INTEGER NOT NULL,       -- the key had `was` from here on
            first INTEGER NOT NULL,      -- until just before this, which is the action's first change of it
            last INTEGER NOT NULL,       -- the action's last change of it
            origin INTEGER,              -- the generation whose value it has brought back
            action INTEGER NOT NULL,
            void INTEGER NOT NULL,       -- whether it has ended with the value that it began with
            size INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            was BLOB,                    -- NULL: the key had no value
            UNIQUE (domain, key, first)
        ) STRICT;
        CREATE INDEX rows_by_action ON rows (action);
        """
}
