import DBus
import DefaultsCore
import DefaultsDconf
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import Logging

/// The service on the bus: the object `/org/defaultsd/Defaults1` and the doors, with one database.
///
/// It is the isolation of everything that runs on the bus loop, and alone starts tasks there. What it is
/// made of are plain classes: ``Settings`` has the settings and their rules, and ``BusFace`` is what programs
/// see of them.
package actor Service {
    /// The loop of the connection.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        connection.loop.asUnownedSerialExecutor()
    }

    nonisolated let connection: Connection
    let face: BusFace
    let settings: Settings
    /// Fires when the end has waited for the bus long enough.
    private let patience: Alarm

    /// How long each step of the end waits for the bus.
    private static let longestStep = Duration.seconds(5)

    /// The same answer as that of the bus for a service that has gone: nothing was done.
    static let hasEnded = DBusError(
        .serviceUnknown,
        "This daemon has ended, and the call was not carried out. Call \(Contract.busName) again: "
            + "another daemon answers, or the bus starts one.")

    /// Makes a service for an open database.
    ///
    /// It answers no calls before ``start()``.
    ///
    /// - Parameter abandon: Called on the loop if the database can no longer be used. The crash
    ///   journal keeps the acknowledged changes for the next process.
    init(
        on connection: Connection, with database: sending Database, _ writer: DurableWriter,
        layers: sending FileLayers, doors: [any Door.Type] = [], beside location: DatabaseLocation,
        examiner: ProcessExaminer, logger: Logger,
        abandon: @escaping @Sendable (any Error) -> Void
    ) {
        self.connection = connection
        let tasks = Tasks(on: connection.loop)
        let settings = Settings(
            database, writer, layers: layers, typedDomains: DconfDomains.record,
            on: connection.loop, logger: logger
        ) { work in
            tasks.start { await $0.settings.carryOut(work) }
        }
        self.settings = settings
        face = BusFace(
            on: connection, settings, tasks: tasks, examiner: examiner, logger: logger,
            abandon: abandon)
        patience = Alarm(on: connection.loop)
        face.open(doors, beside: location)
        tasks.begin(in: self)
    }

    /// Begins to answer calls.
    package func start() async { await face.begin() }

    /// Reads the files of administrators and vendors again.
    func readLayers() async { await settings.readLayers() }

    /// Flushes, and waits until everything is on disk, the disk has refused it, or the time is over.
    func durability(within limit: Duration) async -> DiskKeeper.Outcome? {
        await settings.store.durability(within: limit)
    }

    /// Announces the changes that were found in the crash journal.
    func announce(recovered: [PendingNames]) { face.announce(recovered: recovered) }

    /// The state of the service in one line.
    var status: String { face.status }

    /// The number of the newest change.
    var generation: Generation { settings.store.generation }

    // MARK: The end

    /// Ends the service.
    ///
    /// Everything that was acknowledged is on disk after that, and every call that has reached the
    /// service has an answer.
    ///
    /// The disk comes first. So little is left to do when the name is released and the bus begins
    /// to queue calls for the next daemon. Then the calls that came before are answered. Their
    /// changes are written when no more calls are carried out, and then the database lock is
    /// released. The bus connection is closed last, because the next daemon waits for that.
    ///
    /// - Throws: ``StorageError`` if the disk refuses. The crash journal keeps the changes.
    package func stop() async throws {
        await settings.prepareEnd()
        // Programs that follow the name's owner no longer hear this daemon when the name is gone.
        await patiently { _ in await face.signalsSent() }
        // If the bus is gone, or there is none, there is no name to release.
        await patiently { _ in _ = try? await face.releaseNames() }
        await patiently { await $0.callsCarriedOut() }
        // Meanwhile, callers that use our unique bus name, as GLib's proxies do, learn of the
        // change.
        _ = await settings.store.durability()
        await patiently { _ in await face.signalsSent() }
        await patiently { _ in for door in face.doors { await door.published() } }
        await connection.refuseCalls(with: Self.hasEnded)
        // If the bus is gone, nothing above has waited for the snapshots.
        let outcome = await settings.rest()
        face.end()
        await settings.close(with: outcome)
        await patiently { await $0.flush() }
        await connection.close()
        _ = try outcome.get()
    }

    /// Does a step that depends on the bus.
    ///
    /// It does not wait for a bus that hangs. It does wait for the disk.
    private func patiently(_ step: (Connection) async -> Void) async {
        limitPatience()
        await step(connection)
        patience.stop()
    }

    private func limitPatience() {
        patience.set(after: Self.longestStep) { [weak self] in
            self?.assumeIsolated { service in
                if service.settings.isWorking { return service.limitPatience() }
                service.connection.assumeIsolated { $0.close() }
                service.face.signals.giveUp()
            }
        }
    }
}

/// Starts tasks in the isolation of the service.
///
/// Who has made the service keeps it until it has ended. Otherwise work that has begun would never end.
final class Tasks {
    private let loop: EventLoop
    private weak var service: Service?

    init(on loop: EventLoop) {
        self.loop = loop
    }

    func begin(in service: Service) { self.service = service }

    /// Starts a task on the loop; none after the service has gone.
    func start(_ body: @escaping @Sendable (isolated Service) async -> Void) {
        guard let service else { return }
        Task(executorPreference: loop) { await body(service) }
    }
}
