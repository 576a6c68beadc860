import DconfFiles
import Synchronization

/// The GSettings schemas that programs with the environment of a command line find.
final class InstalledSchemas: Sendable {
    let catalog: SchemaCatalog
    /// What was found in each folder: a document has many keys of few domains.
    private let found = Mutex<[String: [SettingsSchema]]>([:])

    init(_ catalog: SchemaCatalog) {
        self.catalog = catalog
    }

    /// The schemas whose keys are in a folder.
    func found(at folder: String) -> [SettingsSchema] {
        found.withLock { found in
            if let schemas = found[folder] { return schemas }
            let schemas = catalog.schemas(at: folder)
            found[folder] = schemas
            return schemas
        }
    }
}
