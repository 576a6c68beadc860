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
    public func status() async throws -> ServiceStatus {
        let properties = try await connection.properties(
            of: Contract.interface, at: Contract.objectPath, on: Contract.busName)
        func read<T>(_ declaration: PropertyDeclaration, _ pick: (Value) -> T?) throws -> T {
            guard let value = properties[declaration.name.description], let found = pick(value)
            else {
                throw DBusError(
                    .failed, "The daemon has no property \(declaration.name) of the known type.")
            }
            return found
        }
        func string(_ value: Value) -> String? {
            if case .string(let string) = value { string } else { nil }
        }
        func integer(_ value: Value) -> UInt64? {
            switch value {
            case .uint64(let integer): integer
            case .uint32(let integer): UInt64(integer)
            default: nil
            }
        }
        return ServiceStatus(
            version: try read(Contract.version, string),
            databasePath: try read(Contract.databasePath, string),
            generation: try read(Contract.currentGeneration, integer),
            durableGeneration: try read(Contract.durableGeneration, integer),
            pendingChanges: UInt32(clamping: try read(Contract.pendingChanges, integer)),
            storageError: try read(Contract.storageError, string),
            maximumValueSize: try read(Contract.maximumValueSize, integer))
    }
}
