/// The layers of a domain, the strongest first.
///
/// The raw values are the names on the bus: in the signal `Changed`, in the suffixes of domains,
/// and in the replies of the maintenance calls.
package enum LayerName: String, CaseIterable, Sendable {
    /// From the administrator's files; read only.
    case managed = "managed"
    /// The user's values, for one machine only.
    case host = "host"
    /// The user's values, for all machines.
    case domain = "domain"
    /// From the administrator's and the vendors' files, for users who have not set a value; read
    /// only.
    case system = "system"

    /// What separates the name of a domain from its suffix.
    package static let separator = "@"
    /// What separates the suffix of the host layer from the name of another machine.
    package static let hostSeparator = ":"

    /// The position of the layer in the list, from 0.
    package var index: Int {
        switch self {
        case .managed: 0
        case .host: 1
        case .domain: 2
        case .system: 3
        }
    }

    /// The suffix that selects the layer, such as `@host`; empty for the user's values for all
    /// machines.
    package var suffix: String {
        self == .domain ? "" : Self.separator + rawValue
    }

    /// The suffix that selects the host layer of another machine.
    package static func suffix(ofHost name: String) -> String {
        host.suffix + hostSeparator + name
    }

    /// A domain with the suffix of the layer, as calls spell it.
    package func spelling(of domain: String) -> String {
        self == .domain ? domain : domain + suffix
    }

    /// Whether the suffix of a domain selects a layer that callers may not change.
    package static func isReadOnly(_ domain: String) -> Bool {
        allCases.contains { !$0.isWritable && domain.hasSuffix($0.suffix) }
    }

    /// Whether callers may change the layer.
    package var isWritable: Bool {
        switch self {
        case .host, .domain: true
        case .managed, .system: false
        }
    }
}

/// The domain that all applications share.
package enum GlobalDomain {
    /// The name of the domain.
    package static let name = "NSGlobalDomain"
}

/// One entry of the search list: a layer of the application's domain or of the global domain.
///
/// The strongest is first.
///
/// The raw values are the names on the bus: in the replies of `Lookup` and `Explain`.
package enum SearchPlace: String, CaseIterable, Sendable {
    case managed = "managed"
    case globalManaged = "global-managed"
    case host = "host"
    case domain = "domain"
    case globalHost = "global-host"
    case global = "global"
    case system = "system"
    case globalSystem = "global-system"

    /// The search list of a domain, the strongest first.
    ///
    /// For the global domain, each of its layers is searched once.
    package static func order(of domain: String) -> [SearchPlace] {
        domain == GlobalDomain.name ? allCases.filter { !$0.isGlobal } : allCases
    }

    /// The entry for a layer of the application's own domain or of the global domain.
    package init(_ layer: LayerName, isGlobal: Bool) {
        switch layer {
        case .managed: self = isGlobal ? .globalManaged : .managed
        case .host: self = isGlobal ? .globalHost : .host
        case .domain: self = isGlobal ? .global : .domain
        case .system: self = isGlobal ? .globalSystem : .system
        }
    }

    /// The layer.
    package var layer: LayerName {
        switch self {
        case .managed, .globalManaged: .managed
        case .host, .globalHost: .host
        case .domain, .global: .domain
        case .system, .globalSystem: .system
        }
    }

    /// Whether the layer belongs to the global domain.
    package var isGlobal: Bool {
        switch self {
        case .globalManaged, .globalHost, .global, .globalSystem: true
        case .managed, .host, .domain, .system: false
        }
    }

    /// The domain that an application's search looks into at this entry.
    package func domain(of application: String) -> String {
        isGlobal ? GlobalDomain.name : application
    }
}
