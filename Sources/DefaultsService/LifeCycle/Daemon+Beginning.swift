import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import Logging

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
    /// Calls wait meanwhile. Those that came are answered, too, where yet another daemon has taken
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
