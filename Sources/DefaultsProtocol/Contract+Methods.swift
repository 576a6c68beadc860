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
    /// The types of the reply.
    public let outputSignature: Signature

    init(_ name: MemberName, in input: [Argument], out output: [Argument]) {
        self.name = name
        self.input = input
        self.output = output
        outputSignature = Signature(stringLiteral: output.map(\.type.string).joined())
    }
}

extension Contract {
    /// Reads one value in the form it is stored in: an archive, with the generation of its change.
    public static let get = MethodDeclaration(
        "Get", in: [domain, key], out: [archive, generation])
    /// Stores an archive.
    public static let set = MethodDeclaration(
        "Set", in: [domain, key, archive], out: [generation])
    /// Removes a key; what is not there is no change.
    public static let remove = MethodDeclaration(
        "Remove", in: [domain, key], out: [generation])
    /// Reads one value as a D-Bus value.
    public static let getValue = MethodDeclaration(
        "GetValue", in: [domain, key], out: [value, generation])
    /// Stores a D-Bus value.
    public static let setValue = MethodDeclaration(
        "SetValue", in: [domain, key, value], out: [generation])
    /// Reads what holds for an application, as an archive, with the name of the layer that has it.
    public static let lookup = MethodDeclaration(
        "Lookup", in: [domain, key], out: [archive, layer])
    /// Reads what holds for an application as a D-Bus value.
    public static let lookupValue = MethodDeclaration(
        "LookupValue", in: [domain, key], out: [value, layer])
    /// Tells whether writes to a key are refused.
    public static let isLocked = MethodDeclaration(
        "IsLocked", in: [domain, key], out: [Argument("locked", "b")])
    /// Tells of every layer that has a key or locks it, the strongest first: its name, the file
    /// where it has one, whether it locks, and the size of its archive.
    public static let explain = MethodDeclaration(
        "Explain", in: [domain, key], out: [Argument("layers", "a(ssbt)")])
    /// Names the domains that have keys.
    public static let listDomains = MethodDeclaration(
        "ListDomains", in: [], out: [Argument("domains", "as")])
    /// Names the keys of a domain.
    public static let listKeys = MethodDeclaration(
        "ListKeys", in: [domain], out: [Argument("keys", "as")])
    /// Gives a key another name.
    public static let rename = MethodDeclaration(
        "Rename", in: [domain, Argument("old_key", "s"), Argument("new_key", "s")],
        out: [generation])
    /// Reads a whole domain.
    public static let getAll = MethodDeclaration(
        "GetAll", in: [domain], out: [Argument("entries", "a{say}"), generation])
    /// Reads a whole domain as D-Bus values.
    public static let getAllValues = MethodDeclaration(
        "GetAllValues", in: [domain],
        out: [Argument("entries", "a{sv}"), Argument("unrepresentable", "as"), generation])
    /// Removes every key of a domain in one change.
    public static let removeDomain = MethodDeclaration(
        "RemoveDomain", in: [domain], out: [generation])
    /// Reads what has changed in a domain after a generation.
    public static let getChanges = MethodDeclaration(
        "GetChanges", in: [domain, Argument("since", "t")],
        out: [
            Argument("changed", "a{say}"), Argument("large", "as"), Argument("removed", "as"),
            generation, Argument("complete", "b"),
        ])
    /// Sets and removes several keys of a domain in one change, if what is expected holds.
    public static let apply = MethodDeclaration(
        "Apply", in: [domain, Argument("set", "a{say}")] + transaction, out: [generation])
    /// The same with D-Bus values.
    public static let applyValues = MethodDeclaration(
        "ApplyValues", in: [domain, Argument("set", "a{sv}")] + transaction, out: [generation])
    /// Waits until every change acknowledged before is on disk.
    public static let synchronize = MethodDeclaration(
        "Synchronize", in: [], out: [generation])

    /// Opens the page of counters and reads whole domains, for a client that reads without asking.
    public static let attach = MethodDeclaration(
        "Attach", in: [Argument("domains", "as")],
        out: [
            Argument("page", "h"), Argument("domains", "a(sua{say}asas)"), generation,
        ])

    private static let transaction = [
        Argument("remove", "as"), Argument("expected", "a{st}"), Argument("options", "a{sv}"),
    ]
    private static let domain = Argument("domain", "s")
    private static let key = Argument("key", "s")
    private static let value = Argument("value", "v")
    private static let layer = Argument("layer", "s")
    private static let generation = Argument("generation", "t")
    /// GDBus would take `ay` for a C string that ends at the first zero byte.
    private static let archive = Argument(
        "archive", "ay", annotations: [Annotation("org.gtk.GDBus.C.ForceGVariant", "true")])
}

extension Contract {
    /// Tells of one change, by names and without values.
    public static let changed = SignalDeclaration(
        "Changed",
        [
            domain, layer, Argument("changed", "as"),
            Argument("removed", "as"), generation, Argument("origin", "s"),
        ])
}
