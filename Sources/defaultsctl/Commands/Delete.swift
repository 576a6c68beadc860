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

    @OptionGroup var change: ChangeOptions

    func run(with defaults: RemoteDefaults) async throws {
        // The service counts the removal of nothing as done; a person who mistyped wants to know.
        guard try await defaults.keys(in: domain).contains(key) else {
            throw ToolError.noKey(key, in: domain)
        }
        var edits = DomainEdits(of: domain)
        edits.isDurable = change.wait
        edits.add(.removing(part.path), of: key, ifStillAt: change.ifGeneration)
        try await edits.apply(to: defaults)
    }
}

extension Delete: EditingCommand {
    func addEdits(to document: inout ChangeDocument) {
        document.add(.removing(part.path), of: key, in: domain, ifStillAt: change.ifGeneration)
    }
}
