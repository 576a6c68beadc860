import ArgumentParser
import DefaultsClient

struct Keys: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Lists the keys of a domain, one on each line.")

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @OptionGroup var list: NameList

    @OptionGroup var search: EffectiveOption

    @OptionGroup var host: HostOption

    func check() throws { try search.check(domain) }

    func run(with defaults: RemoteDefaults) async throws {
        let keys = try await search.keys(in: domain, of: defaults)
        guard !keys.isEmpty else { throw await defaults.noDomain(domain) }
        try list.print(keys)
    }
}

extension Keys: ArrangedVerb {
    static var shortFlags: Set<String> { ["-0"] }

    static func completedDomains(with options: Set<String>) -> CompletedDomains {
        options.contains("--effective") ? .searched : .read
    }
}
