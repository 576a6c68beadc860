import DBus
import DefaultsProtocol

/// A backup as the daemon lists it.
public struct RemoteBackup: Sendable, Hashable {
    /// By what it is restored.
    public let name: String
    /// When it was made, in seconds since 1970.
    public let date: UInt64
    /// The last change that is in it.
    public let generation: UInt64
    /// `daily` or `manual`.
    public let kind: String
    /// The size of its file in bytes.
    public let size: UInt64
}

/// What a restoration has changed.
public struct RestorationOutcome: Sendable, Hashable {
    /// The backup by which it is undone; empty where the database was too damaged for one.
    public let undo: String
    /// How many keys have got another value.
    public let set: UInt64
    /// How many keys were removed.
    public let removed: UInt64
    /// How many values of the backup were damaged; their keys are as they were, and none was removed.
    public let damaged: UInt64
    /// How many keys differ and were left as they are, as the administrator locks them.
    public let locked: UInt64
}

/// Backups, by the interface that is for the project's own tool.
extension RemoteDefaults {
    /// The whole database is read and written, which takes as long as the disk.
    private static let patience = Duration.seconds(3600)

    /// The backups, the newest first.
    public func backups() async throws -> [RemoteBackup] {
        try await call(Contract.listBackups, of: Contract.maintenanceInterface) { _ in
        } read: { reader in
            try reader.readArray {
                try $0.readStructure {
                    RemoteBackup(
                        name: try $0.readString(), date: try $0.readUInt64(),
                        generation: try $0.readUInt64(), kind: try $0.readString(),
                        size: try $0.readUInt64())
                }
            }
        }
    }

    /// Makes a backup of everything that was acknowledged so far, and gives its name.
    public func backUp() async throws -> String {
        try await call(
            Contract.backUp, of: Contract.maintenanceInterface, timeout: Self.patience
        ) { _ in
        } read: {
            try $0.readString()
        }
    }

    /// Gives every key the value that it has in a backup, and removes those that it does not have.
    public func restoreBackup(_ name: String) async throws -> RestorationOutcome {
        try await call(
            Contract.restoreBackup, of: Contract.maintenanceInterface, timeout: Self.patience
        ) {
            try $0.writeString(name)
        } read: {
            RestorationOutcome(
                undo: try $0.readString(), set: try $0.readUInt64(),
                removed: try $0.readUInt64(), damaged: try $0.readUInt64(),
                locked: try $0.readUInt64())
        }
    }
}
