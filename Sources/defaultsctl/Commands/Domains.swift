import ArgumentParser
import DefaultsClient
import DefaultsTerms
@preconcurrency import Glibc

struct Domains: ServiceCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the domains that have keys.",
        discussion: """
            On a terminal, with --json and with -0 these are all names that the other verbs take, with the \
            layers of hosts. Into a pipe it is one line as macOS's defaults prints it, joined by ", ": \
            those for any host, or for the one that is named, without NSGlobalDomain.

            With --managed or --system these are the domains that have files of that layer, one a line, \
            with the suffix by which the other verbs read it.
            """)

    @Flag(help: "Those for which the administrator prescribes values or locks keys.")
    var managed = false

    @Flag(help: "Those for which the administrator recommends values, or a vendor ships them.")
    var system = false

    @OptionGroup var list: NameList

    @OptionGroup var host: HostOption

    func check() throws {
        guard !host.isGiven || !(managed || system) else { throw ToolError.hostOfLayer }
    }

    func run(with defaults: RemoteDefaults) async throws {
        if managed || system { return try list.print(await domainsWithFiles(of: defaults)) }
        if list.isForPrograms || isatty(STDOUT_FILENO) == 1 {
            try list.print(await defaults.domains())
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

extension Domains: MacVerb {
    static var takesDomain: Bool { false }
    static var takesHostAlone: Bool { true }
    static var shortFlags: Set<String> { ["-0"] }
}
