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

    func run(with defaults: RemoteDefaults) async throws {
        if let path = part.path {
            let value = try value.archive()
            return try await defaults.change(key, in: domain) {
                try $0.setting(path, to: value)
            }
        }
        try await defaults.set(value.archive(), forKey: key, in: domain)
    }
}
