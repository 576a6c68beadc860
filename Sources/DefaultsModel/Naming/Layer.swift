package import DefaultsTerms

/// Which of a domain's layers is meant; a suffix of the domain's spelling picks it.
public enum Layer: Hashable, Comparable, Sendable {
    /// The user's values for every machine; no suffix.
    case domain
    /// The user's values for one machine only; `@host` or `@host:NAME`.
    case host(HostID)
    /// The administrator's values; `@managed`, read only.
    case managed
    /// The vendor's values; `@system`, read only.
    case system

    /// Whether callers may change it.
    ///
    /// A write to any other is refused as locked.
    public var isWritable: Bool { name.isWritable }

    /// The layer's name, whatever the machine.
    package var name: LayerName {
        switch self {
        case .domain: .domain
        case .host: .host
        case .managed: .managed
        case .system: .system
        }
    }
}
