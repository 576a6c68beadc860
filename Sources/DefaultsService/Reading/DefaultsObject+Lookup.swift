import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import KeyedArchive

/// What holds for an application: the first layer of the search list that has the key.
extension DefaultsObject {
    func lookup(_ call: MethodCall) throws {
        let (stored, layer) = try lookedUpValue(of: call)
        try call.reply {
            try $0.writeBytes(stored.archive)
            try $0.writeString(layer)
        }
    }

    func lookupValue(_ call: MethodCall) throws {
        let (stored, layer) = try lookedUpValue(of: call)
        try reply(to: call, with: stored) { try $0.writeString(layer) }
    }

    func isLocked(_ call: MethodCall) throws {
        let (domain, key) = try applicationAndKey(of: call)
        let isLocked = try isLocked(key, in: domain)
        try call.reply { try $0.writeBool(isLocked) }
    }

    func explain(_ call: MethodCall) throws {
        let (domain, key) = try applicationAndKey(of: call)
        let layers = try SearchList(of: domain, on: hosts.this.id).places.compactMap {
            try explanation(of: key, in: $0)
        }
        try call.reply { reply in
            try reply.writeArray(of: "(ssbt)") { array in
                for layer in layers {
                    try array.writeStructure {
                        try $0.writeString(layer.name)
                        try $0.writeString(layer.source)
                        try $0.writeBool(layer.isLocked)
                        try $0.writeUInt64(UInt64(layer.size))
                    }
                }
            }
        }
    }

    private func lookedUpValue(of call: MethodCall) throws -> (StoredValue, layer: String) {
        let (domain, key) = try applicationAndKey(of: call)
        for place in SearchList(of: domain, on: hosts.this.id).places
        where layers.mayHaveKeys(place.domain) {
            if let stored = try database.value(place.domain, key) { return (stored, place.name) }
        }
        throw DefaultsError(noLayerHas: key, for: domain)
    }

    private func applicationAndKey(of call: MethodCall) throws -> (Domain, Key) {
        try call.arguments { arguments in
            (
                try Domain(ofApplication: arguments.readString()),
                try Key(arguments.readString())
            )
        }
    }

    /// What a layer has to say of a key.
    private struct Explanation {
        let name: String
        /// The file that the value or the lock is from; empty for a layer of the user.
        let source: String
        let isLocked: Bool
        /// The size of the archive in bytes; 0 where the layer has no value.
        let size: Int
    }

    /// What a layer has to say of a key; nil where that is nothing.
    private func explanation(
        of key: Key, in place: SearchList.Place
    ) throws -> Explanation? {
        let domain = place.domain
        guard layers.mayHaveKeys(domain) else { return nil }
        let size = try database.value(domain, key)?.archive.count
        let isLocked = try domain.layer == .managed && isLocked(key, by: domain)
        guard size != nil || isLocked else { return nil }
        let source: String
        switch domain.layer {
        case .domain, .host: source = ""
        case .managed: source = try pathOfLock(of: key, by: domain)
        case .system: source = try fileRecord(of: domain)?.source(of: key)?.description ?? ""
        }
        return Explanation(
            name: place.name, source: source, isLocked: isLocked, size: size ?? 0)
    }
}
