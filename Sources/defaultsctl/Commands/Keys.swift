import ArgumentParser
import DefaultsClient

struct Keys: ServiceCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the keys of a domain, one a line.")

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @OptionGroup var list: NameList

    @OptionGroup var host: HostOption

    func run(with defaults: RemoteDefaults) async throws {
        let keys = try await defaults.keys(in: domain)
        guard !keys.isEmpty else { throw await defaults.noDomain(domain) }
        try list.print(keys)
    }
}
