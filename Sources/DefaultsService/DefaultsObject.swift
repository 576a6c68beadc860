import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms
import Logging

/// The object `/org/defaultsd/Defaults1`: answers the contract from one database.
///
/// Invariants:
/// 1. Everything here runs on the bus loop's thread; only ``DurableWriter`` and ``LongCalls`` work
///    elsewhere, and what goes there and comes back is a value or is used by one thread at a time.
/// 2. A change is journalled before it is seen, seen before its reply is sent, and replied to
///    before its signal goes out.
/// 3. ``DiskKeeper`` says what is done to the store: one work at a time, and none after the end. The
///    service does not end during one.
/// 4. A caller that waits for the disk is answered once: when every change acknowledged before its call
///    is on disk, or when the disk has refused them.
/// 5. No archive and no part of one reaches a log line, a signal or an error message.
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

    /// What is done to the store, and who waits for it.
    var disk = DiskKeeper()
    /// Goes off when the next flush is due.
    var flushTimer: EventLoop.Timer?
    /// Goes off when memory that is free is to be given back.
    var tidyTimer: EventLoop.Timer?
    /// The threads for calls that would hold the loop for long.
    var longCalls = LongCalls()
    /// Goes off when the end has waited for the bus long enough.
    var patienceTimer: EventLoop.Timer?
    var announcements = Announcements()
    /// What came from the crash journal, until it is announced; nothing if there is no bus.
    var recovered: [PendingNames]
    var statistics = Statistics()
    /// Which callers made the last changes.
    var writers = WriterLog()
    /// Backups that are being made, or that wait.
    var upkeep = Upkeep()
    /// The layers that are made of files.
    var layers: FileLayers
    /// Why changes are not written to disk, or are refused.
    var trouble = StorageTrouble() {
        didSet { if trouble != oldValue { announceTrouble() } }
    }

    /// A service over an open database; it answers no calls before ``start()``.
    ///
    /// - Parameter abandon: Called on the loop if the database can no longer be used. The crash journal
    ///   keeps the acknowledged changes for the next process.
    init(
        connection: Connection, database: sending Database, writer: DurableWriter,
        layers: FileLayers, logger: Logger, abandon: @escaping @Sendable (any Error) -> Void
    ) {
        self.abandon = abandon
        self.connection = connection
        // A direct peer, which has no bus, gets no announcements of these changes.
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

extension DefaultsObject {
    /// The contract's declarations, each with the method here that answers it.
    func interface() -> Interface {
        Interface(
            Contract.interface,
            methods: readingMethods + lookupMethods + changingMethods,
            signals: [ChangedSignal.declaration],
            properties: [
                property(Contract.version) { _ in .string(Version.current) },
                property(Contract.currentGeneration) { .uint64($0.database.generation.rawValue) },
                property(Contract.durableGeneration) {
                    .uint64($0.database.durableGeneration.rawValue)
                },
                property(Contract.pendingChanges) {
                    .uint32(UInt32(clamping: $0.database.pendingChanges))
                },
                property(Contract.storageError) { .string($0.trouble.sentence) },
                property(Contract.databasePath) { .string($0.database.path) },
                property(Contract.maximumValueSize) { _ in
                    .uint64(UInt64(ContractLimits.maximumValueSize))
                },
            ])
    }

    /// The connection calls handlers on the loop's thread, which is where this actor lives.
    func method(_ call: any Call.Type, answeredBy answer: @escaping Answer) -> Method {
        let declaration = call.method
        return Method(declaration.name, in: declaration.input, out: declaration.output) { call in
            try self.assumeIsolated { try $0.carryOut(call, by: answer) }
        }
    }

    private func property(
        _ declaration: PropertyDeclaration,
        read: @escaping @Sendable (isolated DefaultsObject) -> Value
    ) -> Property {
        Property(
            declaration.name, declaration.type, emitsChanged: declaration.emitsChanged
        ) {
            self.assumeIsolated(read)
        }
    }
}
