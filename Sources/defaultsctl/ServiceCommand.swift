import ArgumentParser
import DBus
import DefaultsClient
@preconcurrency import Glibc

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
        do {
            try check()
            let defaults = try await RemoteDefaults.connect()
            try await run(with: defaults)
            await defaults.close()
        } catch {
            let failure = ToolError(error)
            fputs("defaultsctl: \(failure.message)\n", stderr)
            throw failure.exitCode
        }
    }
}
