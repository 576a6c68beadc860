import DconfFiles
import DefaultsProtocol
import KeyedArchive

/// What an installed GSettings schema says about a key.
struct SchemaNote {
    private let key: SettingsSchema.Key
    private let texts: SettingsTexts?

    /// Searches for the schema of a key; nil if there is none.
    init?(of key: String, in domain: String) {
        let catalog = Defaultsctl.console.schemas.catalog
        guard let path = SettingsPath(domain: domain, key: key), let found = catalog.key(at: path)
        else { return nil }
        self.key = found
        texts = catalog.texts(of: found)
    }

    /// Two lines for people: what the key is, and which values it may have.
    var text: String {
        let title = "Schema \(key.schema)" + (texts?.summary.map { ": \($0.onOneLine)" } ?? "")
        let facts = ["type \(key.type)", "default \(Self.json(key.defaultValue))"] + rule
        return "\(title)\n  " + facts.joined(separator: ", ")
    }

    private var rule: [String] {
        switch key.rule {
        case .any: []
        case .choices(let names): ["one of \(Self.list(names))"]
        case .flags(let names): ["any of \(Self.list(names))"]
        case .range(let least, let greatest):
            ["from \(Self.json(least)) to \(Self.json(greatest))"]
        }
    }

    private static func list(_ names: [String]) -> String {
        names.map(\.onOneLine).joined(separator: ", ")
    }

    /// The value as JSON, without its exact type.
    static func json(_ value: ExactValue) -> String {
        let archive = try? VariantForm.archive(of: value.form())
        return (try? archive?.shown().jsonText()).map(ShownJSON.text) ?? "unknown"
    }

    /// The same as a JSON object.
    func json() throws -> String {
        var members = [
            ("id", try key.schema.quoted), ("type", try key.type.description.quoted),
            ("default", Self.json(key.defaultValue)),
            ("summary", try texts?.summary?.quoted ?? "null"),
            ("description", try texts?.description?.quoted ?? "null"),
        ]
        switch key.rule {
        case .any: break
        case .choices(let names), .flags(let names):
            let all = try names.map { try $0.quoted }.joined(separator: ",")
            members.append(("choices", "[\(all)]"))
        case .range(let least, let greatest):
            members.append(("range", "[\(Self.json(least)),\(Self.json(greatest))]"))
        }
        return try ShownJSON.object(members)
    }
}
