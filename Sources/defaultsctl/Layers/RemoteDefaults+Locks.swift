import DBus
import DefaultsClient
import DefaultsProtocol

/// Locks, before a change that is made in parts.
extension RemoteDefaults {
    /// The file that locks a key; nil where none does any more.
    func lockingFile(of key: String, in domain: String) async throws -> String? {
        try await explain(key, in: domain).first(where: \.isLocked)?.source
    }

    /// Refuses a change of keys of which one is locked, as the service does: of what is changed in
    /// several parts, none is to be made then.
    ///
    /// Where the tool is not told of locks, the service refuses what it must.
    func checkLocks(of keys: some Sequence<String>, in domain: String) async throws {
        let name = String(domain.prefix { $0 != "@" })
        let locks: [RemoteLock]
        do {
            locks = try await self.locks(of: name)
        } catch let error as DBusError where error.name == .unknownMethod {
            return
        } catch let error as DefaultsError where error.code == .accessDenied {
            return
        }
        let index = LockIndex(locks)
        for key in keys {
            if let lock = index.lock(of: key), try await isLocked(key, in: name) {
                throw ToolError.locked(key, in: domain, by: lock.file)
            }
        }
    }
}
