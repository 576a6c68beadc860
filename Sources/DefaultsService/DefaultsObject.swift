import DBus
import DefaultsDconf
import DefaultsFiles
import DefaultsModel
import DefaultsPortal
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms
import DefaultsXfconf
import Logging

/// The object `/org/defaultsd/Defaults1`, which implements the contract with one database.
///
/// Invariants:
/// 1. Everything here runs on the thread of the bus loop. Only ``DurableWriter`` and ``Lanes`` use other threads. What passes between threads is a value, or is used by one thread at a
///    time.
/// 2. A change is written to the journal before readers see it, readers see it before the reply is
///    sent, and the reply is sent before the signal.
/// 3. ``DiskKeeper`` decides what is done to the store: one thing at a time, and nothing after the
///    end. The service does not end while something is in progress.
/// 4. A caller that waits for the disk gets one reply: when every change that was acknowledged
///    before its call is on disk, or when the disk has refused them.
/// 5. Neither an archive nor a part of one appears in a log line, a signal or an error message. The
///    signals of desktops' services that are served are the one exception: see `DesktopSignals`.
package actor DefaultsObject {
    /// The loop of the connection.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        connection.loop.asUnownedSerialExecutor()
    }

    nonisolated let connection: Connection
    private(set) var database: Database
    private(set) var writer: DurableWriter
    let logger: Logger
    /// Finds out who a process is.
    let examiner: ProcessExaminer
    let abandon: @Sendable (any Error) -> Void

    /// What is done to the store, and who waits for it.
    let disk = DiskKeeper()
    /// Fires when the next flush is due.
    let flushAlarm: Alarm
    let memory: Memory
    /// The threads for calls that would block the loop for long.
    let lanes = Lanes()
    /// Fires when the end has waited for the bus long enough.
    let patienceAlarm: Alarm
    let announcements = Announcements()
    /// Who gets signals on the bus.
    private(set) lazy var signals = makeSignals()
    /// The programs that are connected without a bus, and the domains that each follows.
    let followers = Followers()
    let statistics: Statistics
    /// The callers that made the last changes.
    let writers = WriterLog()
    /// What programs in a sandbox may use.
    let rights: Rights
    /// What programs have stored, and may store.
    let quotas = QuotaKeeper()
    /// Backups and other upkeep that is in progress or waits.
    let upkeep = Upkeep()
    /// The layers that are made from files.
    let layers: FileLayers
    /// When these files are read.
    let layerSchedule: LayerSchedule
    /// The services of desktops that are served, too.
    let desktops: [DesktopService]
    /// The changes whose signals of these services wait.
    var desktopChanges: [DesktopService: DesktopChanges] = [:]
    /// What programs that use libdconf see; nil if that service is not served.
    var dconf: DconfState?
    /// Why changes are not written to disk, or are refused.
    let trouble = TroubleKeeper()

    /// Makes a service for an open database.
    ///
    /// It answers no calls before ``start()``.
    ///
    /// - Parameter abandon: Called on the loop if the database can no longer be used. The crash
    ///   journal keeps the acknowledged changes for the next process.
    init(
        connection: Connection, database: sending Database, writer: DurableWriter,
        layers: sending FileLayers, desktops: [DesktopService] = [], dconf: DconfFile? = nil,
        examiner: ProcessExaminer,
        logger: Logger, abandon: @escaping @Sendable (any Error) -> Void
    ) {
        self.abandon = abandon
        self.connection = connection
        memory = Memory(on: connection.loop)
        flushAlarm = Alarm(on: connection.loop)
        patienceAlarm = Alarm(on: connection.loop)
        self.database = database
        self.writer = writer
        self.layers = layers
        layerSchedule = LayerSchedule(of: layers.places, on: connection.loop)
        self.desktops = desktops
        self.dconf = dconf.map { DconfState($0) }
        self.examiner = examiner
        self.logger = logger
        rights = Rights(logger: logger)
        statistics = Statistics(since: connection.loop.continuousNow)
    }

    /// The time by which everything here is due; see `EventLoop.now`.
    nonisolated var now: SuspendingClock.Instant { connection.loop.now }

    /// Begins to answer calls.
    package func start() async {
        trouble.tell = { [weak self] in self?.assumeIsolated { $0.tellTrouble() } }
        memory.forget = { [weak self] in self?.assumeIsolated { $0.forgetSchemas() } }
        layerSchedule.read = { [weak self] in
            guard let self else { return }
            Task(executorPreference: connection.loop) { await self.readLayers() }
        }
        await readLayers()
        await connection.export(
            [interface(), maintenanceInterface()], at: Contract.objectPath)
        for desktop in desktops {
            switch desktop {
            case .xfconf: await connection.export([xfconfInterface], at: Xfconf.objectPath)
            case .portal: await connection.export([portalInterface], at: Portal.objectPath)
            case .dconf:
                await connection.export([dconfInterface], at: Dconf.writer)
                await connection.export([dconfInformationInterface], at: Dconf.information)
            }
        }
        await startPublishing()
        if database.needsFlush { noteChange() }
        await tidyUpAfterStart()
    }

    /// Goes on with the store that a repair has made.
    func reopen(after repair: CompletedRepair) throws(StorageError) {
        database = try database.reopened(after: repair)
        writer = try database.makeWriter()
    }

    /// The number of the newest change.
    var generation: Generation { database.generation }

    /// This machine, which the suffix `@host` means, and the other machines that the database
    /// knows.
    var hosts: HostNames { database.hosts }
}

extension DefaultsObject {
    /// The declarations of the contract, each with the method here that answers it.
    func interface() -> Interface {
        Interface(
            Contract.interface,
            methods: readingMethods + lookupMethods + changingMethods,
            signals: [
                ChangedSignal.declaration, ChangedValuesSignal.declaration,
                EndingSignal.declaration,
            ],
            properties: [
                property(Contract.version) { _ in .string(Version.current) },
                property(Contract.currentGeneration) { .uint64($0.database.generation.rawValue) },
                property(Contract.durableGeneration) {
                    .uint64($0.database.durableGeneration.rawValue)
                },
                property(Contract.recordStart) { .uint64($0.database.view.recordStart.rawValue) },
                property(Contract.pendingChanges) {
                    .uint32(UInt32(clamping: $0.database.pendingChanges))
                },
                property(Contract.storageError) { .string($0.storageError) },
                property(Contract.databasePath) { .string($0.database.path) },
                property(Contract.busAddress) { object in
                    .string(object.connection.uniqueName == nil ? "" : Address.ofSessionBus)
                },
                property(Contract.maximumValueSize) { _ in
                    .uint64(UInt64(ContractLimits.maximumValueSize))
                },
            ])
    }

    /// The connection calls handlers on the loop's thread, which is this actor's executor.
    func method(_ declared: any Call.Type, answeredBy answer: @escaping Answer) -> Method {
        let declaration = declared.method
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
