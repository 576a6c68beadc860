import DBus
import DefaultsCore
import DefaultsModel
import DefaultsPortal
import DefaultsStorage

// Invariants
//
// 1. A setting has the value of the first layer of its domain that has the key: managed, host, domain,
//    system. The global domain has no part in it.
// 2. A setting without a value is an error of `Read`, and not in the reply of `ReadAll`. So the portal
//    asks its next backend.
// 3. No other domain and no other key can be read.

/// The door for programs that read the Settings portal: a backend of it.
final class PortalDoor: Door {
    static let name = "portal"
    static let summary = "a backend of the Settings portal"
    static let busName = Portal.busName
    static let signals = SignalAddress(
        members: [Portal.settingChanged.name], interface: Portal.interface,
        path: Portal.objectPath)

    let face: BusFace
    private(set) lazy var keySignals: KeySignals? = makeSignals()

    init(on face: BusFace, beside database: DatabaseLocation) {
        self.face = face
    }

    static func interfaces(
        _ method: (DoorMethod) -> Method
    ) -> [(path: ObjectPath, interface: Interface)] {
        let methods = [Portal.read, Portal.readAll].map {
            method(DoorMethod($0.name, in: $0.input, out: $0.output))
        }
        let version = Property("version", "u", emitsChanged: .constant) {
            .uint32(Portal.version)
        }
        let interface = Interface(
            Portal.interface, methods: methods, signals: [Portal.settingChanged],
            properties: [version])
        return [(Portal.objectPath, interface)]
    }

    func answer(_ call: MethodCall) throws {
        switch call.member {
        case Portal.read.name: try readSetting(call)
        case Portal.readAll.name: try readAllSettings(call)
        default: throw DBusError.unknownMethod(call.member, of: call.interface)
        }
    }

    private func readSetting(_ call: MethodCall) throws {
        let (namespace, name) = try call.arguments { (try $0.readString(), try $0.readString()) }
        guard namespace == Portal.namespace, let key = AppearanceKey(rawValue: name),
            let value = try value(of: key, for: call)
        else { throw SettingNotFound() }
        try call.reply { try $0.writeValue(.variant(value)) }
    }

    private func readAllSettings(_ call: MethodCall) throws {
        let isWanted = try call.arguments { reader in
            let patterns = try reader.readArray { NamespacePattern.covers(try $0.readString()) }
            return patterns.isEmpty || patterns.contains(true)
        }
        let settings = try (isWanted ? AppearanceKey.allCases : []).compactMap { key in
            try value(of: key, for: call).map { (key.rawValue, $0) }
        }
        try call.reply { reply in
            try reply.writeDictionary(key: "s", value: "a{sv}") { namespaces in
                guard !settings.isEmpty else { return }
                try namespaces.writeEntry { entry in
                    try entry.writeString(Portal.namespace)
                    try entry.writeDictionary(key: "s", value: "v") { values in
                        for (name, value) in settings {
                            try values.writeEntry {
                                try $0.writeString(name)
                                try $0.writeValue(.variant(value))
                            }
                        }
                    }
                }
            }
        }
    }

    /// The value of a setting, as far as the caller may see it.
    private func value(of setting: AppearanceKey, for call: MethodCall) throws -> Value? {
        let layers = try layersOfAppearance
        let view = face.view(for: call, of: layers[0])
        let key = try Key(setting.rawValue)
        for layer in layers where face.layers.mayHaveKeys(layer) {
            if let stored = try view.value(layer, key) { return setting.value(of: stored.archive) }
        }
        return nil
    }

    /// The layers that have the settings, the strongest first.
    var layersOfAppearance: [Domain] {
        get throws { try face.layersOfDesktop(Portal.namespace) }
    }
}
