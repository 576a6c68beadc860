package import DBus

/// The signal `Changed`: the names in one change, without values.
package struct ChangedSignal: Sendable, Hashable {
    /// Its declaration.
    package static let declaration = SignalDeclaration(
        "Changed",
        [
            .domain, .layer, Argument("changed", "as"), Argument("removed", "as"), .generation,
            Argument("origin", "s"),
        ])

    /// The domain, without a suffix.
    package let domain: String
    /// The name of the layer.
    package let layer: String
    /// The keys that have a new value.
    package let changed: [String]
    /// The keys that were removed.
    package let removed: [String]
    /// The generation of the change.
    package let generation: UInt64
    /// The unique bus name of the writer, or `:direct.` and a number if it is connected without a
    /// bus; empty if the change came from a file.
    package let origin: String

    /// Makes a signal.
    package init(
        domain: String, layer: String, changed: [String], removed: [String], generation: UInt64,
        origin: String
    ) {
        self.domain = domain
        self.layer = layer
        self.changed = changed
        self.removed = removed
        self.generation = generation
        self.origin = origin
    }

    /// A rule that matches the signals of all domains, or of one.
    ///
    /// - Parameter sender: The connection that sends them; nil for any.
    package static func rule(from sender: BusName?, of domain: String? = nil) -> MatchRule {
        MatchRule(
            sender: sender, path: Contract.objectPath, interface: Contract.interface,
            member: declaration.name, arguments: domain.map { [domainIndex: $0] } ?? [:])
    }

    /// The signal, as match rules see it.
    package static let address = SignalAddress(
        members: [declaration.name], interface: Contract.interface, path: Contract.objectPath)

    /// The index of the domain among the arguments, for match rules.
    package static let domainIndex = 0

    /// Writes the arguments.
    package func write(to writer: inout MessageWriter) throws {
        try writer.writeString(domain)
        try writer.writeString(layer)
        try writer.writeStrings(changed)
        try writer.writeStrings(removed)
        try writer.writeUInt64(generation)
        try writer.writeString(origin)
    }

    /// Reads a signal.
    ///
    /// - Throws: `DBusError` if its arguments do not match the contract.
    package init(_ signal: Signal) throws {
        let arguments = signal.arguments
        guard arguments.count == 6, let (domain, layer) = Self.place(of: signal),
            let changed = arguments[2].strings, let removed = arguments[3].strings,
            case .uint64(let generation) = arguments[4], case .string(let origin) = arguments[5]
        else { throw Self.isOther }
        self.init(
            domain: domain, layer: layer, changed: changed, removed: removed,
            generation: generation, origin: origin)
    }

    static let isOther = DBusError(
        .invalidSignature, "The arguments of a signal do not match the contract.")

    /// The layer and domain of a signal; nil if it does not match the contract.
    package static func place(of signal: Signal) -> (domain: String, layer: String)? {
        guard signal.arguments.count >= 2, case .string(let domain) = signal.arguments[domainIndex],
            case .string(let layer) = signal.arguments[1]
        else { return nil }
        return (domain, layer)
    }
}

extension Value {
    /// The strings of an `as`; nil for another type.
    var strings: [String]? {
        guard case .array(_, let elements) = self else { return nil }
        var strings: [String] = []
        for element in elements {
            guard case .string(let string) = element else { return nil }
            strings.append(string)
        }
        return strings
    }
}
