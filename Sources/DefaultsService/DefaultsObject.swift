import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import Logging

/// The object `/org/defaultsd/Defaults1`: answers the contract from one database.
///
/// Invariants:
/// 1. Everything here runs on the bus loop's thread; only ``DurableWriter`` and ``LongCalls`` work
///    elsewhere, and what goes there and comes back is a value or is used by one thread at a time.
/// 2. A change is journalled before it is seen, seen before its reply is sent, and replied to
///    before its signal goes out.
/// 3. At most one flush is under way.
/// 4. Who waits for the disk is answered once, when every change acknowledged before the call is on
///    disk, or when the disk has refused them.
/// 5. The store is not made anew while a flush is under way, nor written while it is made anew; and
///    the service does not end during either. From ``lastOutcome`` on neither begins.
/// 6. No archive and no part of one reaches a log line, a signal or an error message.
package actor DefaultsObject {
    /// The loop of the connection.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        connection.loop.asUnownedSerialExecutor()
    }

    nonisolated let connection: Connection
    var database: Database
    var writer: DurableWriter
    let logger: Logger
    let abandon: @Sendable (any Error) -> Void

    /// When the next flush is due.
    var schedule = FlushSchedule()
    var flushTimer: EventLoop.Timer?
    /// Whether a change waits for the flush under way to make room for it, and all others with it.
    var isRoomAwaited = false
    /// Goes off when memory that is free is to be given back.
    var tidyTimer: EventLoop.Timer?
    /// The threads for calls that would hold the loop for long.
    var longCalls = LongCalls()
    /// Goes off when the end has waited for the bus long enough.
    var patienceTimer: EventLoop.Timer?
    var isFlushing = false
    var waiters: [DurabilityWaiter] = []
    /// What the disk has said at the end, after which database and writer are closed; nil before.
    var lastOutcome: Result<Generation, StorageError>?
    var announcements = Announcements()
    /// What came from the crash journal, until it is announced; nothing if there is no bus.
    var recovered: [PendingNames]
    var statistics = Statistics()
    /// Who has made the last changes.
    var writers = WriterLog()
    /// What is found to be damaged, and what is done about it.
    var mending = Mending()
    /// Backups that are made or wait to be.
    var upkeep = Upkeep()
    /// The layers that are made of files.
    var layers: FileLayers
    /// Why the last flush failed; nil while the disk takes them.
    var flushError: StorageError?
    /// Why changes are not written to disk, or not even taken.
    var trouble = StorageTrouble() {
        didSet { if trouble != oldValue { announceTrouble() } }
    }

    /// A service over an open database; it answers nobody before ``start()``.
    ///
    /// - Parameter abandon: Called on the loop where the database cannot be used any more. What is
    ///   acknowledged stands in the crash journal for the next process.
    init(
        connection: Connection, database: sending Database, writer: DurableWriter,
        layers: FileLayers, logger: Logger, abandon: @escaping @Sendable (any Error) -> Void
    ) {
        self.abandon = abandon
        self.connection = connection
        // A peer has no name on a bus, and is told of none of them.
        recovered = connection.uniqueName == nil ? [] : database.pendingNames
        self.database = database
        self.writer = writer
        self.layers = layers
        self.logger = logger
    }

    /// Begins to answer calls.
    package func start() async {
        await readLayers()
        await connection.export(
            [interface(), maintenanceInterface()], at: Contract.objectPath)
        if database.needsFlush { noteChange() }
        await tidyUpAfterStart()
    }

    /// This machine, which the suffix `@host` means, and the others that have names here.
    var hosts: HostNames { database.hosts }

    /// The state in one line, for the log and `systemctl --user status`.
    var summary: String {
        let pending = database.pendingChanges
        return "Serving \(database.path) at generation \(database.generation)"
            + (pending == 0
                ? "" : ", \(pending) \(pending == 1 ? "change" : "changes") not on disk yet")
    }
}
