import DconfFiles
import DefaultsProtocol
import SystemCalls

/// Names and values from the installed GSettings schemas, for completion.
struct SchemaCandidates {
    private var catalog: SchemaCatalog { Defaultsctl.console.schemas.catalog }

    /// The keys that the schemas of a domain have, with what they are for.
    ///
    /// - Parameter domain: With or without the suffix of a layer.
    func keys(in domain: String) -> [Candidate] {
        schemas(of: domain).flatMap { schema in
            let texts = catalog.texts(of: schema)
            return schema.keyNames.sorted().map { name in
                Candidate(word: name, note: texts[name]?.summary ?? "")
            }
        }
    }

    /// The words that a key may have as its value.
    func values(of key: String, in domain: String) -> [Candidate] {
        guard let key = schemas(of: domain).lazy.compactMap({ $0.key(named: key) }).first else {
            return []
        }
        switch (key.type, key.rule) {
        case (.boolean, _): return ["true", "false"].map { Candidate(word: $0) }
        case (.string, .choices(let names)): return names.map { Candidate(word: $0) }
        default: return []
        }
    }

    /// The domains of schemas, if programs use them here.
    ///
    /// There are hundreds, so only those are offered that continue what is typed.
    func domains(continuing typed: String) -> [String] {
        guard !typed.isEmpty, Self.areUsed else { return [] }
        let domains = catalog.schemaNames.compactMap { name in
            catalog.schema(named: name)?.path.flatMap { path in
                // A path with characters that domains do not have is a domain and a part of keys.
                SettingsPath(path + "key").flatMap { $0.key == "key" ? $0.domain : nil }
            }
        }
        return Set(domains).filter { $0.hasPrefix(typed) }.sorted()
    }

    private static var areUsed: Bool {
        if Defaultsctl.console.variable("GSETTINGS_BACKEND") == "defaultsd" { return true }
        return Places().database.map { FileStatus.ifAny("\($0)/\(GSettingsDoor.name)") != nil }
            ?? false
    }

    private func schemas(of domain: String) -> [SettingsSchema] {
        let name = String(domain.prefix { $0 != "@" })
        guard let path = SettingsPath(domain: name, key: "key")?.path else { return [] }
        return catalog.schemas(at: String(path.dropLast("key".count)))
    }
}
