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
            """)

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The key.")
    var key: String

    @OptionGroup var value: ValueOptions

    func run(with defaults: RemoteDefaults) async throws {
        try await defaults.set(value.archive(), forKey: key, in: domain)
    }
}
