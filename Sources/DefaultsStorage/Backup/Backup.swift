public import DefaultsModel

/// A copy of the whole database, made and verified while it was in use: a SQLite database by
/// itself.
///
/// Everything that is known of it is in its name, such as `2026-11-21T194000Z-1234-daily`.
public struct Backup: Hashable, Sendable {
    /// What a backup was made for.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Made by itself, once a day at most.
        case daily
        /// Made because the user asked for it, by the project's own tool.
        case manual
        /// Made because a program asked for it.
        case program
        /// Made before a restoration, which it can undo.
        case undo
    }

    /// The name of its file, without the suffix.
    public let name: String
    /// When it was begun, in seconds since 1970 by the clock of then.
    public let date: UInt64
    /// The last change that is in it, with all before it.
    public let generation: Generation
    /// What it was made for.
    public let kind: Kind
    /// The size of its file in bytes.
    public let size: Int
    /// Its file.
    let path: String
}

extension Backup: Comparable {
    /// Orders by age, the oldest first: by generation, as clocks are set back, and then by date.
    public static func < (older: Backup, newer: Backup) -> Bool {
        (older.generation, older.date, older.name) < (newer.generation, newer.date, newer.name)
    }
}
