import DconfFiles
import DefaultsTerms

/// The installed GSettings schemas whose keys are in the same folder as a key.
struct SchemaFolder {
    /// The name that the key has in a schema.
    let keyName: String
    /// What the key has before that name: folders that a domain cannot have.
    private let prefix: String
    private let schemas: [SettingsSchema]

    /// Searches for the schemas; nil if there are none.
    ///
    /// - Parameter domain: With or without the suffix of a layer.
    init?(of key: String, in domain: String) {
        let name = String(domain.prefix { $0 != "@" })
        guard name != GlobalDomain.name, let path = SettingsPath(domain: name, key: key)?.path,
            let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        else { return nil }
        keyName = String(path[slash...].dropFirst())
        prefix = String(key.dropLast(keyName.count))
        schemas = Defaultsctl.console.schemas.found(at: String(path[...slash]))
        if schemas.isEmpty { return nil }
    }

    /// The key that a schema has; nil if none has it.
    var key: SettingsSchema.Key? { schemas.lazy.compactMap { $0.key(named: keyName) }.first }

    /// The key that was probably meant; nil if none is similar.
    var nearestKey: String? {
        Spelling.nearest(to: keyName, among: schemas.flatMap(\.keyNames).sorted())
            .map { prefix + $0 }
    }
}

/// Keys that no schema has, although there are schemas of their domain: most are mistyped.
///
/// They can be set, because a program may have a schema that is not installed here.
enum UnknownKeys {
    private static let mostShown = 3

    /// Says that programs do not see some keys that are set, if that is so.
    static func remark(on keys: [String], in domain: String) {
        let folders = keys.map { (key: $0, folder: SchemaFolder(of: $0, in: domain)) }
        let unknown = folders.filter { $0.folder != nil && $0.folder?.key == nil }
        guard let first = unknown.first else { return }
        let rest = "no installed schema of \(domain.onOneLine) has"
        guard unknown.count > 1 else {
            let meant = first.folder?.nearestKey.map { " Did you mean '\($0.onOneLine)'?" } ?? ""
            return Complaint.say(
                "Programs that use GSettings do not see the key '\(first.key.inBrief)': \(rest) it."
                    + meant)
        }
        let names = unknown.prefix(mostShown).map { "'\($0.key.inBrief)'" }
        let others = unknown.count - names.count
        Complaint.say(
            "Programs that use GSettings do not see the keys \(names.joined(separator: ", "))"
                + (others > 0 ? " and \(others) more" : "") + ": \(rest) them.")
    }
}
