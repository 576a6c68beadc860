import ArgumentParser
import DefaultsClient
@preconcurrency import Glibc

struct Domains: ServiceCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the domains that have keys.",
        discussion: """
            On a terminal, and with --json, these are all names that the other verbs take, with the \
            layers of hosts. Into a pipe it is one line as macOS's defaults prints it, joined by ", ": \
            those for any host, or for the one that is named, without NSGlobalDomain.
            """)

    @Flag(help: "Print a JSON array.")
    var json = false

    @OptionGroup var host: HostOption

    func run(with defaults: RemoteDefaults) async throws {
        let all = try await defaults.domains()
        if json {
            let names = try all.map { try $0.quoted }
            print("[\(names.joined(separator: ","))]")
        } else if isatty(STDOUT_FILENO) == 1 {
            for name in all { SafeOutput.print(name) }
        } else {
            let names = host.domains(of: all).map(\.name).filter { $0 != GlobalDomain.name }
            print(names.joined(separator: ", "))
        }
    }
}
