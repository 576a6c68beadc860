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
        if let locked = try await lockedKeys(of: keys, in: domain, atMost: 1).first { throw locked }
    }

    /// Those of some keys that are locked; none where the tool is not told of locks.
    ///
    /// - Parameter limit: How many are enough.
    func lockedKeys(
        of keys: some Sequence<String>, in domain: String, atMost limit: Int = .max
    ) async throws -> [LockedKey] {
        let name = String(domain.prefix { $0 != "@" })
        let locks: [RemoteLock]
        do {
            locks = try await self.locks(of: name)
        } catch let error as DBusError where error.name == .unknownMethod {
            return []
        } catch let error as DefaultsError where error.code == .accessDenied {
            return []
        }
        let index = LockIndex(locks)
        var locked: [LockedKey] = []
        for key in keys where locked.count < limit && index.seemsToCover(key) {
            guard let lock = try await lock(of: key, in: name) else { continue }
            locked.append(
                LockedKey(
                    key: key, domain: domain, file: lock.source,
                    isForAllApplications: lock.layer == .globalManaged))
        }
        return locked
    }
}
