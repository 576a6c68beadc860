/// The layers that each domain has at the service, the strongest first.
enum CopyLayer: Int, CaseIterable {
    /// From the administrator's files.
    case managed
    /// The user's own, for this machine.
    case host
    /// The user's own.
    case domain
    /// From the administrator's and the vendors' files, for those who have nothing of their own.
    case system

    /// The domain with the suffix of the layer, as calls take it.
    func spelling(of domain: String) -> String {
        self == .domain ? domain : "\(domain)@\(self)"
    }

    /// The layer as the search list of an application calls it.
    func name(isGlobal: Bool) -> DefaultsLayer {
        switch self {
        case .managed: isGlobal ? .globalManaged : .managed
        case .host: isGlobal ? .globalHost : .host
        case .domain: isGlobal ? .global : .domain
        case .system: isGlobal ? .globalSystem : .system
        }
    }
}
