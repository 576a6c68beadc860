public import DefaultsModel

/// Which backups are kept, and when the next is due.
///
/// Invariants:
/// 1. Of each kind the newest seven are kept, and the one that was just made is among them.
/// 2. A backup is removed only when a newer one of its kind is in place.
/// 3. Nothing depends on the clock alone, which may be set back or forward by years.
public struct BackupRotation: Sendable {
    /// How many of each kind are kept.
    static let kept = 7
    /// How far apart daily ones are, in seconds.
    static let day: UInt64 = 24 * 60 * 60

    private let backups: [Backup]

    /// - Parameter backups: All that there are.
    public init(_ backups: [Backup]) {
        self.backups = backups
    }

    /// Whether it is time for a daily backup by the clock of now.
    ///
    /// - Parameter generation: The last change that is on disk.
    public func isDailyDue(generation: Generation) -> Bool {
        isDailyDue(at: Timestamp.now, generation: generation)
    }

    /// Whether it is time for a daily backup: there is a change that no backup has, and the newest
    /// daily one is a day away, before or after now (3).
    ///
    /// - Parameters:
    ///   - date: Now, in seconds since 1970.
    ///   - generation: The last change that is on disk.
    func isDailyDue(at date: UInt64, generation: Generation) -> Bool {
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
