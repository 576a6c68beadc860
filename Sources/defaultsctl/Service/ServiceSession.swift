import DBus
import DefaultsClient
import DefaultsProtocol

/// The way to the service for one command: over the bus or, where that leads to none, to a daemon of
/// the command's own.
///
/// Invariants:
/// 1. The daemon of one's own is run only where nobody could answer over the bus: there is no bus, or
///    nobody has the name and no program is known that could have it. A service that is there and
///    refuses, or does not start, is an answer.
/// 2. The daemon of one's own has ended, and everything is on disk, before the command ends.
struct ServiceSession {
    let defaults: RemoteDefaults
    private let daemon: OwnDaemon?

    /// Gives a command its connection, and closes that in the end.
    ///
    /// - Throws: What the command throws; ``ToolError`` where there is no service and none can be run,
    ///   or the daemon of one's own has failed.
    @discardableResult
    static func run<Outcome>(
        _ command: (RemoteDefaults) async throws -> Outcome
    ) async throws -> Outcome {
        let session = try await ServiceSession()
        let outcome: Result<Outcome, any Error>
        do {
            outcome = .success(try await command(session.defaults))
        } catch {
            outcome = .failure(error)
        }
        await session.defaults.close()
        try session.daemon?.end(after: outcome)
        return try outcome.get()
    }

    private init() async throws {
        switch await ServiceSearch.find() {
        case .service(let defaults): (self.defaults, daemon) = (defaults, nil)
        case .failed(let error): throw error
        case .nobody(let reason):
            let daemon = try OwnDaemon.start(because: reason)
            Complaint.say(
                "No service can be reached (\(reason)); defaultsd runs for this command alone.")
            defaults = try await RemoteDefaults.connect(
                toPeerAt: daemon.socket, on: MainThread.loop)
            self.daemon = daemon.process
        }
    }
}

extension RemoteDefaults {
    /// Whether others have the same service, as on a bus.
    var isShared: Bool { connection.uniqueName != nil }
}

/// What a look for the service on the bus has found.
enum ServiceSearch {
    /// Somebody answers, or is started by the bus.
    case service(RemoteDefaults)
    /// There is nobody, for this reason.
    case nobody(String)
    /// The bus is there, and does not tell.
    case failed(any Error)

    /// Looks for it, and starts nothing.
    static func find() async -> ServiceSearch {
        let defaults: RemoteDefaults
        do {
            defaults = try await RemoteDefaults.connectToSession()
        } catch let error as DBusError {
            return .nobody(error.message)
        } catch {
            return .failed(error)
        }
        do {
            let connection = defaults.connection
            if try await connection.hasOwner(of: Contract.busName) { return .service(defaults) }
            if try await connection.canActivate(Contract.busName) { return .service(defaults) }
            await defaults.close()
            return .nobody("nobody on the session bus is \(Contract.busName), nor is it installed")
        } catch {
            await defaults.close()
            return .failed(error)
        }
    }
}
