import DBus
import DefaultsProtocol
import DefaultsStorage
import SystemCalls

/// What the service has done since its start.
final class Statistics {
    private let start: ContinuousClock.Instant
    /// Calls that were carried out, including those that were refused.
    private var calls: UInt64 = 0
    private(set) var changes: UInt64 = 0
    private var flushes: UInt64 = 0
    private var failedFlushes: UInt64 = 0
    /// How often the store was repaired.
    private var repairs: UInt64 = 0
    /// When the last flush has ended, in seconds since 1970; nil before the first.
    private(set) var lastFlush: Int?

    init(since start: ContinuousClock.Instant) {
        self.start = start
    }

    func noteCall() { calls += 1 }

    /// Notes that a call was postponed: it is counted when it is repeated.
    func notePostponement() { calls -= 1 }

    func noteChange() { changes += 1 }

    /// - Parameter time: In seconds since 1970.
    func noteFlush(at time: Int) {
        flushes += 1
        lastFlush = time
    }

    func noteFailedFlush() { failedFlushes += 1 }

    func noteRepair() { repairs += 1 }

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
