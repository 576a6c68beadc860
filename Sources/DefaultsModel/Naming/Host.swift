/// A machine: its identity, which stays, and the name that people know it by, which may change.
public struct Host: Hashable, Sendable {
    /// The identity, by which its layers are kept.
    public let id: HostID
    /// The host name, as the system gives it; it need not be one that `@host:NAME` can spell.
    public let name: String

    /// Pairs an identity with a name.
    public init(id: HostID, name: String) {
        self.id = id
        self.name = name
    }

    /// The name without the domain that it may end with: `box` of `box.example.org`.
    var shortName: String { String(name.prefix { $0 != "." }) }
}
