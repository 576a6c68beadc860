package import DBus
import DefaultsProtocol
import Glibc

// Invariants
//
// 1. A service that has its name is used, on the bus that the environment names before any other bus.
// 2. Nothing is started while another bus of the user has a service with the same database: two daemons
//    cannot have it.
// 3. `nobody` is the answer only if nobody could answer: there is no bus, or no bus knows the service. A
//    service that is there and refuses, or does not start, is an answer.

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
    private let userBus: UserBus?

    /// Prepares a search.
    ///
    /// - Parameters:
    ///   - bus: The bus to search first. Only from the session's the search goes on to the user's own.
    ///   - loop: The loop of the connections, on whose thread the search runs.
    package init(from bus: Address = .session, on loop: EventLoop) {
        self.bus = bus
        self.loop = loop
        userBus = bus == .session ? UserBus() : nil
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
        } catch let error as DBusError {
            return await onUserBus() ?? .nobody(Self.reason(for: error))
        } catch {
            return .failed(error)
        }
        let outcome = await search(on: opened)
        if case .service(let found) = outcome, found === opened { return outcome }
        await opened.close()
        return outcome
    }

    /// Why there is no bus.
    ///
    /// libdbus speaks of its last resort, the display of X11, if the environment names no bus.
    private static func reason(for error: DBusError) -> String {
        let isNamed = getenv("DBUS_SESSION_BUS_ADDRESS").map { $0.pointee != 0 } ?? false
        return isNamed ? error.message : "this session has no bus"
    }

    private func search(on session: Connection) async -> Outcome {
        do {
            if try await session.hasOwner(of: Contract.busName) { return .service(session) }
            // (2)
            if let other = await runningOnUserBus() { return .service(other) }
            if try await session.canActivate(Contract.busName) {
                return try await start(on: session)
            }
        } catch {
            return .failed(error)
        }
        return await onUserBus()
            ?? .nobody("nobody on the session bus is \(Contract.busName), nor is it installed")
    }

    /// Starts the service, by the service manager if it has the unit, so that a failure is known at once.
    private func start(on connection: Connection) async throws -> Outcome {
        if let unit = try await ServiceUnit(on: connection) {
            switch try await unit.start() {
            case .running: return .service(connection)
            case .failed(let sentence): return .failed(ClientError.notStarted(sentence))
            case .unknown: break
            }
        }
        try await connection.startService(Contract.busName)
        return .service(connection)
    }

    // MARK: The bus of the user

    /// A connection to the user's own bus, if that is another one than the session's.
    private func openUserBus() async -> Connection? {
        guard let userBus, !userBus.isSession else { return nil }
        return try? await Connection.open(.address(userBus.address), on: loop)
    }

    /// The service that runs on the user's own bus, if it has the database that is expected here.
    private func runningOnUserBus() async -> Connection? {
        guard let connection = await openUserBus() else { return nil }
        if (try? await connection.hasOwner(of: Contract.busName)) == true,
            await hasExpectedDatabase(connection)
        {
            return connection
        }
        await connection.close()
        return nil
    }

    /// The service of the user's own bus, which may have to be started.
    ///
    /// - Returns: Nil if there is no such bus, or if its service has another database.
    private func onUserBus() async -> Outcome? {
        if let running = await runningOnUserBus() { return .service(running) }
        // What is started there has the environment of the user's sessions.
        guard expected.isStandard, let connection = await openUserBus() else { return nil }
        do {
            if try await connection.canActivate(Contract.busName) {
                let outcome = try await start(on: connection)
                guard case .service = outcome else {
                    await connection.close()
                    return outcome
                }
                if await hasExpectedDatabase(connection) { return outcome }
            }
        } catch {
            await connection.close()
            return .failed(error)
        }
        await connection.close()
        return nil
    }

    private func hasExpectedDatabase(_ connection: Connection) async -> Bool {
        let status = try? await RemoteDefaults(over: connection).status()
        return status.map { expected.isThat(of: $0.databasePath) } ?? false
    }
}

extension UserBus {
    /// Whether the environment names this bus as that of the session.
    fileprivate var isSession: Bool {
        if let address = variable("DBUS_SESSION_BUS_ADDRESS"), !address.isEmpty {
            return isNamed(by: address)
        }
        return variable("XDG_RUNTIME_DIR").map { "\($0)/bus" == path } ?? false
    }

    private func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
