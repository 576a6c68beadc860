import DBus
import DefaultsProtocol

/// The file system that the daemon keeps its database on.
public struct DatabaseFileSystem: Sendable, Hashable {
    /// Its name, as mount(8) has it.
    public let name: String
    /// Whether other machines reach the same files.
    public let isNetwork: Bool
}

extension RemoteDefaults {
    /// The file system of the database; nil where the daemon does not say: it is an older one, or this
    /// program is in a sandbox.
    public func fileSystem() async throws -> DatabaseFileSystem? {
        do {
            let facts = try await statistics()
            guard case .string(let name) = facts["FileSystem"],
                case .boolean(let isNetwork) = facts["IsNetworkFileSystem"]
            else { return nil }
            return DatabaseFileSystem(name: name, isNetwork: isNetwork)
        } catch let error as DBusError
            where error.name == .unknownMethod || error.name == .unknownInterface
        {
            return nil
        } catch let error as DefaultsError where error.code == .accessDenied {
            return nil
        }
    }

    private func statistics() async throws -> [String: Value] {
        let entries = try await reachingService {
            try await connection.call(
                Contract.busName, Contract.objectPath, Contract.maintenanceInterface,
                Contract.getStatistics.name, replying: "a{sv}"
            ) { reader in
                try reader.readDictionary {
                    (try $0.readString(), try $0.readVariant { try $0.readValue() })
                }
            }
        }
        return Dictionary(entries) { first, _ in first }
    }
}
