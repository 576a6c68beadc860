import ArgumentParser
import DefaultsClient

struct Explain: ServiceCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows which layers have a key, and which of them holds.",
        discussion: """
            The layers are listed as an application looks into them, the strongest first: managed, \
            global-managed, host, domain, global-host, global, system and global-system. An arrow marks \
            the one that holds. Behind the value stand a lock of the administrator's and the file \
            that a value or a lock is from.
            """)

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The key.")
    var key: String

    @Flag(help: "Print one JSON object, with all values whole.")
    var json = false

    func check() throws { try SearchedDomain.check(domain) }

    func run(with defaults: RemoteDefaults) async throws {
        if json {
            let explanation = try await Explanation(of: key, in: domain, asking: defaults)
            return try SafeOutput.print(json: explanation.json)
        }
        let explanation = try await Explanation(
            of: key, in: domain, largest: Explanation.largestShown, asking: defaults)
        try SafeOutput.print(explanation.text)
    }
}
