import DBus
import DefaultsClient
import DefaultsProtocol

/// Checks of locks, before a change that is made in parts.
extension RemoteDefaults {
    /// The layer that locks a key, with its file; nil if there is none any more.
    func lock(of key: String, in domain: String) async throws -> LayerEntry? {
        do {
            return try await explain(key, in: domain).first(where: \.isLocked)
        } catch let error as DefaultsError where error.code == .notFound {
            return nil
        }
    }

    /// Refuses a change of keys if one of them is locked, as the service does.
    ///
    /// If the change is made in several parts, none of them may be made then.
    ///
    /// If the tool cannot list locks, the service refuses locked keys.
    ///
    /// - Throws: ``LockedKey`` with the first locked key.
    func checkLocks(of keys: some Sequence<String>, in domain: String) async throws {
        if let locked = try await lockedKeys(of: keys, in: domain, atMost: 1).first { throw locked }
    }

    /// Selects the locked keys; none if the tool cannot list locks.
    ///
    /// - Parameter limit: The most keys to return.
    func lockedKeys(
        of keys: some Sequence<String>, in domain: String, atMost limit: Int = .max
    ) async throws -> [LockedKey] {
        let name = String(domain.prefix { $0 != "@" })
        let locks: [RemoteLock]
        do {
            locks = try await self.locks(of: name)
        } catch  where (error.ofContract as? DBusError)?.name == .unknownMethod {
            return []
        } catch  where (error.ofContract as? ContractError)?.code == .accessDenied {
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

/// Locks in an index, so that many keys can be compared with many locks quickly.
struct LockIndex {
    private var keys: Set<String> = []
    private var prefixes: Set<ArraySlice<UInt8>> = []
    private var lengths: Set<Int> = []

    init(_ locks: [RemoteLock]) {
        for lock in locks {
            // The name of a managed key may end with an asterisk, too. Only the service can tell
            // the difference.
            keys.insert(lock.pattern)
            guard lock.pattern.hasSuffix("*") else { continue }
            let prefix = Array(lock.pattern.utf8.dropLast())[...]
            prefixes.insert(prefix)
            lengths.insert(prefix.count)
        }
    }

    /// Whether a lock covers a key, or may cover it.
    func seemsToCover(_ key: String) -> Bool {
        if keys.contains(key) { return true }
        let bytes = Array(key.utf8)
        return lengths.contains { $0 <= bytes.count && prefixes.contains(bytes[..<$0]) }
    }
}

/// A change is refused because the administrator has locked one of its keys.
struct LockedKey: Error {
    let key: String
    let domain: String
    /// The file with the lock.
    let file: String
    /// Whether the lock is one of NSGlobalDomain, which applies to every other domain, too.
    let isForAllApplications: Bool
}
