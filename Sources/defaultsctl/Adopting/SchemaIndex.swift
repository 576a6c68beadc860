import DconfFiles
import DefaultsProtocol

/// The installed GSettings schemas by their paths, as the programs of this session find them.
///
/// They are read when they are first needed.
final class SchemaIndex {
    private lazy var contents = Contents(of: SchemaNote.catalog)

    /// The type that a schema gives a setting; nil if no schema has its path.
    func type(of path: SettingsPath) -> ExactType? { contents.type(of: path) }

    /// Whether a domain may have settings: a schema has its path, one above it, or one below it.
    ///
    /// The paths of relocatable schemas are below those of others.
    func mayHave(domain: String) -> Bool { contents.mayHave(domain: domain) }
}

private struct Contents {
    private var schemas: [String: [SettingsSchema]] = [:]
    /// The folders above the paths of schemas, with at least two elements.
    private var foldersAbove: Set<String> = []

    init(of catalog: SchemaCatalog) {
        for name in catalog.schemaNames {
            guard let schema = catalog.schema(named: name), let path = schema.path else { continue }
            schemas[path, default: []].append(schema)
            foldersAbove.formUnion(Self.folders(of: path))
        }
    }

    func type(of path: SettingsPath) -> ExactType? {
        guard let slash = path.path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let name = String(path.path[slash...].dropFirst())
        return schemas[String(path.path[...slash])]?.lazy.compactMap { $0.key(named: name)?.type }
            .first
    }

    func mayHave(domain: String) -> Bool {
        let folder = "/" + domain.split(separator: ".").joined(separator: "/") + "/"
        return foldersAbove.contains(folder)
            || Self.folders(of: folder).contains { schemas[$0] != nil }
    }

    /// A path and the folders above it, except those with one element.
    private static func folders(of path: String) -> [String] {
        let elements = path.split(separator: "/")
        return elements.indices.dropFirst().map { last in
            "/" + elements[...last].joined(separator: "/") + "/"
        }
    }
}
