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

    /// Prepares a search.
    ///
    /// - Parameters:
    ///   - bus: The bus to search first. From the session's the search goes on to others of the user.
    ///   - loop: The loop of the connections, on whose thread the search runs.
    package init(from bus: Address = .session, on loop: EventLoop) {
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
        } catch let error as DBusError {
            return await foundElsewhere() ?? .nobody(Self.reason(for: error))
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
            if let other = await runningElsewhere() { return .service(other) }
            if try await session.canActivate(Contract.busName) {
                return try await start(on: session)
            }
        } catch {
            return .failed(error)
        }
        return await foundElsewhere()
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

    // MARK: Other buses of the user

    /// The service that runs on another bus of the user, if it has the database that is expected here.
    private func runningElsewhere() async -> Connection? {
        guard bus == .session else { return nil }
        for address in UserBus.addresses(for: expected) {
            guard let other = try? await Connection.open(.address(address), on: loop) else { continue }
            if (try? await other.hasOwner(of: Contract.busName)) == true,
                await hasExpectedDatabase(other)
            {
                return other
            }
            await other.close()
        }
        return nil
    }

    /// The service of another bus of the user, which may have to be started.
    ///
    /// - Returns: Nil if there is no such bus, or if its service has another database.
    private func foundElsewhere() async -> Outcome? {
        if let running = await runningElsewhere() { return .service(running) }
        // What is started there has the environment of the user's sessions.
        guard bus == .session, expected.isStandard else { return nil }
        for address in UserBus.addresses(for: expected) {
            guard let other = try? await Connection.open(.address(address), on: loop) else { continue }
            if let outcome = await started(on: other) {
                if case .service = outcome { return outcome }
                await other.close()
                return outcome
            }
            await other.close()
        }
        return nil
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
        let status = try? await RemoteDefaults(over: connection).status()
        return status.map { expected.isThat(of: $0.databasePath) } ?? false
    }
}
