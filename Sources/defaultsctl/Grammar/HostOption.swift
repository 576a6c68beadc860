import ArgumentParser
import DefaultsClient
import DefaultsTerms

/// For which host a verb is; macOS's spelling stands before the verb.
///
/// Where the verb names a domain, the grammar has made the host a part of that, and nothing is left
/// here: see ``CommandWords``.
struct HostOption: ParsableArguments {
    @Flag(help: "Of this host only, as -currentHost before the verb.")
    var currentHost = false

    @Option(help: ArgumentHelp("Of another host, as -host before the verb.", valueName: "name"))
    var host: String?

    /// Whether a host was named apart from a domain.
    var isGiven: Bool { currentHost || host != nil }

    /// The names of the domains that have keys for the host, or for any host where none was named,
    /// without suffix; and with it, as calls take them.
    func domains(
        of defaults: RemoteDefaults
    ) async throws -> [(name: String, layer: String)] {
        let suffixes = try await suffixes(of: defaults)
        return try await defaults.domains().compactMap { layer in
            let name = layer.prefix { $0 != "@" }
            let suffix = layer.dropFirst(name.count)
            return suffixes.contains(String(suffix)) ? (String(name), layer) : nil
        }
    }

    /// How the layers in question may be spelled: the service names a host by its name, and by its ID
    /// where the name would not do, whichever of them was typed.
    private func suffixes(of defaults: RemoteDefaults) async throws -> [String] {
        guard let host else { return [currentHost ? LayerName.host.suffix : ""] }
        // An older daemon knows no names, nor does any tell one in a sandbox.
        let hosts = (try? await defaults.hosts()) ?? []
        let machines = hosts.named(host)
        if machines.count > 1 {
            // The service has the words for that.
            let suffix = LayerName.suffix(ofHost: host)
            _ = try await defaults.keys(in: GlobalDomain.name + suffix)
        }
        guard let machine = machines.first else { return [LayerName.suffix(ofHost: host)] }
        return machine == hosts.first
            ? [LayerName.host.suffix] : [machine.name, machine.id].map(LayerName.suffix(ofHost:))
    }
}
