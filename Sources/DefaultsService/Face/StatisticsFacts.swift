import DBus
import DefaultsCore
import DefaultsProtocol
import DefaultsStorage
import SystemCalls

extension Statistics {
    /// All facts by name, with what the database has now.
    ///
    /// - Parameter waitingSignals: The signals that wait for the bus.
    func facts(
        of database: Database, backups: [Backup], waitingSignals: Int,
        at now: ContinuousClock.Instant
    ) -> [(Contract.GetStatistics.Fact, Value)] {
        let counts: [(Contract.GetStatistics.Fact, UInt64)] = [
            (.uptime, UInt64(clamping: start.duration(to: now).components.seconds)),
            (.calls, calls), (.changes, changes), (.flushes, flushes),
            (.failedFlushes, failedFlushes),
            (.pendingBytes, UInt64(clamping: database.pendingBytes)),
            (.waitingSignals, UInt64(waitingSignals)),
            (.journalBytes, UInt64(clamping: database.journalSize)),
            (.databaseBytes, UInt64(clamping: database.storeSize)),
            (.reserveBytes, UInt64(clamping: database.reserveSize)),
            (.newestBackup, backups.first?.date ?? 0),
            (.repairs, repairs),
            (.lastRepairTime, UInt64(clamping: database.lastRepair?.time ?? 0)),
        ]
        let others: [(Contract.GetStatistics.Fact, Value)] = [
            (.backups, .uint32(UInt32(clamping: backups.count))),
            (.lastRepair, .string(database.lastRepair?.report ?? "")),
            (.fileSystem, .string(database.fileSystem.name)),
            (.isNetworkFileSystem, .boolean(database.fileSystem.isNetwork)),
        ]
        return counts.map { ($0.0, .uint64($0.1)) } + others
    }
}
