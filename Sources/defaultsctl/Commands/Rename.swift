import ArgumentParser
import DefaultsClient
import DefaultsProtocol

struct Rename: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Renames a key.",
        discussion: "If the new name exists, nothing is changed, unless --replace is given.")

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The key.")
    var oldKey: String

    @Argument(help: "Its new name.")
    var newKey: String

    @Flag(help: "Replace an existing value under the new name.")
    var replace = false

    @OptionGroup var change: ChangeOptions

    @OptionGroup var host: HostOption

    func run(with defaults: RemoteDefaults) async throws {
        do {
            // On macOS an existing value is always replaced.
            try await defaults.move(
                oldKey, to: newKey, in: domain,
                replacing: replace || ProgramName.current == .defaults)
            UnknownKeys.remark(on: [newKey], in: domain)
            try await change.finish(oldKey != newKey, on: defaults)
        } catch let error as DefaultsError where error.code == .notFound {
            throw ToolError.noKeyToRename(
                oldKey, in: domain, meant: await defaults.nameNear(oldKey, in: domain))
        }
    }
}

extension Rename: ArrangedVerb {}
