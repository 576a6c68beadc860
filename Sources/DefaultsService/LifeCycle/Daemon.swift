import DBus
import DefaultsModel
import DefaultsProtocol
public import DefaultsStorage
public import Logging

/// The life of the process: from opening the database to the last flush.
public actor Daemon {
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }

    private nonisolated let loop: EventLoop
    private let service: DefaultsObject
    private let logger: Logger
    private var isEnding = false
    private var status = ExitStatus.success

    /// Serves until a signal comes or the bus goes away, and gives the status to exit with.
    ///
    /// To be called once, on the main thread, before any other thread exists.
    ///
    /// - Parameters:
    ///   - location: Where the database and its crash journal are.
    ///   - logger: Where the daemon says what it does.
    public static func run(at location: DatabaseLocation, logger: Logger) -> ExitStatus {
        do {
            let signals = try ProcessSignals()
            let loop = try EventLoop()
            let daemon = try Daemon(at: location, on: loop, logger: logger)
            signals.deliver(on: loop) { received in
                daemon.assumeIsolated { $0.receive(received) }
            }
            daemon.assumeIsolated { $0.begin() }
            loop.run()
            return daemon.assumeIsolated { $0.status }
        } catch {
            logger.critical("\(error)")
            return ExitStatus(of: error)
        }
    }

    /// The bus first: without one there is nobody to open the database for.
    private init(at location: DatabaseLocation, on loop: EventLoop, logger: Logger) throws {
        let connection = try Connection(to: .session, on: loop)
        let database = try Database(at: location) { notice in
            logger.log(
                level: notice.severity == .warning ? .warning : .info, "\(notice)")
        }
        let writer = try database.makeWriter()
        self.loop = loop
        self.logger = logger
        service = DefaultsObject(
            connection: connection, database: database, writer: writer,
            host: .ofThisMachine(), logger: logger)
    }

    private func begin() {
        service.connection.assumeIsolated { connection in
            connection.onDisconnect { self.assumeIsolated { $0.busHasGone() } }
        }
        Task {
            do {
                try await service.start()
                let summary = await service.summary
                logger.info("\(summary)")
                ServiceManager.notifyReady(status: summary)
            } catch {
                logger.critical("\(error)")
                await end(with: ExitStatus(of: error))
            }
        }
    }

    private func receive(_ signal: ProcessSignals.Received) {
        switch signal {
        case .flush: service.assumeIsolated { $0.flush() }
        case .stop: Task { await end(with: .success) }
        }
    }

    private func busHasGone() {
        guard !isEnding else { return }
        logger.notice("The bus has gone; writing the last changes to disk.")
        Task { await end(with: .success) }
    }

    private func end(with status: ExitStatus) async {
        guard !isEnding else { return }
        isEnding = true
        self.status = status
        ServiceManager.notifyStopping()
        do {
            try await service.stop()
        } catch {
            logger.error("\(error) The crash journal keeps the changes for the next start.")
            self.status = ExitStatus(of: error)
        }
        loop.stop()
    }
}
