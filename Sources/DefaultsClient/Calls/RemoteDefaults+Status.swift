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
        try ServiceStatus(await call(Contract.GetProperties.self, (), timeout: timeout))
    }
}

extension ServiceStatus {
    fileprivate init(_ values: Contract.GetProperties.Reply) throws {
        version = try values.string(Contract.version)
        databasePath = try values.string(Contract.databasePath)
        generation = try values.uint64(Contract.currentGeneration)
        durableGeneration = try values.uint64(Contract.durableGeneration)
        pendingChanges = try values.uint32(Contract.pendingChanges)
        storageError = try values.string(Contract.storageError)
        maximumValueSize = try values.uint64(Contract.maximumValueSize)
    }
}
