import DBus
import DefaultsRoaming
import RoamingDirectory
import RoamingPostgres

/// The engines that this program has.
enum Engines {
    /// Makes the engine of a place.
    ///
    /// A user who roams through a pooler has a token beside the database.
    ///
    /// - Parameters:
    ///   - place: The place, as it was set up.
    ///   - directory: The directory of the database.
    ///   - loop: The loop of the engine.
    /// - Throws: If the place cannot be one.
    @Sendable static func make(
        _ place: RoamSettings.Place, _ directory: String, _ loop: EventLoop
    ) throws -> any Engine {
        switch place {
        case .directory(let path):
            try DirectoryEngine(path, database: "\(directory)/roam.db", on: loop)
        case .server(let address):
            PostgresEngine(
                at: try ServerAddress(address),
                token: try PoolToken(file: "\(directory)/roam-token"), on: loop)
        }
    }

    /// Where a place is, for people: without the secrets that an address must not have.
    @Sendable static func describe(_ place: RoamSettings.Place) -> String {
        switch place {
        case .directory(let path): path
        case .server(let address):
            (try? ServerAddress(address))?.description ?? "a server whose address cannot be used"
        }
    }
}
