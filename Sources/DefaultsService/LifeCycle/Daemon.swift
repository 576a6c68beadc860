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
    /// Who keeps the page of counters when the process dies; nil where it is a file.
    let pageKeeper: PageKeeper?
    /// What is served, once the database is open.
    var object: DefaultsObject?
    /// Whether calls are carried out.
    var isServing = false
    /// Whether another daemon has the name, and waits for our end.
    var isReplaced = false
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
