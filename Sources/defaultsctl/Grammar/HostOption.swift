import ArgumentParser

/// For which host a verb is; macOS's spelling stands before the verb.
///
/// Where the verb names a domain, the grammar has made the host a part of that, and nothing is left
/// here: see ``CommandWords``.
struct HostOption: ParsableArguments {
    @Flag(help: "Of this host only, as -currentHost before the verb.")
    var currentHost = false

    @Option(help: ArgumentHelp("Of another host, as -host before the verb.", valueName: "name"))
    var host: String?

    /// The names of the domains that have keys for the host, or for any host where none was named,
    /// without suffix; and with it, as calls take them.
    func domains(of all: [String]) -> [(name: String, layer: String)] {
        let suffix = host.map { "@host:\($0)" } ?? (currentHost ? "@host" : "")
        return all.compactMap { layer in
            let name = String(layer.prefix { $0 != "@" })
            return layer == name + suffix ? (name, layer) : nil
        }
    }
}
