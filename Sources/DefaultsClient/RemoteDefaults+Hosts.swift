import DBus
import DefaultsProtocol

/// A machine of which the database knows.
public struct RemoteHost: Sendable, Hashable {
    /// Its machine ID.
    public let id: String
    /// Its host name; empty where it is not known.
    public let name: String
}

/// The machines that share the database, by the interface that is for the project's own tool.
extension RemoteDefaults {
    /// The machines of which the database knows, the service's own first.
    public func hosts() async throws -> [RemoteHost] {
        try await call(Contract.listHosts, of: Contract.maintenanceInterface) { _ in
        } read: { reader in
            try reader.readArray {
                try $0.readStructure {
                    RemoteHost(id: try $0.readString(), name: try $0.readString())
                }
            }
        }
    }
}
