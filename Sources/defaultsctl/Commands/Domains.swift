import ArgumentParser
import DefaultsClient
@preconcurrency import Glibc

struct Domains: ServiceCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the domains that have keys.",
        discussion: """
            On a terminal, with --json and with -0 these are all names that the other verbs take, with the \
            layers of hosts. Into a pipe it is one line as macOS's defaults prints it, joined by ", ": \
            those for any host, or for the one that is named, without NSGlobalDomain.
            """)

    @OptionGroup var list: NameList

    @OptionGroup var host: HostOption

    func run(with defaults: RemoteDefaults) async throws {
        let all = try await defaults.domains()
        if list.isForPrograms || isatty(STDOUT_FILENO) == 1 {
            try list.print(all)
        } else {
            let names = host.domains(of: all).map(\.name).filter { $0 != GlobalDomain.name }
            try SafeOutput.print(names.joined(separator: ", "))
        }
    }
}
