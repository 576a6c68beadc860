import DefaultsTerms

/// The layers that a search for an application's key looks into, the strongest first.
///
/// The application itself adds two more, which the service does not know: command line arguments
/// after `global-managed`, and registered defaults at the end.
///
/// ```swift
/// SearchList(of: "org.example.Editor", on: thisMachine).places.map(\.name)
/// // ["managed", "global-managed", "host", "domain", "global-host", "global", "system", "global-system"]
/// ```
package struct SearchList: Sendable {
    /// One entry of the list.
    package struct Place: Sendable, Equatable {
        /// Its name in the contract.
        package let name: String
        /// The domain and layer to look into.
        package let domain: Domain
    }

    /// The entries, the strongest first.
    package let places: [Place]

    /// The search list of an application.
    ///
    /// For the global domain, each of its layers is searched once.
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
