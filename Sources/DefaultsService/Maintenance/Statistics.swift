import DBus
import DefaultsStorage

/// What the service has done since its start.
struct Statistics {
    private let start = ContinuousClock.now
    var changes: UInt64 = 0
    var flushes: UInt64 = 0
    var failedFlushes: UInt64 = 0

    /// All of it by name, with what the database holds now.
    func facts(of database: Database, backups: [Backup]) -> [Value.Entry] {
        let facts: [(String, UInt64)] = [
            ("Uptime", UInt64(clamping: start.duration(to: .now).components.seconds)),
            ("Changes", changes), ("Flushes", flushes), ("FailedFlushes", failedFlushes),
            ("PendingBytes", UInt64(clamping: database.pendingBytes)),
            ("JournalBytes", UInt64(clamping: database.journalSize)),
            ("DatabaseBytes", UInt64(clamping: database.storeSize)),
            ("NewestBackup", backups.first?.date ?? 0),
        ]
        let count = Value.uint32(UInt32(clamping: backups.count))
        return facts.map { Value.Entry(.string($0.0), .variant(.uint64($0.1))) }
            + [Value.Entry(.string("Backups"), .variant(count))]
    }
}
