import ArgumentParser
import DefaultsClient
import KeyedArchive

struct Delete: ServiceCommand {
    static let configuration = CommandConfiguration(
        abstract: "Removes a key, or a part of its value.")

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The key.")
    var key: String

    @OptionGroup var part: PathOption

    func run(with defaults: RemoteDefaults) async throws {
        if let path = part.path {
            return try await defaults.change(key, in: domain) { try $0.removing(path) }
        }
        // The service counts the removal of nothing as done; a person who mistyped wants to know.
        guard try await defaults.keys(in: domain).contains(key) else {
            throw ToolError.noKey(key, in: domain)
        }
        try await defaults.remove(key, in: domain)
    }
}
