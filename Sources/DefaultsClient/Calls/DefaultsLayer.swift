import DefaultsTerms

/// A layer of the search list, by the name that the daemon gives it.
///
/// What holds for an application is what the first layer of ``searchList(of:)`` has that has the key.
/// A name that this version does not know is kept as it is.
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

    /// What the administrator prescribes for the domain.
    public static let managed = DefaultsLayer(.managed)
    /// What the administrator prescribes for all domains.
    public static let globalManaged = DefaultsLayer(.globalManaged)
    /// The user's own, for this machine only.
    public static let host = DefaultsLayer(.host)
    /// The user's own.
    public static let domain = DefaultsLayer(.domain)
    /// The user's own for all domains, for this machine only.
    public static let globalHost = DefaultsLayer(.globalHost)
    /// The user's own for all domains.
    public static let global = DefaultsLayer(.global)
    /// What the administrator recommends, or the vendor ships.
    public static let system = DefaultsLayer(.system)
    /// What the administrator recommends, or the vendor ships, for all domains.
    public static let globalSystem = DefaultsLayer(.globalSystem)

    /// What the program was given on its command line; only this process knows of it.
    public static let arguments = DefaultsLayer(rawValue: "arguments")
    /// What the program has registered for the case that there is nothing else; only this process
    /// knows of it.
    public static let registered = DefaultsLayer(rawValue: "registered")

    /// The layers that an application's domain is looked up in, the strongest first.
    ///
    /// Those of all domains are NSGlobalDomain's own, so that for itself each is there once.
    public static func searchList(of domain: String) -> [DefaultsLayer] {
        SearchPlace.order(of: domain).map { DefaultsLayer($0) }
    }

    /// The domain, with the suffix of its layer, in which calls such as `archive(forKey:in:)` find
    /// what the layer has; nil for a layer that this version does not know.
    ///
    /// - Parameter name: The domain of the application, without a suffix.
    public func domain(of name: String) -> String? {
        SearchPlace(rawValue: rawValue).map { $0.layer.spelling(of: $0.domain(of: name)) }
    }

    /// The name.
    public var description: String { rawValue }
}
