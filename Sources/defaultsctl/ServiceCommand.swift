import ArgumentParser
import DBus
import DefaultsClient
@preconcurrency import Glibc

/// A subcommand that talks to the service.
protocol ServiceCommand: AsyncParsableCommand {
    func run(with defaults: RemoteDefaults) async throws
}

extension ServiceCommand {
    /// Connects, runs, and turns each error into one sentence and an exit status.
    func run() async throws {
        do {
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
