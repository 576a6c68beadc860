import DBus
import DefaultsClient
import DefaultsProtocol

/// Locks, before a change that is made in parts.
extension RemoteDefaults {
    /// The layer that locks a key, with its file; nil where none does any more.
    func lock(of key: String, in domain: String) async throws -> LayerEntry? {
        do {
            return try await explain(key, in: domain).first(where: \.isLocked)
        } catch let error as ClientError where error.code == .notFound {
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
        } catch  where (error.ofContract as? DBusError)?.name == .unknownMethod {
            return []
        } catch  where (error.ofContract as? DefaultsError)?.code == .accessDenied {
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

/// Locks by what they lock, so that many keys are compared with many of them in little time.
struct LockIndex {
    private var keys: Set<String> = []
    private var prefixes: Set<ArraySlice<UInt8>> = []
    private var lengths: Set<Int> = []

    init(_ locks: [RemoteLock]) {
        for lock in locks {
            // A managed key may end with an asterisk, too; the service knows which of them it is.
            keys.insert(lock.pattern)
            guard lock.pattern.hasSuffix("*") else { continue }
            let prefix = Array(lock.pattern.utf8.dropLast())[...]
            prefixes.insert(prefix)
            lengths.insert(prefix.count)
        }
    }

    /// Whether one of them covers a key, or seems to.
    func seemsToCover(_ key: String) -> Bool {
        if keys.contains(key) { return true }
        let bytes = Array(key.utf8)
        return lengths.contains { $0 <= bytes.count && prefixes.contains(bytes[..<$0]) }
    }
}

/// A change is refused, as the administrator has locked a key that it is of.
struct LockedKey: Error {
    let key: String
    let domain: String
    /// The file that locks it.
    let file: String
    /// Whether that is one of NSGlobalDomain, which locks the key in every other domain, too.
    let isForAllApplications: Bool
}
