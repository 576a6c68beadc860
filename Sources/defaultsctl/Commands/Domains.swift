import ArgumentParser
import DefaultsClient
import DefaultsTerms
@preconcurrency import Glibc

struct Domains: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "domains",
        abstract: "Lists the domains that have keys.",
        discussion: """
            On a terminal, and with --json or -0, this lists all names that other verbs accept, \
            including the layers of hosts. In a pipe it prints one line like macOS's defaults, \
            joined by ", ": the domains for all hosts, or for the given one, without \
            NSGlobalDomain.

            With --managed or --system it lists the domains that have files of that layer, one on \
            each line, with the suffix that other verbs need to read it.
            """)

    @Flag(help: "Only domains with managed values or locks of the administrator.")
    var managed = false

    @Flag(help: "Only domains with values that the administrator recommends or a vendor ships.")
    var system = false

    @OptionGroup var list: NameList

    @OptionGroup var host: HostOption

    func check() throws {
        guard !host.isGiven || !(managed || system) else { throw ToolError.hostOfLayer }
    }

    func run(with defaults: RemoteDefaults) async throws {
        if managed || system { return try list.print(await domainsWithFiles(of: defaults)) }
        if list.isForPrograms || Defaultsctl.console.isTerminal(.output) {
            try list.print(await defaults.domainsOfValues())
        } else {
            let names = try await host.domains(of: defaults).map(\.name).filter {
                $0 != GlobalDomain.name
            }
            try SafeOutput.print(names.joined(separator: ", "))
        }
    }

    private func domainsWithFiles(of defaults: RemoteDefaults) async throws -> [String] {
        let files = try await defaults.layerFiles().filter {
            $0.layer == .managed ? managed : $0.layer == .system && system
        }
        return Set(files.compactMap(\.domainWithLayer)).sorted()
    }
}

extension Domains: ArrangedVerb {
    static var takesDomain: Bool { false }
    static var takesHostAlone: Bool { true }
    static var shortFlags: Set<String> { ["-0"] }
}
