import DefaultsTerms

/// A layer: one source of values for a domain.
///
/// The first layer of ``searchList(of:)`` that has a key decides its value. A layer that this version
/// does not know keeps its name.
public struct DefaultsLayer: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name, such as `global-host`.
    public let rawValue: String

    /// A layer by its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    init(_ place: SearchPlace) {
        self.init(rawValue: place.rawValue)
    }

    /// Values that the administrator prescribes for the domain.
    public static let managed = DefaultsLayer(.managed)
    /// Values that the administrator prescribes for all domains.
    public static let globalManaged = DefaultsLayer(.globalManaged)
    /// The user's own values for this machine only.
    public static let host = DefaultsLayer(.host)
    /// The user's own values.
    public static let domain = DefaultsLayer(.domain)
    /// The user's own values for all domains, for this machine only.
    public static let globalHost = DefaultsLayer(.globalHost)
    /// The user's own values for all domains.
    public static let global = DefaultsLayer(.global)
    /// Values that the administrator recommends, or the vendor ships.
    public static let system = DefaultsLayer(.system)
    /// Values that the administrator recommends, or the vendor ships, for all domains.
    public static let globalSystem = DefaultsLayer(.globalSystem)

    /// Values on the program's command line, for this process only.
    public static let arguments = DefaultsLayer(rawValue: "arguments")
    /// Values that the program has registered, for this process only.
    ///
    /// They are in effect if no other layer has the key.
    public static let registered = DefaultsLayer(rawValue: "registered")

    /// The layers in which the service looks up the keys of a domain, the strongest first.
    ///
    /// ``arguments`` and ``registered`` are not included, because the service does not know them. For
    /// NSGlobalDomain each layer is in the list once.
    public static func searchList(of domain: String) -> [DefaultsLayer] {
        SearchPlace.order(of: domain).map { DefaultsLayer($0) }
    }

    /// The domain with the suffix of this layer, as calls such as
    /// ``RemoteDefaults/archive(forKey:in:)`` take it.
    ///
    /// - Parameter name: The domain of the application, without a suffix.
    /// - Returns: Nil for a layer that this version does not know, or that the service does not have.
    public func domain(of name: String) -> String? {
        SearchPlace(rawValue: rawValue).map { $0.layer.spelling(of: $0.domain(of: name)) }
    }

    /// The name.
    public var description: String { rawValue }
}
