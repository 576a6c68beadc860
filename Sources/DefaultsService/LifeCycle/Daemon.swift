import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
public import Logging

/// The life of the process: from opening the database to the last flush.
///
/// Two threads do all of it, the loop's and the writer's. Tasks are made with the loop as their
/// preferred executor: without it Swift would start a pool of threads for the steps between.
public actor Daemon {
    /// The loop, which the bus shares.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }

    /// How long a new daemon waits for one that is about to end, and how often it looks.
    private static let longestWait = Duration.seconds(5)
    private static let waitStep = Duration.milliseconds(20)

    private nonisolated let loop: EventLoop
    private let connection: Connection
    private let logger: Logger
    /// What is served, once the database is open.
    private var object: DefaultsObject?
    private var isEnding = false
    private var status = ExitStatus.success

    /// The version of the daemon.
    public static let version = Version.current

    /// Serves until a signal comes or the bus goes away, and gives the status to exit with.
    ///
    /// To be called once, on the main thread, before any other thread exists.
    ///
    /// - Parameters:
    ///   - databaseDirectory: Where to keep the database; nil for the place that the environment
    ///     names.
    ///   - logger: Where the daemon says what it does.
    public static func run(databaseDirectory: String?, logger: Logger) -> ExitStatus {
        Memory.returnLargeBlocks()
        do {
            let location = try DatabaseLocation.fromEnvironment(directory: databaseDirectory)
            let signals = try ProcessSignals()
            let loop = try EventLoop()
            let connection = try Connection(to: .session, on: loop)
            let daemon = Daemon(connection, logger: logger)
            signals.deliver(on: loop) { received in
                daemon.assumeIsolated { $0.receive(received) }
            }
            daemon.assumeIsolated { $0.begin(at: location) }
            loop.run()
            return daemon.assumeIsolated { $0.status }
        } catch {
            logger.critical("\(error)")
            return ExitStatus(of: error)
        }
    }

    private init(_ connection: Connection, logger: Logger) {
        self.connection = connection
        self.logger = logger
        loop = connection.loop
    }
}

// MARK: The beginning

extension Daemon {
    private func begin(at location: DatabaseLocation) {
        connection.assumeIsolated { connection in
            connection.onDisconnect { self.assumeIsolated { $0.busHasGone() } }
        }
        Task(executorPreference: loop) {
            do {
                try await self.start(at: location)
            } catch {
                // Once the end has begun, it is what made the beginning fail.
                if await !self.isEnding { self.logger.critical("\(error)") }
                await self.end(with: ExitStatus(of: error))
            }
        }
    }

    private func start(at location: DatabaseLocation) async throws {
        let database = try await openDatabase(at: location)
        // A signal that came meanwhile has ended us.
        guard !isEnding else { return database.close() }
        let writer = try database.makeWriter()
        let object = DefaultsObject(
            connection: connection, database: database, writer: writer, host: .ofThisMachine(),
            logger: logger)
        self.object = object
        try await object.start()
        let summary = await object.summary
        logger.info("\(summary)")
        ServiceManager.notifyReady(status: summary)
    }

    /// Opens the database, waiting for a daemon before us that is about to give it up.
    ///
    /// The bus starts us as soon as that one has given up the name, a moment earlier.
    private func openDatabase(
        at location: DatabaseLocation
    ) async throws -> sending Database {
        let deadline = ContinuousClock.now + Self.longestWait
        while true {
            do throws(StorageError) {
                return try Database(at: location) { [logger] notice in
                    logger.log(level: notice.severity.logLevel, "\(notice)")
                }
            } catch {
                guard error.code == .inUse, ContinuousClock.now < deadline, !isEnding,
                    try await !connection.hasOwner(of: Contract.busName)
                else { throw error }
                await pause(for: Self.waitStep)
            }
        }
    }

    private func pause(for duration: Duration) async {
        await withCheckedContinuation { continuation in
            loop.schedule(after: duration) { continuation.resume() }
        }
    }
}

// MARK: The end

extension Daemon {
    private func receive(_ signal: ProcessSignals.Received) {
        switch signal {
        case .flush: object?.assumeIsolated { $0.demandFlush() }
        case .stop: Task(executorPreference: loop) { await self.end(with: .success) }
        }
    }

    private func busHasGone() {
        guard !isEnding else { return }
        logger.notice("The bus has gone; writing the last changes to disk.")
        Task(executorPreference: loop) { await self.end(with: .success) }
    }

    private func end(with status: ExitStatus) async {
        guard !isEnding else { return }
        isEnding = true
        self.status = status
        ServiceManager.notifyStopping()
        do {
            try await object?.stop()
        } catch {
            logger.error("\(error) The crash journal keeps the changes for the next start.")
            self.status = ExitStatus(of: error)
        }
        loop.stop()
    }
}

extension Notice.Severity {
    fileprivate var logLevel: Logger.Level {
        switch self {
        case .information: .info
        case .warning: .warning
        }
    }
}
