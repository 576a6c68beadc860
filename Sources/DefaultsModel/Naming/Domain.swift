package import DefaultsTerms

/// A domain's name together with one of its layers.
///
/// The name is `NSGlobalDomain` or an application ID: elements of `[A-Za-z0-9_-]` joined by `.`,
/// 255 bytes at most.
///
/// ```swift
/// let domain = try Domain("org.example.Editor@host", on: hosts)
/// domain.name                // "org.example.Editor"
/// domain.layer               // .host(hosts.this.id)
/// domain.spelling(on: hosts) // "org.example.Editor@host"
/// ```
package struct Domain: Hashable, Sendable {
    /// The most bytes that the name may have, without the suffix.
    package static let maximumLength = DomainRule.maximumLength

    /// The name without suffix; ASCII only.
    package let name: String
    /// The layer that the suffix selects.
    package let layer: Layer

    /// For callers in this module that have validated the name.
    init(checked name: String, layer: Layer) {
        self.name = name
        self.layer = layer
    }

    /// Another layer of the same domain.
    package func inLayer(_ layer: Layer) -> Domain {
        Domain(checked: name, layer: layer)
    }

    /// The domain as a caller on this machine spells it.
    ///
    /// Parsing this text on this machine gives the domain back.
    ///
    /// The layer of this machine is `@host`, and that of another machine is `@host:NAME`. The
    /// machine's ID is used in place of its name if the name is unknown or could mean another
    /// machine.
    package func spelling(on hosts: HostNames) -> String {
        guard case .host(let host) = layer else { return description }
        let isThis = host == hosts.this.id
        return name
            + (isThis
                ? LayerName.host.suffix : LayerName.suffix(ofHost: hosts.spelling(of: host)))
    }
}

extension Domain: Comparable {
    /// Compares by name, byte by byte, and then by layer.
    package static func < (one: Domain, other: Domain) -> Bool {
        one.name == other.name
            ? one.layer < other.layer
            : one.name.utf8.lexicographicallyPrecedes(other.name.utf8)
    }
}

extension Domain: CustomStringConvertible {
    /// The domain with the ID of the machine, also for this machine.
    package var description: String {
        switch layer {
        case .host(let host): name + LayerName.suffix(ofHost: host.description)
        case .domain, .managed, .system: layer.name.spelling(of: name)
        }
    }
}

extension Domain {
    /// Parses a domain as a caller spells it: a name, and optionally a suffix that selects a layer.
    ///
    /// - Parameters:
    ///   - text: Such as `org.example.Editor`, or the same with `@host`, `@host:NAME`, `@managed`
    ///     or `@system`.
    ///   - hosts: This machine, which `@host` means, and the others that `@host:NAME` may mean. A
    ///     name that none of them has is used as an ID, because that machine may be added later.
    /// - Throws: `ModelError` with code `.invalidDomain`, which says what is wrong and at which
    ///   byte. A host name that several other machines have is an error, too.
    package init(_ text: String, on hosts: HostNames) throws(ModelError) {
        let utf8 = text.utf8
        let end = utf8.firstIndex(of: UInt8(ascii: "@")) ?? utf8.endIndex
        try Domain.checkName(utf8[..<end], of: text)
        let layer = try Domain.parseLayer(text[end...], of: text, on: hosts)
        self.init(checked: String(text[..<end]), layer: layer)
    }

    /// Parses the name of an application or of the global domain.
    ///
    /// A suffix is not allowed.
    ///
    /// - Throws: `ModelError` with code `.invalidDomain`, which says what is wrong and at which
    ///   byte.
    package init(ofApplication text: String) throws(ModelError) {
        guard let offset = text.utf8.firstIndex(of: UInt8(ascii: "@")) else {
            self = try Domain(name: text, layer: .domain)
            return
        }
        throw .layerOfSearch(
            in: text, offset: text.utf8.distance(from: text.startIndex, to: offset))
    }

    /// Makes a domain from a name without a suffix and a layer.
    ///
    /// - Throws: `ModelError` with code `.invalidDomain`, which says what is wrong and at which
    ///   byte.
    package init(name: String, layer: Layer) throws(ModelError) {
        try Domain.checkName(name.utf8[...], of: name)
        self.init(checked: name, layer: layer)
    }

    private static func checkName(
        _ name: Substring.UTF8View, of text: String
    ) throws(ModelError) {
        do throws(DomainRule.Fault) {
            try DomainRule.check(name)
        } catch {
            switch error {
            case .empty: throw .emptyDomain(text)
            case .tooLong(let length): throw .overlongDomain(text, length: length)
            case .emptyElement(let offset): throw .emptyElement(in: text, offset: offset)
            case .strayByte(let offset): throw .strayCharacter(in: text, offset: offset)
            }
        }
    }

    /// Parses a suffix, which begins with `@` or is empty.
    private static func parseLayer(
        _ suffix: Substring, of text: String, on hosts: HostNames
    ) throws(ModelError) -> Layer {
        switch suffix {
        case LayerName.domain.suffix: return .domain
        case LayerName.host.suffix: return .host(hosts.this.id)
        case LayerName.managed.suffix: return .managed
        case LayerName.system.suffix: return .system
        default:
            let offset = text.utf8.count - suffix.utf8.count
            let prefix = LayerName.suffix(ofHost: "")
            guard suffix.hasPrefix(prefix) else { throw .unknownLayer(in: text, offset: offset) }
            guard let literal = HostID(suffix.dropFirst(prefix.count)) else {
                throw .invalidHost(in: text, offset: offset + prefix.utf8.count)
            }
            let machines = hosts.machines(named: literal.name)
            guard machines.count <= 1 else {
                throw .ambiguousHost(in: text, offset: offset + prefix.utf8.count, machines)
            }
            return .host(machines.first ?? literal)
        }
    }
}

/// A layer of a domain, which the suffix of the domain's spelling selects.
package enum Layer: Hashable, Comparable, Sendable {
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
    /// A write to any other layer is refused as locked.
    package var isWritable: Bool { name.isWritable }

    /// The layer's name, which is the same for all machines.
    package var name: LayerName {
        switch self {
        case .domain: .domain
        case .host: .host
        case .managed: .managed
        case .system: .system
        }
    }
}
