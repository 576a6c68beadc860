import ArgumentParser
import DBus
import DefaultsClient

/// A subcommand that talks to the service.
protocol ServiceCommand: AsyncParsableCommand {
    /// Refuses what cannot be done whatever the service says.
    func check() throws

    func run(with defaults: RemoteDefaults) async throws
}

extension ServiceCommand {
    func check() throws {}

    /// Connects, runs, and turns each error into one sentence and an exit status.
    func run() async throws {
        try await reportingFailure {
            try check()
            try await ServiceSession.run { try await run(with: $0) }
        }
    }
}

/// Runs a part of a command, and turns each error into one sentence and an exit status.
func reportingFailure(_ work: () async throws -> Void) async throws {
    do {
        try await work()
    } catch let status as ExitCode {
        throw status
    } catch {
        let failure = ToolError(error)
        Complaint.say(failure.message)
        throw failure.exitCode
    }
}

/// The way to the service for one command: over the bus or, if that leads to none, to a daemon of
/// the command's own.
///
/// Invariants:
/// 1. A daemon of its own is run only if nobody could answer over a bus of the user: see `ServiceSearch`.
/// 2. The daemon of one's own has ended, and everything is on disk, before the command ends.
struct ServiceSession {
    let defaults: RemoteDefaults
    private let daemon: OwnDaemon?

    /// Gives a command its connection, and closes that in the end.
    ///
    /// - Throws: What the command throws; ``ToolError`` if there is no service and none can be run,
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
        let loop = try MainThread.loop ?? EventLoop.startThread(named: "defaultsctl")
        switch await ServiceSearch(on: loop).run() {
        case .service(let connection):
            (defaults, daemon) = (RemoteDefaults(over: connection), nil)
        case .failed(let error): throw error
        case .nobody(let reason):
            let daemon = try OwnDaemon.start(because: reason)
            Complaint.say(
                "No service can be reached (\(reason)); defaultsd runs for this command alone.")
            defaults = try await RemoteDefaults.connect(toPeerAt: daemon.socket, on: loop)
            self.daemon = daemon.process
        }
    }
}

extension RemoteDefaults {
    /// Whether others have the same service, as on a bus.
    var isShared: Bool { connection.uniqueName != nil }
}

/// The one thread of the tool: its commands run where its connections are, so that a call wakes no
/// other thread, and the tool has begun before threads could have.
enum MainThread {
    /// The loop of the thread, which a command's connections are to use.
    @TaskLocal static var loop: EventLoop?

    /// Runs the program, which ends the process.
    static func run(_ program: @escaping @Sendable () async -> Never) throws {
        let loop = try EventLoop()
        $loop.withValue(loop) {
            _ = Task(executorPreference: loop) { await program() }
        }
        loop.run()
    }
}
