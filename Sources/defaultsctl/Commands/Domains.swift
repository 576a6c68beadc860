import ArgumentParser
import DefaultsClient

struct Domains: ServiceCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the domains that have keys, one a line.")

    func run(with defaults: RemoteDefaults) async throws {
        for domain in try await defaults.domains() { print(domain) }
    }
}
