import DBus
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

/// The interface of a backend of the Settings portal, if the daemon serves it.
extension DefaultsObject {
    /// The interface, with the methods here that answer it.
    var portalInterface: Interface {
        Interface(
            Portal.interface,
            methods: [
                method(Portal.read) { try $0.readSetting($1) },
                method(Portal.readAll) { try $0.readAllSettings($1) },
            ],
            signals: [Portal.settingChanged],
            properties: [
                Property("version", "u", emitsChanged: .constant) { .uint32(Portal.version) }
            ])
    }

    private func method(
        _ declaration: Portal.Declaration, answeredBy answer: @escaping Answer
    ) -> Method {
        Method(declaration.name, in: declaration.input, out: declaration.output) { call in
            try self.assumeIsolated { try $0.carryOut(call, by: answer) }
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
        let view = view(for: call, of: layers[0])
        let key = try Key(setting.rawValue)
        for layer in layers where self.layers.mayHaveKeys(layer) {
            if let stored = try view.value(layer, key) { return setting.value(of: stored.archive) }
        }
        return nil
    }

    /// The layers that have the settings, the strongest first.
    var layersOfAppearance: [Domain] {
        get throws {
            try [.managed, .host(hosts.this.id), .domain, .system].map {
                try Domain(name: Portal.namespace, layer: $0)
            }
        }
    }
}
