import DefaultsTerms

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
public struct Domain: Hashable, Sendable {
    /// The most bytes that the name may have, the suffix not counted.
    public static let maximumLength = 255

    /// The name without suffix; ASCII only.
    public let name: String
    /// The layer that the suffix picked.
    public let layer: Layer

    /// For callers in this module that have checked the name against the grammar.
    init(checked name: String, layer: Layer) {
        self.name = name
        self.layer = layer
    }

    /// Another layer of the same domain.
    public func inLayer(_ layer: Layer) -> Domain {
        Domain(checked: name, layer: layer)
    }

    /// The domain's text as a caller on this machine writes it; parsing it there gives the domain
    /// back.
    ///
    /// The layer of this machine is `@host`; that of another one is `@host:NAME`, with its identity
    /// where its name is not known, or would stand for another one.
    public func spelling(on hosts: HostNames) -> String {
        guard case .host(let host) = layer else { return description }
        let isThis = host == hosts.this.id
        return name
            + (isThis
                ? LayerName.host.suffix : LayerName.suffix(ofHost: hosts.spelling(of: host)))
    }

    /// Whether the byte may stand in an element of a name.
    static func isElementByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default:
            false
        }
    }
}

extension Domain: Comparable {
    /// Orders by name, byte by byte, and within a name by layer.
    public static func < (one: Domain, other: Domain) -> Bool {
        one.name == other.name
            ? one.layer < other.layer
            : one.name.utf8.lexicographicallyPrecedes(other.name.utf8)
    }
}

extension Domain: CustomStringConvertible {
    /// The domain's text with the identity of every machine, also of this one.
    public var description: String {
        switch layer {
        case .host(let host): name + LayerName.suffix(ofHost: host.description)
        case .domain, .managed, .system: layer.name.spelling(of: name)
        }
    }
}
