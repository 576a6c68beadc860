import DefaultsProtocol

/// A machine of which the database knows.
public struct RemoteHost: Sendable, Hashable {
    /// Its machine ID.
    public let id: String
    /// Its host name; empty where it is not known.
    public let name: String

    /// The name up to its first dot, as people often say it.
    fileprivate var shortName: Substring { name.prefix { $0 != "." } }
}

extension [RemoteHost] {
    /// The machines that the service takes a name or an ID for; it refuses a name that stands for
    /// several, and where it stands for none keeps values under the name itself.
    public func named(_ name: String) -> [RemoteHost] {
        if let own = first, own.id == name || own.name == name { return [own] }
        if let machine = first(where: { $0.id == name && !$0.name.isEmpty }) { return [machine] }
        if let own = first, own.shortName == name { return [own] }
        let named = filter { $0.name == name }
        return named.isEmpty ? filter { $0.shortName == name } : named
    }
}

/// The machines that share the database, by the interface that is for the project's own tool.
extension RemoteDefaults {
    /// The machines of which the database knows, the service's own first.
    public func hosts() async throws -> [RemoteHost] {
        try await call(Contract.ListHosts.self, ()).map { RemoteHost(id: $0.id, name: $0.name) }
    }
}
