import DBus
import DefaultsProtocol

/// What the daemon says of itself.
public struct ServiceStatus: Sendable, Hashable {
    /// The version of the daemon.
    public let version: String
    /// The file that holds the database.
    public let databasePath: String
    /// The generation of the last change.
    public let generation: UInt64
    /// The generation up to which every change is on disk.
    public let durableGeneration: UInt64
    /// How many acknowledged changes are not on disk yet.
    public let pendingChanges: UInt32
    /// Why the disk refuses; empty while it does not.
    public let storageError: String
    /// The largest value, in bytes.
    public let maximumValueSize: UInt64
}

extension RemoteDefaults {
    /// Asks the daemon for all its properties at once.
    ///
    /// - Parameter timeout: How long to wait for the answer.
    public func status(within timeout: Duration = .seconds(25)) async throws -> ServiceStatus {
        let entries = try await reachingService {
            try await connection.call(
                Contract.busName, Contract.objectPath, "org.freedesktop.DBus.Properties", "GetAll",
                timeout: timeout, replying: "a{sv}"
            ) {
                try $0.writeString(Contract.interface.string)
            } read: { reader in
                try reader.readDictionary {
                    (try $0.readString(), try $0.readVariant { try $0.readValue() })
                }
            }
        }
        return try ServiceStatus(PropertyValues(entries))
    }
}

extension ServiceStatus {
    fileprivate init(_ values: PropertyValues) throws {
        version = try values.string(Contract.version)
        databasePath = try values.string(Contract.databasePath)
        generation = try values.uint64(Contract.currentGeneration)
        durableGeneration = try values.uint64(Contract.durableGeneration)
        pendingChanges = try values.uint32(Contract.pendingChanges)
        storageError = try values.string(Contract.storageError)
        maximumValueSize = try values.uint64(Contract.maximumValueSize)
    }
}

/// The answer to `GetAll`, read by declaration.
private struct PropertyValues {
    private let values: [String: Value]

    init(_ entries: [(String, Value)]) {
        values = Dictionary(entries) { first, _ in first }
    }

    func string(_ property: PropertyDeclaration) throws -> String {
        guard case .string(let string) = values[property.name.string] else {
            throw missing(property)
        }
        return string
    }

    func uint32(_ property: PropertyDeclaration) throws -> UInt32 {
        guard case .uint32(let number) = values[property.name.string] else {
            throw missing(property)
        }
        return number
    }

    func uint64(_ property: PropertyDeclaration) throws -> UInt64 {
        guard case .uint64(let number) = values[property.name.string] else {
            throw missing(property)
        }
        return number
    }

    private func missing(_ property: PropertyDeclaration) -> DBusError {
        DBusError(
            .invalidSignature,
            "The service has no property \(property.name) of type '\(property.type)'.")
    }
}
