public import DBus

/// One method of the contract: its name and its arguments, without anybody who answers it.
///
/// The service pairs each with a handler, the client calls them by the same declaration, so that
/// neither can drift from the other.
public struct MethodDeclaration: Sendable {
    /// The member name, such as `Get`.
    public let name: MemberName
    /// The arguments that the caller sends.
    public let input: [Argument]
    /// The arguments of the reply.
    public let output: [Argument]

    init(_ name: MemberName, in input: [Argument], out output: [Argument]) {
        self.name = name
        self.input = input
        self.output = output
    }
}

extension Contract {
    /// `Get(domain, key) -> (archive, generation)`
    public static let get = MethodDeclaration(
        "Get", in: [domain, key], out: [archive, generation])
    /// `Set(domain, key, archive) -> generation`
    public static let set = MethodDeclaration(
        "Set", in: [domain, key, archive], out: [generation])
    /// `Remove(domain, key) -> generation`
    public static let remove = MethodDeclaration(
        "Remove", in: [domain, key], out: [generation])
    /// `GetValue(domain, key) -> (value, generation)`
    public static let getValue = MethodDeclaration(
        "GetValue", in: [domain, key], out: [value, generation])
    /// `SetValue(domain, key, value) -> generation`
    public static let setValue = MethodDeclaration(
        "SetValue", in: [domain, key, value], out: [generation])
    /// `ListDomains() -> domains`
    public static let listDomains = MethodDeclaration(
        "ListDomains", in: [], out: [Argument("domains", "as")])
    /// `ListKeys(domain) -> keys`
    public static let listKeys = MethodDeclaration(
        "ListKeys", in: [domain], out: [Argument("keys", "as")])
    /// `Synchronize() -> generation`
    public static let synchronize = MethodDeclaration(
        "Synchronize", in: [], out: [generation])

    private static let domain = Argument("domain", "s")
    private static let key = Argument("key", "s")
    private static let value = Argument("value", "v")
    private static let generation = Argument("generation", "t")
    /// GDBus would take `ay` for a C string that ends at the first zero byte.
    private static let archive = Argument(
        "archive", "ay", annotations: [Annotation("org.gtk.GDBus.C.ForceGVariant", "true")])
}

extension Contract {
    /// `Changed(domain, layer, changed, removed, generation, origin)`: one for each change.
    public static let changed = SignalDeclaration(
        "Changed",
        [
            domain, Argument("layer", "s"), Argument("changed", "as"),
            Argument("removed", "as"), generation, Argument("origin", "s"),
        ])
}
