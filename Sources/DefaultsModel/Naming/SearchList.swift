/// Where a key of an application is looked for: the layers that stand in files and in the database,
/// the strongest first.
///
/// (Arguments of the command line stand behind `managed`, registered defaults last of all; both are
/// known to the application alone.)
///
/// ```swift
/// SearchList(of: "org.example.Editor", on: thisMachine).places.map(\.name)
/// // ["managed", "global-managed", "host", "domain", "global-host", "global", "system", "global-system"]
/// ```
public struct SearchList: Sendable {
    /// One of the layers.
    public struct Place: Sendable, Equatable {
        /// What the contract calls it.
        public let name: String
        /// Where the key is looked for.
        public let domain: Domain
    }

    /// The layers, the strongest first.
    public let places: [Place]

    /// The search list of an application, or that of the global domain by itself, whose layers are
    /// looked through once.
    public init(of domain: Domain, on host: HostID) {
        func place(_ name: String, _ domain: String, _ layer: Layer) -> Place {
            Place(name: name, domain: Domain(checked: domain, layer: layer))
        }
        let (own, global) = (domain.name, Domain.globalName)
        places =
            own == global
            ? [
                place("managed", own, .managed), place("host", own, .host(host)),
                place("domain", own, .domain), place("system", own, .system),
            ]
            : [
                place("managed", own, .managed), place("global-managed", global, .managed),
                place("host", own, .host(host)), place("domain", own, .domain),
                place("global-host", global, .host(host)), place("global", global, .domain),
                place("system", own, .system), place("global-system", global, .system),
            ]
    }
}
