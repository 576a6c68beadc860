import DefaultsTerms

/// A place in which a store looks for a key.
enum SearchStep {
    /// A layer of a domain.
    case copy(DomainCopy, LayerName)
    /// The command line.
    case arguments
    /// What the application has registered.
    case registered

    /// The places in which an application's domain is looked for, the strongest first.
    ///
    /// - Parameter global: The domain of all applications; nil where that is the domain itself.
    static func searchList(of own: DomainCopy, _ global: DomainCopy?) -> [SearchStep] {
        func steps(_ places: some Sequence<SearchPlace>) -> [SearchStep] {
            places.compactMap { place in
                (place.isGlobal ? global : own).map { .copy($0, place.layer) }
            }
        }
        let prescribed = SearchPlace.allCases.prefix { $0.layer == .managed }
        return steps(prescribed) + [.arguments]
            + steps(SearchPlace.allCases.dropFirst(prescribed.count)) + [.registered]
    }
}

/// What holds for a key.
struct Found {
    /// The value; nil where no layer has one.
    var entry: Entry?
    /// The layer that has it.
    var layer: DefaultsLayer?
    /// The domain, with its suffix, in which the service has it.
    var spelling: String?
}
