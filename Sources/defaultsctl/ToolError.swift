import ArgumentParser
import DBus
import DefaultsClient
import DefaultsProtocol
import Glibc

/// A failure of the tool: one sentence for standard error, and an exit status.
struct ToolError: Error {
    let message: String
    let exitCode: ExitCode

    /// Not found, or refused.
    private static let refused = ExitCode(1)
    /// The service cannot be reached (EX_UNAVAILABLE).
    private static let noService = ExitCode(EX_UNAVAILABLE)

    private init(_ message: String, _ exitCode: ExitCode) {
        self.message = message
        self.exitCode = exitCode
    }

    /// The one table from errors to exit statuses.
    init(_ error: any Error) {
        switch error {
        case let error as ToolError: self = error
        case let error as DefaultsError: self.init(error.message, Self.refused)
        case let error as DBusError:
            self.init("The defaults service cannot be reached: \(error.message)", Self.noService)
        default: self.init("\(error)", Self.refused)
        }
    }

    static func noKeys(in domain: String) -> ToolError {
        ToolError(
            "The domain \(domain) has no keys. 'defaultsctl domains' lists those that have.",
            refused)
    }

    static let busWentAway = ToolError("The bus has gone; nothing more can be watched.", noService)
}
