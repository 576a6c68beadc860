import DBus
import DefaultsClient
import DefaultsProtocol

/// Locks, before a change that is made in parts.
extension RemoteDefaults {
    /// The layer that locks a key, with its file; nil where none does any more.
    func lock(of key: String, in domain: String) async throws -> LayerEntry? {
        do {
            return try await explain(key, in: domain).first(where: \.isLocked)
        } catch let error as DefaultsError where error.code == .notFound {
            return nil
        }
    }

    /// Refuses a change of keys of which one is locked, as the service does: of what is changed in
    /// several parts, none is to be made then.
    ///
    /// Where the tool is not told of locks, the service refuses what it must.
    ///
    /// - Throws: ``LockedKey`` with the first that is.
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
            if index.seemsToCover(key), let lock = try await lock(of: key, in: name) {
                throw LockedKey(
                    key: key, domain: domain, file: lock.source,
                    isForAllApplications: lock.layer == .globalManaged)
            }
        }
    }
}
