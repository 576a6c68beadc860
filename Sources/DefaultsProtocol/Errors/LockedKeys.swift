import DBus

/// The locked keys of one domain that a refused change has named.
///
/// The error `Locked` has a list of these after its message, of the type `a(sas)`. Each domain is in
/// it once, so the list is hardly larger than the call.
package struct LockedKeys: Hashable, Sendable {
    /// The domain, with the suffix of its layer.
    package let domain: String
    /// The keys, in the order of the call.
    package let keys: [String]

    /// Makes an element of the list.
    package init(domain: String, keys: [String]) {
        self.domain = domain
        self.keys = keys
    }
}

extension LockedKeys {
    private static let type: Signature = "(sas)"

    /// The list as a value.
    static func value(of list: [LockedKeys]) -> Value {
        .array(
            of: type,
            list.map {
                .structure([.string($0.domain), .array(of: "s", $0.keys.map(Value.string))])
            })
    }

    /// Reads the list from a value; nil if it is another value.
    static func list(_ value: Value) -> [LockedKeys]? {
        guard case .array(of: type, let elements) = value else { return nil }
        return elements.compactMap(LockedKeys.init)
    }

    private init?(_ element: Value) {
        guard case .structure(let fields) = element, fields.count == 2,
            case .string(let domain) = fields[0], case .array(of: "s", let keys) = fields[1]
        else { return nil }
        self.init(
            domain: domain,
            keys: keys.compactMap { if case .string(let key) = $0 { key } else { nil } })
    }
}
