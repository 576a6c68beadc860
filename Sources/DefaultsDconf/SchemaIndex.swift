package import DconfFiles
package import DefaultsProtocol
internal import Synchronization

/// The installed GSettings schemas by their paths.
///
/// They are read when they are first needed, and can be forgotten. All threads may use it.
package final class SchemaIndex: Sendable {
    private let contents = Mutex<Contents?>(nil)
    private let catalog: @Sendable () -> SchemaCatalog

    /// - Parameter catalog: Reads the schemas.
    package init(_ catalog: @escaping @Sendable () -> SchemaCatalog) {
        self.catalog = catalog
    }

    /// The type that a schema gives a setting; nil if no schema has its path.
    package func type(of path: SettingsPath) -> ExactType? {
        withContents { $0.type(of: path) }
    }

    /// Whether a domain may have settings of GSettings: a schema has its path, one above it, or one
    /// below it.
    ///
    /// The paths of relocatable schemas are below those of others.
    package func mayHave(domain: String) -> Bool { withContents { $0.mayHave(domain: domain) } }

    /// The first two elements of the paths of all schemas, as they begin the names of domains.
    package var families: Set<DomainFamily> { withContents(\.families) }

    /// Whether the schemas are in memory.
    package var isKnown: Bool { contents.withLockIfAvailable { $0 != nil } ?? false }

    /// Releases the memory until the schemas are needed again.
    package func forget() {
        contents.withLock { $0 = nil }
    }

    private func withContents<Result: Sendable>(_ body: (Contents) -> Result) -> Result {
        contents.withLock { stored in
            let known = stored ?? Contents(of: catalog())
            stored = known
            return body(known)
        }
    }
}

/// The first two elements of the name of a domain, or the only one.
package struct DomainFamily: Hashable, Sendable {
    private let name: String

    /// The family of a domain.
    package init(of domain: String) {
        name = domain.split(separator: ".").prefix(2).joined(separator: ".")
    }
}

private struct Contents: Sendable {
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

    var families: Set<DomainFamily> {
        Set(
            schemas.keys.map {
                DomainFamily(of: $0.split(separator: "/").joined(separator: "."))
            })
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
