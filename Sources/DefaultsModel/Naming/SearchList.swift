import DefaultsTerms

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
package struct SearchList: Sendable {
    /// One of the layers.
    package struct Place: Sendable, Equatable {
        /// What the contract calls it.
        package let name: String
        /// Where the key is looked for.
        package let domain: Domain
    }

    /// The layers, the strongest first.
    package let places: [Place]

    /// The search list of an application, or that of the global domain by itself, whose layers are
    /// looked through once.
    package init(of domain: Domain, on host: HostID) {
        places = SearchPlace.order(of: domain.name).map { place in
            let layer: Layer =
                switch place.layer {
                case .managed: .managed
                case .host: .host(host)
                case .domain: .domain
                case .system: .system
                }
            let name = place.domain(of: domain.name)
            return Place(name: place.rawValue, domain: Domain(checked: name, layer: layer))
        }
    }
}
