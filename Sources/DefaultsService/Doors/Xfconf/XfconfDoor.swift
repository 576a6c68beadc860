import DBus
import DefaultsCore
import DefaultsFiles
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms
import DefaultsXfconf
import KeyedArchive

// Invariants
//
// 1. A property is a key of the channel's domain. It has the value of the first layer that has the
//    key: managed, host, domain, system. The global domain has no part in it.
// 2. A value of a type that Xfconf does not have counts as none.
// 3. Callers have the same rights as in the contract.

/// The door for programs of Xfce: the interface of Xfconf.
final class XfconfDoor: Door {
    static let name = "xfconf"
    static let summary = "the settings of Xfce"
    static let busName = Xfconf.busName
    static let signals = SignalAddress(
        members: [Xfconf.propertyChanged.name, Xfconf.propertyRemoved.name],
        interface: Xfconf.interface, path: Xfconf.objectPath)

    let face: BusFace
    private(set) lazy var keySignals: KeySignals? = makeSignals()

    init(on face: BusFace, beside database: DatabaseLocation) {
        self.face = face
    }

    static func interfaces(
        _ method: (DoorMethod) -> Method
    ) -> [(path: ObjectPath, interface: Interface)] {
        let methods = [
            Xfconf.setProperty, Xfconf.getProperty, Xfconf.getAllProperties,
            Xfconf.propertyExists, Xfconf.resetProperty, Xfconf.listChannels,
            Xfconf.isPropertyLocked,
        ].map { method(DoorMethod($0.name, in: $0.input, out: $0.output)) }
        let interface = Interface(
            Xfconf.interface, methods: methods,
            signals: [Xfconf.propertyChanged, Xfconf.propertyRemoved])
        return [(Xfconf.objectPath, interface)]
    }

    static func addLayers(to places: inout LayerPlaces) { places.channels = .ofEnvironment() }

    func answer(_ call: MethodCall) throws {
        switch call.member {
        case Xfconf.setProperty.name: try setProperty(call)
        case Xfconf.getProperty.name: try getProperty(call)
        case Xfconf.getAllProperties.name: try getAllProperties(call)
        case Xfconf.propertyExists.name: try propertyExists(call)
        case Xfconf.resetProperty.name: try resetProperty(call)
        case Xfconf.listChannels.name: try listChannels(call)
        case Xfconf.isPropertyLocked.name: try isPropertyLocked(call)
        default: throw DBusError.unknownMethod(call.member, of: call.interface)
        }
    }

    func refusal(for error: any Error) -> any Error {
        if let error = error as? StorageError {
            return XfconfError(.writeFailure, error.description)
        }
        return XfconfError.refusal(for: error)
    }

    private func getProperty(_ call: MethodCall) throws {
        let property = try readProperty(in: call)
        let missing = XfconfError.notFound(property.key.name, in: property.channel)
        guard let stored = try stored(property, for: call) else { throw missing }
        try reply(to: call, with: stored) { value, writer in
            guard let value else { throw missing }
            try writer.writeValue(.variant(value.value))
        }
    }

    private func propertyExists(_ call: MethodCall) throws {
        let property = try readProperty(in: call)
        guard let stored = try stored(property, for: call) else {
            return try call.reply { try $0.writeBool(false) }
        }
        try reply(to: call, with: stored) { try $1.writeBool($0 != nil) }
    }

    /// Replies with what the closure writes for the property that an archive is.
    ///
    /// A large archive is read on another thread.
    private func reply(
        to call: MethodCall, with stored: StoredValue,
        _ write: @escaping @Sendable (PropertyValue?, inout MessageWriter) throws -> Void
    ) throws {
        guard stored.archive.count > Lanes.fewBytes, call.isReplyExpected else {
            let value = stored.property
            return try call.reply { try write(value, &$0) }
        }
        try face.runOnLane(call, in: .conversions) { detached in
            let value = stored.property
            try detached.write { try write(value, &$0) }
        } then: { _, _, detached, _ in
            try detached.sendReply()
        }
    }

    private func isPropertyLocked(_ call: MethodCall) throws {
        let property = try readProperty(in: call)
        let domain = try property.channel.domain(.domain)
        let isLocked = try face.settings.locks.isLocked(
            property.key, in: domain, shownBy: face.view(for: call, of: domain))
        try call.reply { try $0.writeBool(isLocked) }
    }

    private func getAllProperties(_ call: MethodCall) throws {
        let (channel, name, base) = try call.arguments { reader in
            let channel = try ChannelName(reader.readString())
            let name = try reader.readString()
            return (channel, name, try PropertyBase(name))
        }
        let layers = try layers(of: channel)
        let view = face.view(for: call, of: layers[0])
        let isLong = try layers.contains {
            let size = try face.replySize(of: $0, in: view)
            return size.isLong || size.isLarge
        }
        try face.answer(call, isLong: isLong) { reading, writer in
            let count = try reading.writeProperties(of: layers, below: base, to: &writer)
            guard case .property = base, count == 0 else { return }
            throw XfconfError.notFound(name, in: channel)
        }
    }

    private func listChannels(_ call: MethodCall) throws {
        let host = face.hosts.this.id
        let isLong = try face.view(for: call).mayHaveMoreDomains(than: Lanes.fewKeys)
        try face.answer(call, isLong: isLong) { try $0.writeChannels(on: host, to: &$1) }
    }

    // MARK: What is stored

    /// A channel and a property that a call names.
    struct NamedProperty {
        let channel: ChannelName
        let key: Key
    }

    private func readProperty(in call: MethodCall) throws -> NamedProperty {
        try call.arguments { try NamedProperty(from: &$0) }
    }

    /// The layers that may have properties, the strongest first.
    func layers(of channel: ChannelName) throws -> [Domain] {
        try face.layersOfDesktop(channel.domain).filter(face.layers.mayHaveKeys)
    }

    /// What is stored for a property, as far as the caller may see it.
    private func stored(_ property: NamedProperty, for call: MethodCall) throws -> StoredValue? {
        let layers = try layers(of: property.channel)
        let view = face.view(for: call, of: layers[0])
        for layer in layers {
            if let stored = try view.value(layer, property.key) { return stored }
        }
        return nil
    }
}

extension XfconfDoor.NamedProperty {
    /// Reads the channel and the property, which every call begins with.
    init(from reader: inout MessageReader) throws {
        channel = try ChannelName(reader.readString())
        key = try PropertyName.key(reader.readString())
    }
}

extension ChannelName {
    /// A layer of the channel's domain.
    func domain(_ layer: Layer) throws -> Domain {
        try Domain(name: domain, layer: layer)
    }
}

extension StoredValue {
    /// The value of a property; nil if programs see none in it.
    var property: PropertyValue? {
        PropertyValue(archive: archive)
    }
}

// MARK: Replies with many names

extension DomainReading {
    /// The most bytes that an entry needs besides its key and value: an entry and a variant.
    private static let entryRoom = 64

    /// Writes the reply of `GetAllProperties`.
    ///
    /// - Parameter layers: The strongest first.
    /// - Returns: How many keys the base covers.
    func writeProperties(
        of layers: [Domain], below base: PropertyBase, to reply: inout MessageWriter
    ) throws -> Int {
        var properties: [(key: Key, layer: Domain)] = []
        var known: Set<Key> = []
        for layer in layers {
            let keys = try view.keysInNoOrder(of: layer)
                .filter { base.covers($0) && !known.contains($0) }
            properties += keys.map { ($0, layer) }
            if layer != layers.last { known.formUnion(keys) }
        }
        try reply.writeDictionary(key: "s", value: "v") { entries in
            for (key, layer) in properties {
                guard let value = try intactValue(of: key, in: layer)?.property else { continue }
                try entries.writeEntry {
                    try $0.writeString(key.name)
                    try $0.writeValue(.variant(value.value))
                }
                guard entries.size <= ContractLimits.maximumReplySize else {
                    throw ContractError(tooLargeDomain: layer, on: hosts)
                }
            }
        }
        return properties.count
    }

    /// Writes the reply of `ListChannels`.
    ///
    /// - Parameter host: The machine whose own layers count.
    func writeChannels(on host: HostID, to reply: inout MessageWriter) throws {
        let domains = try view.domains() + view.domainsOfFiles()
        let channels = domains.compactMap { domain -> String? in
            if case .host(let other) = domain.layer, other != host { return nil }
            return ChannelName(domain: domain.name)?.description
        }
        let names = Set(channels).sorted()
        try NamesSize.check(names, room: ContractLimits.maximumReplySize)
        try reply.writeArray(of: "s") { for name in names { try $0.writeString(name) } }
    }
}

// MARK: Errors

extension XfconfError {
    /// The error that a caller gets.
    ///
    /// What makes the service postpone the call, or repair the database, is no refusal and stays as
    /// it is.
    static func refusal(for error: any Error) -> any Error {
        switch error {
        case let error as ContractError: XfconfError(code(of: error.code), error.message)
        case let error as ModelError: XfconfError(.invalidProperty, error.description)
        case let error as ValueFormError: XfconfError(.internalError, error.description)
        default: error
        }
    }

    private static func code(of code: ContractError.Code) -> Code {
        switch code {
        case .locked, .accessDenied: .permissionDenied
        case .storageFailed, .limitsExceeded, .tooLarge, .notDurable: .writeFailure
        case .notRepresentable: .readFailure
        default: .internalError
        }
    }
}
