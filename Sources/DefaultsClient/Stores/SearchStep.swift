/// A place in which a store looks for a key.
enum SearchStep {
    /// A layer of a domain.
    case copy(DomainCopy, CopyLayer)
    /// The command line.
    case arguments
    /// What the application has registered.
    case registered

    /// The places in which an application's domain is looked for, the strongest first.
    ///
    /// - Parameter global: The domain of all applications; nil where that is the domain itself.
    static func searchList(of own: DomainCopy, _ global: DomainCopy?) -> [SearchStep] {
        func steps(_ layers: CopyLayer...) -> [SearchStep] {
            [own, global].compactMap { $0 }.flatMap { copy in layers.map { .copy(copy, $0) } }
        }
        return steps(.managed) + [.arguments] + steps(.host, .domain) + steps(.system)
            + [.registered]
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
