import DBus
import DefaultsCore
import DefaultsFiles
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import Glibc
package import Logging
import ServiceLife
import SystemCalls

/// The life of the process, from opening the database to the last flush.
///
/// Two threads do nearly all of the work: the loop's and the writer's. Long calls have two more,
/// which start at the first such call. Tasks use the loop as their preferred executor. Otherwise
/// Swift would start a pool of threads for the steps between.
package actor Daemon {
    /// The loop, which the bus shares.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }

    nonisolated let loop: EventLoop
    let connection: Connection
    private let options: DaemonOptions
    let callers: DaemonOptions.Callers
    let places: LayerPlaces
    /// The doors that are opened.
    private(set) var doors: [any Door.Type]
    let logger: Logger
    /// What this process, which is confined, asks about others; nil if it could not be started.
    private let helper: HelperProcess?
    /// Finds out who a process is.
    private nonisolated let examiner: ProcessExaminer
    /// Keeps the page of counters when the process is killed; nil if the page is a file.
    let pageKeeper: PageKeeper?
    /// What is served, as soon as the database is open.
    var service: Service?
    /// What serves in its place if another daemon has the database.
    private var relay: DoorRelay?
    /// The way to the daemon without the bus.
    private let socket: DaemonSocket
    /// Whether calls are carried out.
    private var isServing = false
    /// Whether another daemon has taken the name, and waits until this one has ended.
    private var isReplaced = false
    var isEnding = false
    var status = ExitStatus.success

    /// The version of the daemon.
    package static let version = Version.current

    /// Makes sure that the process can open files safely.
    ///
    /// Call this before anything else.
    package static func prepareProcess() {
        StandardDescriptors.fill()
    }

    /// Serves until a signal comes or the bus goes away, and returns the exit status.
    ///
    /// Call this once, on the main thread, before any other thread exists.
    ///
    /// - Parameters:
    ///   - options: How to serve.
    ///   - logger: The daemon's log.
    package static func run(_ options: DaemonOptions, logger: Logger) -> ExitStatus {
        Memory.returnLargeBlocks()
        let helper: HelperProcess?
        do {
            helper = try startHelper(logger: logger)
        } catch {
            _ = fail(error, logger: logger)
            return .noHelper
        }
        let inherited = inheritedDescriptors(for: options)
        let pageKeeper = makePageKeeper(for: options, inheriting: inherited["counters"])
        let socket = inherited["direct"].map { FileDescriptor(owning: $0) }
        // Clients must not trust the page when no daemon updates it.
        defer { pageKeeper?.voidInherited() }
        do {
            try DescriptorLimit.raise(to: DaemonSocket.descriptors)
            let location = try DatabaseLocation.fromEnvironment(
                directory: options.databaseDirectory)
            return try serve(options, at: location) { connection in
                Daemon(
                    connection, options, pageKeeper, DaemonSocket(inheriting: socket), helper,
                    logger: logger)
            }
        } catch {
            return fail(error, logger: logger)
        }
    }

    /// Runs the loop: on it, the daemon connects to its callers and serves them.
    ///
    /// - Throws: ``LifeCycleError`` if there is no bus or no peer.
    private static func serve(
        _ options: DaemonOptions, at location: DatabaseLocation,
        by makeDaemon: @escaping (Connection) -> Daemon
    ) throws -> ExitStatus {
        let signals = try ProcessSignals()
        let loop = try EventLoop(isInOwnProcess: true)
        var outcome: Result<Daemon, any Error>?
        signals.deliver(on: loop) { received in
            switch (outcome, received) {
            case (.success(let daemon), _): daemon.assumeIsolated { $0.receive(received) }
            // Nothing was promised to anybody yet.
            case (_, .stop): loop.stop()
            case (_, .refresh): break
            }
        }
        Connection.open(to: options.callers, on: loop) { opened in
            outcome = opened.map(makeDaemon)
            switch outcome {
            case .success(let daemon): daemon.assumeIsolated { $0.begin(at: location) }
            case .failure, nil: loop.stop()
            }
        }
        loop.run()
        return try outcome?.get().assumeIsolated { $0.status } ?? .success
    }

    /// Reports why the daemon cannot serve, and gives the status to end with.
    private static func fail(_ error: any Error, logger: Logger) -> ExitStatus {
        logger.log(.ending, level: .critical, "\(error)")
        ServiceManager.notifyStopping(because: "\(error)")
        return ExitStatus(of: error)
    }

    private init(
        _ connection: Connection, _ options: DaemonOptions, _ pageKeeper: PageKeeper?,
        _ socket: DaemonSocket, _ helper: HelperProcess?, logger: Logger
    ) {
        self.socket = socket
        self.helper = helper
        examiner = ProcessExaminer(asking: helper?.examinations)
        self.pageKeeper = pageKeeper
        self.connection = connection
        self.options = options
        callers = options.callers
        doors = options.openDoors
        places = options.places(with: doors)
        self.logger = logger
        loop = connection.loop
    }

    /// Without a helper of its own, this process does what it can itself.
    ///
    /// - Throws: ``LifeCycleError`` if the environment names one outside, and it cannot be reached.
    private static func startHelper(logger: Logger) throws(LifeCycleError) -> HelperProcess? {
        if ServiceConfinement.isOff { return nil }
        do {
            return try HelperProcess.start()
        } catch {
            guard !Examiner.isOutside else { throw .noExaminer(error) }
            logger.log(
                .notConfined, level: .warning,
                "There is no second process, so the daemon is not confined: \(error)")
            return nil
        }
    }

    /// The descriptors that the service manager has passed to this process as its service.
    ///
    /// A daemon for one program inherits that program's environment, so the environment does not
    /// count there.
    private static func inheritedDescriptors(for options: DaemonOptions) -> [String: Int32] {
        guard options.callers.areOnBus else { return [:] }
        let kept: Set<String> = ServiceManager.keepsDescriptors ? ["counters"] : []
        return ServiceManager.takeDescriptors(named: kept.union(["direct"]))
    }

    /// The service manager keeps the page if it can, and if it has started this process as its
    /// service.
    private static func makePageKeeper(
        for options: DaemonOptions, inheriting page: Int32?
    ) -> PageKeeper? {
        guard options.callers.areOnBus, ServiceManager.keepsDescriptors else { return nil }
        return PageKeeper(inheriting: page) { ServiceManager.keep($0, named: "counters") }
    }
}

/// From opening the database to the first call.
extension Daemon {
    /// How long a new daemon waits for the lock of one that is ending, and how often it checks.
    private static let longestWait = Duration.seconds(5)
    private static let waitStep = Duration.milliseconds(20)
    /// How long a daemon that replaces another waits until that one has ended, possibly with a slow
    /// disk: as long as systemd's default for stopping a service.
    private static let longestHandOver = Duration.seconds(90)

    func begin(at location: DatabaseLocation) {
        connection.assumeIsolated { connection in
            // A peer calls as soon as it is connected, and other callers as soon as they see the
            // name.
            connection.holdCalls()
            // Callers must be identified from the first one on.
            connection.admitOwnUser(by: self.examiner, logger: self.logger)
            connection.onDisconnect { self.assumeIsolated { $0.callersHaveGone() } }
            connection.onNameLost(Contract.busName) { self.assumeIsolated { $0.wasReplaced() } }
        }
        helper?.onEnd(on: loop) { self.assumeIsolated { $0.helperHasEnded() } }
        Task(executorPreference: loop) {
            do {
                try await self.start(at: location)
            } catch {
                // If the process is already ending, the end has caused this error.
                if await !self.isEnding { self.logger.log(.ending, level: .critical, "\(error)") }
                await self.end(with: ExitStatus(of: error), because: "\(error)")
            }
        }
    }

    /// Starts serving.
    ///
    /// The database comes first and the name last, so that no caller waits for a daemon that cannot
    /// serve. A daemon that replaces another takes the name first, because the other one then gives
    /// up the database.
    ///
    /// Meanwhile calls wait. The calls that came are answered even if yet another daemon has taken
    /// the name by then.
    private func start(at location: DatabaseLocation) async throws {
        doors.removeAll { door in
            guard door.directories(beside: location) == nil else { return false }
            logger.warning(
                "\(door.name) is not served: the environment does not say where its files are.")
            return true
        }
        if callers == .busReplacingOther, try await relaysCalls(at: location) { return }
        if callers == .busReplacingOther {
            // The running daemon must not end for one that cannot serve.
            try location.checkUsability()
            // The running daemon gives up these names with its own, so they must be waited for.
            await requestDoorNames()
            try await HandOver(to: connection).takeOver(within: Self.longestHandOver)
        }
        let database = try await openDatabase(at: location)
        // A signal that came meanwhile has ended this process.
        guard !isEnding else { return database.close() }
        confine(
            to: database.ownDirectories, or: database.nameInDirectory,
            doors.compactMap { $0.directories(beside: location) })
        let writer = try database.makeWriter { [logger] in logger.log($0) }
        let recovered = database.pendingNames
        let service = Service(
            on: connection, with: database, writer,
            layers: FileLayers(in: places, problemLevel: callers.areOnBus ? .warning : .debug),
            doors: doors, beside: location, examiner: examiner, logger: logger,
            abandon: { error in self.assumeIsolated { $0.abandon(error) } })
        self.service = service
        await service.start()
        if callers == .bus {
            try await connection.takeName()
            await requestDoorNames()
        }
        if callers.areOnBus {
            await service.announce(recovered: recovered)
            openSocket(at: location)
        }
        // The service manager knows that this daemon serves before any caller does: a caller that has
        // its reply may ask the manager for the state of the service.
        if !isReplaced { await reportReady(of: service) }
        await connection.releaseCalls()
        isServing = true
        guard !isReplaced else { return await end(with: .success) }
        if callers.areOnBus { follow(SuspendWatch(for: service, logger: logger)) }
    }

    /// Serves the desktops of this session by the daemon of another session, if that has the database.
    ///
    /// A bus starts this program for the name of such a service.
    private func relaysCalls(at location: DatabaseLocation) async throws -> Bool {
        guard !doors.isEmpty, try await !connection.hasOwner(of: Contract.busName),
            let other = await OtherSession.bus(ofDaemonWith: location, on: loop)
        else { return false }
        await other.onDisconnect {
            Task(executorPreference: self.loop) { await self.end(with: .success) }
        }
        let relay = DoorRelay(on: connection, to: other)
        try await relay.begin(doors)
        self.relay = relay
        await requestDoorNames()
        logger.notice(
            """
            The daemon of another session has the database. The desktop services of this session hand \
            all calls over to it.
            """)
        ServiceManager.notifyReady(status: "Handing calls over to the daemon of another session.")
        await connection.releaseCalls()
        return true
    }

    private func reportReady(of service: Service) async {
        let (summary, generation) = await (service.status, service.generation)
        logger.log(
            .serving, level: .info, summary, fields: [.generation: "\(generation)"])
        ServiceManager.notifyReady(status: summary)
    }

    /// Requests the names of the doors.
    ///
    /// While another program has one, this daemon waits for it in the queue of the bus. Everything
    /// else is served meanwhile.
    private func requestDoorNames() async {
        for name in doors.map({ $0.busName }) {
            do {
                let reply = try await connection.requestName(name)
                guard reply == .inQueue, callers == .bus else { continue }
                logger.log(
                    .nameTaken, level: .warning,
                    """
                    Another program owns \(name). This daemon serves that name as soon as the other \
                    program ends, such as when you log in again.
                    """)
            } catch {
                logger.warning("\(name) is not served: \(error)")
            }
        }
    }

    /// Gives up what the daemon does not need from now on.
    ///
    /// - Parameters:
    ///   - directories: Where the database keeps its files.
    ///   - file: Its name, in whose place the user may put a link.
    ///   - doors: What doors use.
    private func confine(
        to directories: [String], or file: String, _ doors: [DoorDirectories]
    ) {
        if ServiceConfinement.isOff {
            return logger.log(
                .notConfined, level: .warning,
                "The daemon is not confined, because DEFAULTSD_UNCONFINED is in its environment.")
        }
        Database.useFileCalls()
        let confinement = ServiceConfinement(
            FileKeeper.Places(
                own: directories + doors.flatMap(\.own),
                read: places.directories + doors.flatMap(\.read),
                links: [file], databases: Database.applicationID))
        let failures = confinement.begin(with: helper?.requests)
        for failure in failures {
            logger.debug("The daemon is less confined than it could be: \(failure)")
        }
    }

    /// Lets programs connect without the bus.
    ///
    /// Without it they use the bus.
    private func openSocket(at location: DatabaseLocation) {
        do {
            try socket.open(
                for: connection, at: location,
                replacingOther: callers == .busReplacingOther)
        } catch {
            logger.warning("\(error) Programs use the bus, which is slower.")
        }
    }

    /// This does not wait: the task runs beside everything else.
    private func follow(_ suspend: SuspendWatch) {
        Task(executorPreference: loop) { await suspend.follow() }
    }

    /// Opens the database.
    ///
    /// If a daemon that is ending still has it, this waits.
    ///
    /// On a bus, such a daemon has given up the name a moment before.
    private func openDatabase(
        at location: DatabaseLocation
    ) async throws -> sending Database {
        let deadline = loop.now + Self.longestWait
        while true {
            do throws(StorageError) {
                return try Database(
                    at: location, date: DateSource { time(nil) }, pageKeeper: pageKeeper
                ) { [logger] notice in
                    if notice.severity == .progress { ServiceManager.notifyProgress("\(notice)") }
                    logger.log(notice)
                }
            } catch {
                guard error.code == .inUse, loop.now < deadline, !isEnding,
                    try await mayBecomeFree
                else { throw error }
                await pause(for: Self.waitStep)
            }
        }
    }

    /// Whether a database that is in use will be free soon, because no daemon on the bus serves it.
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

/// From the event that ends the process to the last flush.
extension Daemon {
    func receive(_ signal: ProcessSignals.Received) {
        switch signal {
        case .refresh:
            service?.assumeIsolated { $0.settings.store.demandFlush() }
            Task(executorPreference: loop) { await self.service?.readLayers() }
        case .stop: Task(executorPreference: loop) { await self.end(with: .success) }
        }
    }

    private func callersHaveGone() {
        guard !isEnding else { return }
        var status = ExitStatus.success
        switch callers {
        case .bus, .busReplacingOther:
            logger.notice("The bus has gone. Writing the last changes to disk.")
        case .peer where connection.assumeIsolated { $0.isAuthenticated }:
            logger.debug("The peer has gone.")
        case .peer:
            logger.critical("\(LifeCycleError.notAPeer)")
            status = ExitStatus(of: LifeCycleError.notAPeer)
        }
        Task(executorPreference: loop) { [status] in await self.end(with: status) }
    }

    /// No new caller can be identified any more, so another process is to serve.
    ///
    /// The service manager starts it, or the bus does at the next call.
    private func helperHasEnded() {
        guard !isEnding else { return }
        let error = LifeCycleError.helperEnded
        logger.error("\(error)")
        Task(executorPreference: loop) {
            await self.end(with: .noHelper, because: error.description)
        }
    }

    /// Another daemon has the name.
    ///
    /// This one answers the calls that have come, and the other one waits until this one has ended.
    private func wasReplaced() {
        guard !isEnding else { return }
        logger.notice("Another daemon takes over. Answering the calls that came before.")
        isReplaced = true
        if isServing { Task(executorPreference: loop) { await self.end(with: .success) } }
    }

    /// Ends without the database, which can no longer be used.
    func abandon(_ error: any Error) {
        logger.log(
            .ending, level: .critical,
            "\(error) The crash journal keeps the changes for the next start.")
        ServiceManager.notifyStopping(because: "\(error)")
        isEnding = true
        status = ExitStatus(of: error)
        loop.stop()
    }

    func end(with status: ExitStatus, because reason: String? = nil) async {
        guard !isEnding else { return }
        isEnding = true
        self.status = status
        ServiceManager.notifyStopping(because: reason ?? "Writing the last changes to disk")
        socket.stop()
        do {
            try await service?.stop()
        } catch {
            report(unwritten: error)
        }
        // The object has left the bus, so a daemon that takes over does not wait for this.
        await socket.takeListener()?.close(within: DaemonSocket.patience)
        loop.stop()
    }

    /// Logs why changes are not on disk.
    ///
    /// The crash journal has them.
    ///
    /// If a peer has changed nothing, these are changes of earlier programs, so its own command has
    /// succeeded.
    private func report(unwritten error: any Error) {
        let sentence = "\(error) The crash journal keeps the changes for the next start."
        let failure = ExitStatus(of: error)
        let changes = service?.assumeIsolated { $0.settings.statistics.changes } ?? 0
        // A database that cannot be written has everything.
        if service?.assumeIsolated({ $0.settings.store.hasNothingToWrite }) == true {
            return logger.debug("\(error)")
        }
        if case .peer = callers, failure == .inputOutput, changes == 0 {
            return logger.warning("\(sentence)")
        }
        logger.error("\(sentence)")
        status = failure
    }
}
