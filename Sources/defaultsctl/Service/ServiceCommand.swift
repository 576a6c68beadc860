import ArgumentParser
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
