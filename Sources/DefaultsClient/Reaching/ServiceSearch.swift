package import DBus
import DefaultsProtocol
import Glibc

// Invariants
//
// 1. A service that has its name is used, on the bus that the environment names before any other bus.
// 2. Nothing is started while another bus of the user has a service with the same database: two daemons
//    cannot have it.
// 3. `nobody` is the answer only if nobody could answer: there is no bus, or no bus knows the service. A
//    service that is there and refuses, or does not start, is an answer. So is a bus that is there and
//    does not answer: the service may run on it.

/// The search for the user's service.
package struct ServiceSearch: Sendable {
    /// What was found.
    package enum Outcome: Sendable {
        /// The service answers on this connection.
        case service(Connection)
        /// The service is known and does not start, or the bus does not say.
        case failed(any Error)
        /// There is no service, for this reason.
        case nobody(String)
    }

    private let loop: EventLoop
    private let bus: Address
    private let expected = ExpectedDatabase()
    private let startPatience: Duration

    /// Prepares a search.
    ///
    /// - Parameters:
    ///   - bus: The bus to search first. From the session's the search goes on to others of the user.
    ///   - loop: The loop of the connections, on whose thread the search runs.
    ///   - startPatience: How long a start of the service may take.
    package init(
        from bus: Address = .session, on loop: EventLoop, startPatience: Duration = .seconds(25)
    ) {
        self.startPatience = startPatience
        self.bus = bus
        self.loop = loop
    }

    /// Searches, and starts the service if a bus knows how.
    ///
    /// - Parameter connection: A connection to the bus that there is already. It stays open, whatever is
    ///   found.
    package func run(with connection: Connection? = nil) async -> Outcome {
        if let connection { return await search(on: connection) }
        let opened: Connection
        do {
            opened = try await Connection.open(bus, on: loop)
        } catch {
            return await run(after: error)
        }
        let outcome = await search(on: opened)
        if case .service(let found) = outcome, found === opened { return outcome }
        await opened.close()
        return outcome
    }

    /// Searches elsewhere.
    ///
    /// - Parameter failure: Why the bus cannot be used.
    package func run(after failure: any Error) async -> Outcome {
        guard let error = failure as? DBusError else { return .failed(failure) }
        if let other = await runningElsewhere() { return .service(other) }
        // (3)
        guard error.name != .timeout else { return .failed(error) }
        return await startedElsewhere() ?? .nobody(Self.reason(for: error))
    }

    /// Why there is no bus.
    ///
    /// libdbus speaks of its last resort, the display of X11, if the environment names no bus.
    private static func reason(for error: DBusError) -> String {
        let isNamed = getenv("DBUS_SESSION_BUS_ADDRESS").map { $0.pointee != 0 } ?? false
        return isNamed ? error.reason : "this session has no bus"
    }

    private func search(on session: Connection) async -> Outcome {
        do {
            if try await session.hasOwner(of: Contract.busName) { return .service(session) }
            // (2)
            if let other = await runningElsewhere() { return .service(other) }
            if try await session.canActivate(Contract.busName) {
                return try await start(on: session)
            }
        } catch {
            return .failed(error)
        }
        return await startedElsewhere()
            ?? .nobody(
                "no process on the session bus owns \(Contract.busName), and the bus has no activation "
                    + "file for it")
    }

    /// Starts the service, by the service manager if it has the unit, so that a failure is known at once.
    private func start(on connection: Connection) async throws -> Outcome {
        if let unit = try await ServiceUnit(on: connection) {
            switch try await unit.start(within: startPatience) {
            case .running: return try await checked(connection)
            case .failed(let sentence): return .failed(DefaultsError.notStarted(sentence))
            case .unknown: break
            }
        }
        do {
            try await connection.startService(Contract.busName)
        } catch let error as DBusError
            where error.name.string.hasPrefix("org.freedesktop.systemd1.")
        {
            return .failed(DefaultsError.notStarted(ServiceUnit.refused(because: error)))
        }
        return try await checked(connection)
    }

    /// A service that was started, unless it has ended already.
    private func checked(_ connection: Connection) async throws -> Outcome {
        if try await connection.hasOwner(of: Contract.busName) { return .service(connection) }
        return .failed(
            DBusError(.nameHasNoOwner, "The service has ended as soon as it was started."))
    }

    // MARK: Other buses of the user

    /// How long another bus, or a service there, may take to answer.
    private static let patience = Duration.seconds(2)

    /// A connection to another bus, by a Unix socket; nil if the bus does not answer.
    private func join(_ address: String) async -> Connection? {
        try? await Connection.open(.socket(address), within: Self.patience, on: loop)
    }

    /// The service that runs on another bus of the user, if it has the database that is expected here.
    private func runningElsewhere() async -> Connection? {
        guard bus == .session else { return nil }
        for address in UserBus.addresses(for: expected) {
            guard let other = await join(address) else { continue }
            if (try? await other.hasOwner(of: Contract.busName)) == true,
                await hasExpectedDatabase(other)
            {
                return other
            }
            await other.close()
        }
        return nil
    }

    /// The service of the bus that systemd keeps for the user, which is started there.
    ///
    /// - Returns: Nil if there is no such bus, or if its service has another database.
    private func startedElsewhere() async -> Outcome? {
        // What is started there has the environment of the user's sessions.
        guard bus == .session, expected.isStandard, let address = UserBus.standardAddress,
            let other = await join(address)
        else { return nil }
        let outcome = await started(on: other)
        if case .service? = outcome { return outcome }
        await other.close()
        return outcome
    }

    /// Starts the service on another bus.
    ///
    /// - Returns: Nil if the bus does not know it, or if it has another database.
    private func started(on other: Connection) async -> Outcome? {
        do {
            guard try await other.canActivate(Contract.busName) else { return nil }
            let outcome = try await start(on: other)
            guard case .service = outcome else { return outcome }
            return await hasExpectedDatabase(other) ? outcome : nil
        } catch {
            return .failed(error)
        }
    }

    private func hasExpectedDatabase(_ connection: Connection) async -> Bool {
        let status = try? await RemoteDefaults(over: connection).status(within: Self.patience)
        return status.map { expected.isThat(of: $0.databasePath) } ?? false
    }
}
