import ArgumentParser
import DefaultsClient
import KeyedArchive

struct Write: ServiceCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stores a value.",
        discussion: """
            defaultsctl write org.example.Game PlaySound -bool true
            defaultsctl write org.example.App CurrentUser --json \
            '{"$class":"Account","username":"ada"}'
            defaultsctl write org.example.App CurrentUser --path username -string grace
            """)

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The key.")
    var key: String

    @OptionGroup var part: PathOption

    @OptionGroup var value: ValueOptions

    @OptionGroup var change: ChangeOptions

    func run(with defaults: RemoteDefaults) async throws {
        var edits = DomainEdits(of: domain)
        edits.isDurable = change.wait
        edits.add(try edit(), of: key, ifStillAt: change.ifGeneration)
        try await edits.apply(to: defaults)
    }

    private func edit() throws -> Edit {
        .setting(part.path, to: try value.archive())
    }
}

extension Write: EditingCommand {
    func addEdits(to document: inout ChangeDocument) throws {
        document.add(try edit(), of: key, in: domain, ifStillAt: change.ifGeneration)
    }
}
