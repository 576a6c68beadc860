import DBus
import DefaultsStorage

/// What the service has done since its start.
struct Statistics {
    private let start = ContinuousClock.now
    /// Those that were carried out, also where that ended in a refusal.
    var calls: UInt64 = 0
    var changes: UInt64 = 0
    var flushes: UInt64 = 0
    var failedFlushes: UInt64 = 0
    /// How often the store was made anew.
    var rescues: UInt64 = 0

    /// All of it by name, with what the database holds now.
    func facts(of database: Database, backups: [Backup]) -> [Value.Entry] {
        let counts: [(String, UInt64)] = [
            ("Uptime", UInt64(clamping: start.duration(to: .now).components.seconds)),
            ("Calls", calls), ("Changes", changes), ("Flushes", flushes),
            ("FailedFlushes", failedFlushes),
            ("PendingBytes", UInt64(clamping: database.pendingBytes)),
            ("JournalBytes", UInt64(clamping: database.journalSize)),
            ("DatabaseBytes", UInt64(clamping: database.storeSize)),
            ("ReserveBytes", UInt64(clamping: database.reserveSize)),
            ("NewestBackup", backups.first?.date ?? 0),
            ("Rescues", rescues),
            ("LastRescueTime", UInt64(clamping: database.lastRescue?.time ?? 0)),
        ]
        let others: [(String, Value)] = [
            ("Backups", .uint32(UInt32(clamping: backups.count))),
            ("LastRescue", .string(database.lastRescue?.report ?? "")),
            ("FileSystem", .string(database.fileSystem.name)),
            ("IsNetworkFileSystem", .boolean(database.fileSystem.isNetwork)),
        ]
        return (counts.map { ($0.0, .uint64($0.1)) } + others).map { name, value in
            Value.Entry(.string(name), .variant(value))
        }
    }
}
