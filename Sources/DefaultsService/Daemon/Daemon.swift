import DBus
import DefaultsFiles
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
package import Logging

/// The life of the process: from opening the database to the last flush.
///
/// Two threads do nearly all of it, the loop's and the writer's; calls that take long have two more,
/// which start at the first of them. Tasks are made with the loop as their
/// preferred executor: without it Swift would start a pool of threads for the steps between.
package actor Daemon {
    /// The loop, which the bus shares.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }

    nonisolated let loop: EventLoop
    let connection: Connection
    let callers: DaemonOptions.Callers
    let places: LayerPlaces
    let logger: Logger
    /// Who keeps the page of counters when the process dies; nil if it is a file.
    let pageKeeper: PageKeeper?
    /// What is served, once the database is open.
    var object: DefaultsObject?
    /// Whether calls are carried out.
    private var isServing = false
    /// Whether another daemon has the name, and waits for our end.
    private var isReplaced = false
    var isEnding = false
    var status = ExitStatus.success

    /// The version of the daemon.
    package static let version = Version.current

    /// Makes the process safe to open files in; to be called before all else.
    package static func prepareProcess() {
        StandardDescriptors.fill()
    }

    /// Serves until a signal comes or the bus goes away, and gives the status to exit with.
    ///
    /// To be called once, on the main thread, before any other thread exists.
    ///
    /// - Parameters:
    ///   - options: How to serve.
    ///   - logger: Where the daemon says what it does.
    package static func run(_ options: DaemonOptions, logger: Logger) -> ExitStatus {
        Memory.returnLargeBlocks()
        let pageKeeper = makePageKeeper(for: options)
        // The page must not be believed when nobody shows changes there.
        defer { pageKeeper?.voidInherited() }
        do {
            let location = try DatabaseLocation.fromEnvironment(
                directory: options.databaseDirectory)
            let signals = try ProcessSignals()
            let loop = try EventLoop()
            let connection = try Connection(to: options.callers, on: loop)
            let daemon = Daemon(connection, options, pageKeeper, logger: logger)
            signals.deliver(on: loop) { received in
                daemon.assumeIsolated { $0.receive(received) }
            }
            daemon.assumeIsolated { $0.begin(at: location) }
            loop.run()
            return daemon.assumeIsolated { $0.status }
        } catch {
            logger.critical("\(error)")
            ServiceManager.notifyStopping(because: "\(error)")
            return ExitStatus(of: error)
        }
    }

    private init(
        _ connection: Connection, _ options: DaemonOptions, _ pageKeeper: PageKeeper?,
        logger: Logger
    ) {
        self.pageKeeper = pageKeeper
        self.connection = connection
        callers = options.callers
        places = options.places
        self.logger = logger
        loop = connection.loop
    }

    /// The service manager keeps the page if it can, and if this is the service that it has started: a
    /// daemon for one program has that program's environment.
    private static func makePageKeeper(for options: DaemonOptions) -> PageKeeper? {
        let name = "counters"
        guard options.callers.areOnBus, ServiceManager.keepsDescriptors else { return nil }
        return PageKeeper(inheriting: ServiceManager.takeDescriptor(named: name)) {
            ServiceManager.keep($0, named: name)
        }
    }
}

/// From the first look at the database to the first call.
extension Daemon {
    /// How long a new daemon waits for the lock of one that is about to end, and how often it looks.
    private static let longestWait = Duration.seconds(5)
    private static let waitStep = Duration.milliseconds(20)
    /// How long one that takes over waits for the end of the one before it, which may have a slow
    /// disk: as long as systemd by default gives a service to stop.
    private static let longestHandOver = Duration.seconds(90)

    func begin(at location: DatabaseLocation) {
        connection.assumeIsolated { connection in
            // A peer calls as soon as it is connected, and whoever sees a name as soon as it is seen.
            connection.holdCalls()
            // Nor is one of whom nobody has asked who it is ever known.
            connection.admitOwnUser(logger: self.logger)
            connection.onDisconnect { self.assumeIsolated { $0.callersHaveGone() } }
            connection.onNameLost(Contract.busName) { self.assumeIsolated { $0.wasReplaced() } }
        }
        Task(executorPreference: loop) {
            do {
                try await self.start(at: location)
            } catch {
                // Once the end has begun, it is what made the beginning fail.
                if await !self.isEnding { self.logger.critical("\(error)") }
                await self.end(with: ExitStatus(of: error), because: "\(error)")
            }
        }
    }

    /// Takes its place: the database first and the name last, so that nobody waits for a daemon that
    /// cannot serve, or, from one that serves, the name first, after which that one gives up the
    /// database.
    ///
    /// Calls wait meanwhile. Those that came are answered, too, if yet another daemon has taken
    /// the name by then.
    private func start(at location: DatabaseLocation) async throws {
        if callers == .busReplacingOther {
            // Nobody is to end for a daemon that cannot serve.
            try location.checkUsability()
            try await HandOver(to: connection).takeOver(within: Self.longestHandOver)
        }
        let database = try await openDatabase(at: location)
        // A signal that came meanwhile has ended us.
        guard !isEnding else { return database.close() }
        let writer = try database.makeWriter()
        let object = DefaultsObject(
            connection: connection, database: database, writer: writer,
            layers: FileLayers(in: places, problemLevel: callers.areOnBus ? .warning : .debug),
            logger: logger, abandon: { error in self.assumeIsolated { $0.abandon(error) } })
        self.object = object
        await object.start()
        if callers == .bus { try await connection.takeName() }
        if callers.areOnBus { await object.announceRecovered() }
        await connection.releaseCalls()
        isServing = true
        guard !isReplaced else { return await end(with: .success) }
        let summary = await object.summary
        logger.info("\(summary)")
        ServiceManager.notifyReady(status: summary)
        if callers.areOnBus { follow(SuspendWatch(for: object, logger: logger)) }
    }

    /// Nobody waits for it: it goes on beside all that follows.
    private func follow(_ suspend: SuspendWatch) {
        Task(executorPreference: loop) { await suspend.follow() }
    }

    /// Opens the database, waiting for a daemon before us that is about to give it up.
    ///
    /// On a bus that is one which has given up the name a moment earlier.
    private func openDatabase(
        at location: DatabaseLocation
    ) async throws -> sending Database {
        let deadline = ContinuousClock.now + Self.longestWait
        while true {
            do throws(StorageError) {
                return try Database(at: location, pageKeeper: pageKeeper) { [logger] notice in
                    if notice.severity == .progress { ServiceManager.notifyProgress("\(notice)") }
                    logger.log(level: notice.severity.logLevel, "\(notice)")
                }
            } catch {
                guard error.code == .inUse, ContinuousClock.now < deadline, !isEnding,
                    try await mayBecomeFree
                else { throw error }
                await pause(for: Self.waitStep)
            }
        }
    }

    /// Whether a database that is in use is on its way to be given up: nobody serves it on the bus.
    private var mayBecomeFree: Bool {
        get async throws {
            guard callers == .bus else { return true }
            return try await !connection.hasOwner(of: Contract.busName)
        }
    }

    private func pause(for duration: Duration) async {
        await withCheckedContinuation { continuation in
            loop.schedule(after: duration) { continuation.resume() }
        }
    }
}

extension Notice.Severity {
    fileprivate var logLevel: Logger.Level {
        switch self {
        case .progress, .information: .info
        case .warning: .warning
        }
    }
}

/// From what ends the process to the last flush.
extension Daemon {
    func receive(_ signal: ProcessSignals.Received) {
        switch signal {
        case .refresh:
            object?.assumeIsolated { $0.demandFlush() }
            Task(executorPreference: loop) { await self.object?.readLayers() }
        case .stop: Task(executorPreference: loop) { await self.end(with: .success) }
        }
    }

    private func callersHaveGone() {
        guard !isEnding else { return }
        var status = ExitStatus.success
        switch callers {
        case .bus, .busReplacingOther:
            logger.notice("The bus has gone; writing the last changes to disk.")
        case .peer where connection.assumeIsolated { $0.isAuthenticated }:
            logger.debug("The peer has gone.")
        case .peer:
            logger.critical("\(LifeCycleError.notAPeer)")
            status = ExitStatus(of: LifeCycleError.notAPeer)
        }
        Task(executorPreference: loop) { [status] in await self.end(with: status) }
    }

    /// Another daemon has the name: what has come is answered, and that one waits for our end.
    private func wasReplaced() {
        guard !isEnding else { return }
        logger.notice("Another daemon takes over; answering what came before it.")
        isReplaced = true
        if isServing { Task(executorPreference: loop) { await self.end(with: .success) } }
    }

    /// Ends without the database, which cannot be used any more.
    func abandon(_ error: any Error) {
        logger.critical("\(error) The crash journal keeps the changes for the next start.")
        ServiceManager.notifyStopping(because: "\(error)")
        isEnding = true
        status = ExitStatus(of: error)
        loop.stop()
    }

    func end(with status: ExitStatus, because reason: String? = nil) async {
        guard !isEnding else { return }
        isEnding = true
        self.status = status
        ServiceManager.notifyStopping(because: reason)
        do {
            try await object?.stop()
        } catch {
            report(unwritten: error)
        }
        loop.stop()
    }

    /// Says why the disk lacks changes, which the crash journal keeps.
    ///
    /// For a peer that has changed nothing these are changes of programs before it, so its own
    /// command is done.
    private func report(unwritten error: any Error) {
        let sentence = "\(error) The crash journal keeps the changes for the next start."
        let failure = ExitStatus(of: error)
        let changes = object?.assumeIsolated { $0.statistics.changes } ?? 0
        if case .peer = callers, failure == .inputOutput, changes == 0 {
            return logger.warning("\(sentence)")
        }
        logger.error("\(sentence)")
        status = failure
    }
}
