internal import DefaultsModel

extension Layer {
    /// The host of a host layer; empty for the domain layer.
    ///
    /// Store and journal keep this form.
    var hostColumn: String {
        switch self {
        case .domain: return ""
        case .host(let host): return host.name
        case .managed, .system:
            preconditionFailure("the \(name) layer is read from files and never stored")
        }
    }
}

extension Domain {
    /// Takes the form in which store and journal keep a domain; nil where it breaks the grammar.
    init?(name: String, hostColumn: String) {
        let layer: Layer
        if hostColumn.isEmpty {
            layer = .domain
        } else {
            guard let host = HostID(hostColumn) else { return nil }
            layer = .host(host)
        }
        guard let domain = try? Domain(name: name, layer: layer) else { return nil }
        self = domain
    }
}
