import ArgumentParser
import DefaultsClient
import DefaultsProtocol

struct Rename: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Renames a key.",
        discussion: "Like with macOS's defaults, an existing value under the new name is replaced.")

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The key.")
    var oldKey: String

    @Argument(help: "Its new name.")
    var newKey: String

    @OptionGroup var change: ChangeOptions

    @OptionGroup var host: HostOption

    func run(with defaults: RemoteDefaults) async throws {
        do {
            try await defaults.move(oldKey, to: newKey, in: domain)
            try await change.finish(oldKey != newKey, on: defaults)
        } catch let error as DefaultsError where error.code == .notFound {
            throw ToolError.noKeyToRename(oldKey, in: domain)
        }
    }
}

extension Rename: ArrangedVerb {}
