import DBus
import DefaultsClient
import DefaultsTerms

/// A command that is about the history.
protocol HistoryCommand: ServiceCommand {
    /// - Throws: ``NothingInHistory`` if there is nothing of what is meant.
    func run(withHistoryOf defaults: RemoteDefaults) async throws
}

/// The history has nothing of what a command is about.
struct NothingInHistory: Error {
    /// What is said if there is a history.
    let reason: ToolError
}

extension HistoryCommand {
    func run(with defaults: RemoteDefaults) async throws {
        do {
            try await run(withHistoryOf: defaults)
        } catch let nothing as NothingInHistory {
            throw await Self.isOff(defaults) ? ToolError.historyIsOff : nothing.reason
        } catch {
            guard let error = error.ofContract as? DBusError,
                [.unknownMethod, .unknownInterface].contains(error.name)
            else { throw error }
            throw ToolError.noHistory
        }
    }

    /// Whether the user or the administrator has switched the history off.
    private static func isOff(_ defaults: RemoteDefaults) async -> Bool {
        let days = try? await defaults.lookUp(HistoryOption.days.rawValue, in: HistoryTerms.domain)
        return (try? days?.archive.jsonText()) == "0"
    }
}
