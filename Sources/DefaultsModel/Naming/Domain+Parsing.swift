import DefaultsTerms

extension Domain {
    /// Reads a domain as a caller writes it: a name, and perhaps a suffix that picks a layer.
    ///
    /// - Parameters:
    ///   - text: Such as `org.example.Editor`, or the same with `@host`, `@host:NAME`, `@managed`
    ///     or `@system`.
    ///   - hosts: This machine, which `@host` means, and the others that `@host:NAME` may mean. A
    ///     name that none of them has stands for itself, as for a machine that is yet to come.
    /// - Throws: `ModelError` with code `.invalidDomain`, which says what is wrong and at which
    ///   byte; also where several others have the name.
    public init(_ text: String, on hosts: HostNames) throws(ModelError) {
        let utf8 = text.utf8
        let end = utf8.firstIndex(of: UInt8(ascii: "@")) ?? utf8.endIndex
        try Domain.checkName(utf8[..<end], of: text)
        let layer = try Domain.parseLayer(text[end...], of: text, on: hosts)
        self.init(checked: String(text[..<end]), layer: layer)
    }

    /// Reads the name of an application, or of the global domain: no suffix picks a layer.
    ///
    /// - Throws: `ModelError` with code `.invalidDomain`, which says what is wrong and at which
    ///   byte.
    public init(ofApplication text: String) throws(ModelError) {
        guard let offset = text.utf8.firstIndex(of: UInt8(ascii: "@")) else {
            self = try Domain(name: text, layer: .domain)
            return
        }
        throw .layerOfSearch(
            in: text, offset: text.utf8.distance(from: text.startIndex, to: offset))
    }

    /// Takes a name that has no suffix, and a layer.
    ///
    /// - Throws: `ModelError` with code `.invalidDomain`, which says what is wrong and at which
    ///   byte.
    public init(name: String, layer: Layer) throws(ModelError) {
        try Domain.checkName(name.utf8[...], of: name)
        self.init(checked: name, layer: layer)
    }

    private static func checkName(
        _ name: Substring.UTF8View, of text: String
    ) throws(ModelError) {
        guard !name.isEmpty else { throw .emptyDomain(text) }
        guard name.count <= maximumLength else { throw .overlongDomain(text, length: name.count) }
        var elementIsEmpty = true
        for (offset, byte) in name.enumerated() {
            if byte == UInt8(ascii: ".") {
                guard !elementIsEmpty else { throw .emptyElement(in: text, offset: offset) }
                elementIsEmpty = true
            } else {
                guard isElementByte(byte) else { throw .strayCharacter(in: text, offset: offset) }
                elementIsEmpty = false
            }
        }
        guard !elementIsEmpty else { throw .emptyElement(in: text, offset: name.count) }
    }

    /// Reads a suffix, which begins with `@` or is empty.
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
