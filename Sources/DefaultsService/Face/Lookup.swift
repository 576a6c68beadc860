import DBus
import DefaultsCore
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage

/// Finds the value that applies to an application: the first layer in the search list that has the
/// key.
extension BusFace {
    /// The methods that search all layers of a domain.
    var lookupMethods: [Method] {
        [
            method(Contract.Lookup.self) { try $0.lookup($1) },
            method(Contract.LookupValue.self) { try $0.lookupValue($1) },
            method(Contract.IsLocked.self) { try $0.isLocked($1) },
            method(Contract.Explain.self) { try $0.explain($1) },
        ]
    }

    private func lookup(_ call: MethodCall) throws {
        let (stored, layer) = try lookedUpValue(
            call.arguments { try Contract.Lookup.readArguments(from: &$0, by: ApplicationNames()) },
            for: call)
        try call.reply {
            try Contract.Lookup.writeReply((stored.archive, layer), to: &$0)
        }
    }

    private func lookupValue(_ call: MethodCall) throws {
        let (stored, layer) = try lookedUpValue(
            call.arguments {
                try Contract.LookupValue.readArguments(from: &$0, by: ApplicationNames())
            }, for: call)
        try reply(to: call, with: stored) {
            try Contract.LookupValue.writeReply(($0, layer), to: &$1)
        }
    }

    private func isLocked(_ call: MethodCall) throws {
        let (domain, key) = try call.arguments {
            try Contract.IsLocked.readArguments(from: &$0, by: ApplicationNames())
        }
        let view = view(for: call, of: domain)
        let isLocked = try settings.locks.isLocked(key, in: domain, shownBy: view)
        try call.reply { try Contract.IsLocked.writeReply(isLocked, to: &$0) }
    }

    private func explain(_ call: MethodCall) throws {
        let (domain, key) = try call.arguments {
            try Contract.Explain.readArguments(from: &$0, by: ApplicationNames())
        }
        let view = view(for: call, of: domain)
        let layers = try places(of: domain, in: view).compactMap {
            try explanation(of: key, in: $0)
        }
        try call.reply { try Contract.Explain.writeReply(layers, to: &$0) }
    }

    private func lookedUpValue(
        _ arguments: (domain: Domain, key: Key), for call: MethodCall
    ) throws -> (StoredValue, layer: String) {
        let (domain, key) = arguments
        let view = view(for: call, of: domain)
        for place in places(of: domain, in: view) {
            if let stored = try view.value(place.domain, key) { return (stored, place.name) }
        }
        throw ContractError(noLayerHas: key, for: domain)
    }

    /// The places that a search looks into, of those that a view shows and that may have keys.
    private func places(of domain: Domain, in view: DatabaseView) -> [SearchList.Place] {
        SearchList(of: domain, on: hosts.this.id).places.filter {
            layers.mayHaveKeys($0.domain) && view.shows($0.domain)
        }
    }

    /// What a layer has for a key; nil if there is nothing.
    private func explanation(
        of key: Key, in place: SearchList.Place
    ) throws -> Contract.Explain.Row? {
        let domain = place.domain
        let size = try store.database.value(domain, key)?.archive.count
        let isLocked = try domain.layer == .managed && settings.locks.isLocked(key, by: domain)
        guard size != nil || isLocked else { return nil }
        let source: String
        switch domain.layer {
        case .domain, .host: source = ""
        case .managed: source = try settings.locks.pathOfLock(of: key, by: domain)
        case .system:
            source = try settings.locks.record(of: domain)?.source(of: key)?.description ?? ""
        }
        return (place.name, source, isLocked, UInt64(size ?? 0))
    }
}
