import ArgumentParser
import DBus
import DefaultsClient

/// A command that uses the service.
protocol ServiceCommand: AsyncParsableCommand {
    /// Whether it needs the service on a bus: its signals, or other services there.
    ///
    /// Without one, such a command is refused. Others run a daemon of their own then.
    static var needsBus: Bool { get }

    /// Refuses what cannot be done, before the service is called.
    func check() throws

    func run(with defaults: RemoteDefaults) async throws
}

extension ServiceCommand {
    static var needsBus: Bool { false }

    func check() throws {}

    /// Connects and runs.
    ///
    /// Each error becomes one sentence and an exit status.
    func run() async throws {
        try await reportingFailure {
            try check()
            try await ServiceSession.run(needsBus: Self.needsBus) { try await run(with: $0) }
        }
    }
}

/// Runs a part of a command.
///
/// Each error becomes one sentence and an exit status.
func reportingFailure(_ work: () async throws -> Void) async throws {
    do {
        try await work()
    } catch let status as ExitCode {
        throw status
    } catch {
        let failure = ToolError(error)
        Complaint.say(failure)
        throw failure.exitCode
    }
}

/// The connection of one command to the service: by the daemon's socket, over a bus, or to its own
/// daemon if there is no service.
///
/// Invariants:
/// 1. The command runs its own daemon only if no service could answer on a bus of the user: see
///    `ServiceSearch`. It does not if it needs the bus.
/// 2. Before the command ends, its own daemon has ended, and everything is on disk.
struct ServiceSession {
    private let defaults: RemoteDefaults
    private let daemon: OwnDaemon?

    init(_ defaults: RemoteDefaults, endingWith daemon: OwnDaemon? = nil) {
        (self.defaults, self.daemon) = (defaults, daemon)
    }

    /// Opens the connection for a command, and closes it at the end.
    ///
    /// - Throws: The errors of the command, or ``ToolError`` if there is no service and no daemon
    ///   can be run, or if the command's own daemon has failed.
    @discardableResult
    static func run<Outcome>(
        needsBus: Bool = false, _ command: (RemoteDefaults) async throws -> Outcome
    ) async throws -> Outcome {
        let session = try await Defaultsctl.console.openService(needsBus: needsBus)
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

    /// Searches for the service, and runs a daemon if there is none.
    ///
    /// - Parameter loop: The loop of the connection.
    static func find(needsBus: Bool, on loop: EventLoop) async throws -> ServiceSession {
        if !needsBus, let direct = await RemoteDefaults.connectDirectly(for: .session, on: loop) {
            return ServiceSession(direct)
        }
        switch await ServiceSearch(on: loop).run() {
        case .service(let connection):
            return ServiceSession(RemoteDefaults(over: connection))
        case .failed(let error): throw error
        case .nobody where needsBus:
            let foreign = EnvironmentCheck(places: Places()).foreignHome
            throw foreign.map(ToolError.foreignHome) ?? ToolError.needsService
        case .nobody(let reason):
            let daemon = try OwnDaemon.start(because: reason)
            Complaint.say(
                "No service can be reached (\(reason)). defaultsd runs for this command only.")
            return ServiceSession(
                try await RemoteDefaults.connect(toPeerAt: daemon.socket, on: loop),
                endingWith: daemon.process)
        }
    }
}

/// The only thread of the tool.
///
/// Commands run on the thread of their connections, so that a call does not have to wake another
/// thread. This begins before other threads could exist.
enum MainThread {
    /// Runs the program, which must end the process.
    static func run(_ program: @escaping @Sendable () async -> Never) throws {
        let loop = try EventLoop()
        Defaultsctl.$console.withValue(ProcessConsole(on: loop)) {
            _ = Task(executorPreference: loop) { await program() }
        }
        loop.run()
    }
}
