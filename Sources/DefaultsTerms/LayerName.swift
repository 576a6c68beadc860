/// The layers that each domain has, the strongest first.
///
/// The raw values are the names on the bus: in the signal `Changed`, in the suffixes of domains, and
/// in what the maintenance calls tell.
package enum LayerName: String, CaseIterable, Sendable {
    /// From the administrator's files; read only.
    case managed = "managed"
    /// The user's own, for one machine only.
    case host = "host"
    /// The user's own.
    case domain = "domain"
    /// From the administrator's and the vendors' files, for those who have nothing of their own; read
    /// only.
    case system = "system"

    /// What separates the name of a domain from its suffix.
    package static let separator = "@"
    /// What separates the suffix of the host layer from the name of another machine.
    package static let hostSeparator = ":"

    /// The place of the layer among all, from 0.
    package var index: Int {
        switch self {
        case .managed: 0
        case .host: 1
        case .domain: 2
        case .system: 3
        }
    }

    /// The suffix that picks the layer, such as `@host`; empty for the user's own values.
    package var suffix: String {
        self == .domain ? "" : Self.separator + rawValue
    }

    /// The suffix that picks the layer of another machine.
    package static func suffix(ofHost name: String) -> String {
        host.suffix + hostSeparator + name
    }

    /// A domain with the suffix of the layer, as calls take it.
    package func spelling(of domain: String) -> String {
        self == .domain ? domain : domain + suffix
    }

    /// Whether the suffix of a domain picks a layer that callers may not change.
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

/// The places in which an application's keys are looked for, the strongest first.
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

    /// The places for a domain, the strongest first; the shared domain's own layers are searched once.
    package static func order(of domain: String) -> [SearchPlace] {
        domain == GlobalDomain.name ? allCases.filter { !$0.isGlobal } : allCases
    }

    /// The place of a layer of the application's own domain, or of the shared one.
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

    /// Whether it is a layer of the domain that all applications share.
    package var isGlobal: Bool {
        switch self {
        case .globalManaged, .globalHost, .global, .globalSystem: true
        case .managed, .host, .domain, .system: false
        }
    }

    /// The name of the domain that the place belongs to, for an application.
    package func domain(of application: String) -> String {
        isGlobal ? GlobalDomain.name : application
    }
}
