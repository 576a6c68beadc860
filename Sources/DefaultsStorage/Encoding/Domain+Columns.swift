internal import DefaultsModel

extension Layer {
    /// The host of a host layer; empty for the domain layer, and for those that are made of files
    /// what no host is called.
    ///
    /// Store and journal keep this form.
    var hostColumn: String {
        switch self {
        case .domain: ""
        case .host(let host): host.name
        case .managed, .system: "@\(name)"
        }
    }

    /// Takes the form in which store and journal keep a layer; nil if it breaks the grammar.
    fileprivate init?(hostColumn: String) {
        switch hostColumn {
        case Layer.domain.hostColumn: self = .domain
        case Layer.managed.hostColumn: self = .managed
        case Layer.system.hostColumn: self = .system
        default:
            guard let host = HostID(hostColumn) else { return nil }
            self = .host(host)
        }
    }
}

extension Domain {
    /// Takes the form in which store and journal keep a domain; nil if it breaks the grammar.
    init?(name: String, hostColumn: String) {
        guard let layer = Layer(hostColumn: hostColumn),
            let domain = try? Domain(name: name, layer: layer)
        else { return nil }
        self = domain
    }
}
