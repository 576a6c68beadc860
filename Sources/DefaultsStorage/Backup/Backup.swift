package import DefaultsModel

/// A copy of the whole database, made and verified while it was in use: a SQLite database by
/// itself.
///
/// Everything that is known of it is in its name, such as `2026-11-21T194000Z-1234-daily`.
package struct Backup: Hashable, Sendable {
    /// What a backup was made for.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
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
    package let name: String
    /// When it was begun, in seconds since 1970 by the clock of then.
    package let date: UInt64
    /// The last change that is in it, with all before it.
    package let generation: Generation
    /// What it was made for.
    package let kind: Kind
    /// The size of its file in bytes.
    package let size: Int
    /// Its file.
    let path: String
}

extension Backup: Comparable {
    /// Orders by age, the oldest first: by generation, as clocks are set back, and then by date.
    package static func < (older: Backup, newer: Backup) -> Bool {
        (older.generation, older.date, older.name) < (newer.generation, newer.date, newer.name)
    }
}

/// The name of a backup's file: `<date and time in UTC>-<generation>-<kind>.db`.
///
/// ```swift
/// BackupName("2026-11-21T194000Z-1234-daily.db")?.generation.rawValue  // 1234
/// ```
struct BackupName: Equatable, CustomStringConvertible {
    static let suffix = ".db"

    let date: UInt64
    let generation: Generation
    let kind: Backup.Kind

    init(date: UInt64, generation: Generation, kind: Backup.Kind) {
        self.date = date
        self.generation = generation
        self.kind = kind
    }

    /// Reads the name of a file; nil if it is no backup's.
    init?(_ file: String) {
        guard file.hasSuffix(BackupName.suffix) else { return nil }
        let words = file.dropLast(BackupName.suffix.count).utf8.dropFirst(Timestamp.length)
            .split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard words.count == 3, words[0].isEmpty,
            let date = Timestamp.seconds(String(file.prefix(Timestamp.length))),
            let number = UInt64(String(words[1]) ?? ""),
            let generation = Generation(fromFile: number),
            let kind = Backup.Kind(rawValue: String(words[2]) ?? "")
        else { return nil }
        self.init(date: date, generation: generation, kind: kind)
        // What has two spellings would be two backups of one name.
        guard description + BackupName.suffix == file else { return nil }
    }

    /// Without the suffix.
    var description: String {
        "\(Timestamp.text(date))-\(generation)-\(kind.rawValue)"
    }
}

/// Which backups are kept, and when the next is due.
///
/// Invariants:
/// 1. Of each kind the newest seven are kept, and the one that was just made is among them.
/// 2. A backup is removed only when a newer one of its kind is in place.
/// 3. Nothing depends on the clock alone, which may be set back or forward by years.
package struct BackupRotation: Sendable {
    /// How many of each kind are kept.
    static let kept = 7
    /// How far apart daily ones are, in seconds.
    static let day: UInt64 = 24 * 60 * 60

    private let backups: [Backup]

    /// - Parameter backups: All that there are.
    package init(_ backups: [Backup]) {
        self.backups = backups
    }

    /// Whether it is time for a daily backup: there is a change that no backup has, and the newest
    /// daily one is a day away, before or after now (3).
    ///
    /// - Parameters:
    ///   - date: Now, in seconds since 1970.
    ///   - generation: The last change that is on disk.
    package func isDailyDue(at date: UInt64, generation: Generation) -> Bool {
        let past = backups.filter { $0.generation <= generation }
        guard past.max()?.generation != generation else { return false }
        guard let daily = past.filter({ $0.kind == .daily }).max() else { return true }
        let distance = max(date, daily.date) - min(date, daily.date)
        return distance >= BackupRotation.day
    }

    /// The backups that are to be removed now that another is in place.
    ///
    /// Generations only rise. So one that is above the new one is of another database that stood
    /// here before, and counts as older than all others.
    ///
    /// - Parameters:
    ///   - made: The new one, which may be among the backups.
    ///   - spared: One that is still needed.
    func surplus(after made: Backup, sparing spared: Backup? = nil) -> [Backup] {
        let others = backups.filter { $0.kind == made.kind && $0.name != made.name }
        let past = others.filter { $0.generation <= made.generation }.sorted(by: >)
        let foreign = others.filter { $0.generation > made.generation }.sorted(by: >)
        return (past + foreign).dropFirst(BackupRotation.kept - 1).filter { $0 != spared }
    }
}
