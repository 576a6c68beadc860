import ArgumentParser
import DefaultsClient

struct Delete: ServiceCommand {
    static let configuration = CommandConfiguration(abstract: "Removes a key.")

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The key.")
    var key: String

    func run(with defaults: RemoteDefaults) async throws {
        // The service counts the removal of nothing as done; a person who mistyped wants to know.
        guard try await defaults.keys(in: domain).contains(key) else {
            throw ToolError.noKey(key, in: domain)
        }
        try await defaults.remove(key, in: domain)
    }
}
