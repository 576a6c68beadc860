import ArgumentParser
import DefaultsClient

struct Sync: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Waits until every change made so far is on disk.")

    func run(with defaults: RemoteDefaults) async throws {
        try await defaults.synchronize()
    }
}
