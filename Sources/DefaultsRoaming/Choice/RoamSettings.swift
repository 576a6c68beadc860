package import DefaultsClient
import DefaultsTerms
import KeyedArchive
package import RoamingTerms

/// Where this machine's defaults roam to, and what of them.
package struct RoamSettings: Sendable, Equatable {
    /// What holds the versions of all replicas.
    package enum Place: Sendable, Hashable, CustomStringConvertible {
        /// A PostgreSQL server, by the connection string of libpq.
        case server(String)
        /// A directory that something else keeps the same on all machines, by its absolute path.
        case directory(String)

        /// The address or the path, as it was set: it tells places from each other, and may have a
        /// password that must not be shown.
        package var description: String {
            switch self {
            case .server(let address): address
            case .directory(let path): path
            }
        }
    }

    /// The place; nil if none was set.
    package var place: Place?
    /// Whether roaming is turned on.
    package var isEnabled = true
    /// Whether values are encrypted before they leave the machine.
    package var isEncrypted: Bool { choice.isEncrypted }
    /// What roams.
    package var choice: RoamChoice

    /// Reads the settings from the layers of ``RoamTerms/domain``.
    ///
    /// The strongest layer with a place decides on the place, and the strongest layer with another key
    /// decides on that key.
    package static func read(from defaults: RemoteDefaults) async throws -> RoamSettings {
        var (place, isEnabled, isEncrypted): (Place?, Bool?, Bool?)
        var entries: [String: KeyedArchive] = [:]
        for layer in RoamTerms.layers {
            let own = try await defaults.entries(in: layer.spelling(of: RoamTerms.domain)).entries
            let values = Dictionary(own.map { ($0.key, $0.archive) }) { first, _ in first }
            if place == nil { place = Self.place(in: values) }
            isEnabled = isEnabled ?? flag(RoamTerms.enabled, in: values)
            isEncrypted = isEncrypted ?? flag(RoamTerms.encrypted, in: values)
            entries.merge(values) { stronger, _ in stronger }
        }
        return RoamSettings(
            place: place, isEnabled: isEnabled ?? true,
            choice: RoamChoice(
                entries.map { ($0.key, $0.value) }, isEncrypted: isEncrypted ?? false))
    }

    private static func flag(_ key: String, in values: [String: KeyedArchive]) -> Bool? {
        values[key].flatMap { try? KeyedArchiveDecoder().decode(Bool.self, from: $0) }
    }

    private static func place(in values: [String: KeyedArchive]) -> Place? {
        func text(_ key: String) -> String? {
            values[key].flatMap { try? KeyedArchiveDecoder().decode(String.self, from: $0) }
        }
        if let server = text(RoamTerms.server) { return .server(server) }
        return text(RoamTerms.directory).map { .directory($0) }
    }
}
