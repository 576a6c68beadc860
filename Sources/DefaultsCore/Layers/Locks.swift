import DefaultsFiles
package import DefaultsModel
import DefaultsProtocol
package import DefaultsStorage
import DefaultsTerms

/// Keys that users may not change.
///
/// A value or a lock in the managed layer of a key's domain, or of the global domain, locks the
/// key. The managed layer of the global domain is above the user's layers, too. A lock without a
/// value keeps the value that applies.
package final class Locks {
    private let store: Store
    private let layers: FileLayers

    init(in store: Store, _ layers: FileLayers) {
        self.store = store
        self.layers = layers
    }

    private var hosts: HostNames { store.hosts }

    /// What locks a key: the layer and the file.
    struct Source {
        /// The managed layer of the domain or of the global domain.
        let domain: Domain
        /// The file.
        let path: String
    }

    /// Refuses a change that names locked keys.
    ///
    /// The layer itself is checked first.
    ///
    /// - Parameter keys: Evaluated only if something is locked.
    package func checkWritable(_ domain: Domain, _ keys: @autoclosure () throws -> [Key]) throws {
        try checkLayer(domain)
        let locked = try lockedKeys(of: domain, among: keys())
        guard !locked.isEmpty else { return }
        throw try refusal(of: [(domain, locked)], isListed: false)
    }

    /// Refuses a change of several domains that names locked keys.
    ///
    /// - Parameters:
    ///   - parts: The domains and the keys that the change names in each. Their layers have been
    ///     checked.
    ///   - isListed: Whether the error has all of the locked keys for programs.
    func checkWritable(_ parts: [(domain: Domain, keys: [Key])], isListed: Bool) throws {
        let locked = try parts.compactMap { domain, keys in
            let locked = try lockedKeys(of: domain, among: keys)
            return locked.isEmpty ? nil : (domain: domain, keys: locked)
        }
        guard !locked.isEmpty else { return }
        throw try refusal(of: locked, isListed: isListed)
    }

    /// Refuses a change of a layer that is made of files, whose keys are all locked.
    ///
    /// - Parameter keys: The keys that the error has for programs.
    func checkLayer(_ domain: Domain, listing keys: [Key] = []) throws {
        guard !domain.layer.isWritable else { return }
        let list = keys.isEmpty ? [] : LockedKeys.list([(domain, keys)], on: hosts)
        throw ContractError(lockedLayer: domain, in: layers.places, list)
    }

    private func lockedKeys(
        of domain: Domain, among keys: @autoclosure () throws -> [Key]
    ) throws -> [Key] {
        let managed = layersThatLock(domain)
        guard !managed.isEmpty else { return [] }
        return try keys().filter { key in try managed.contains { try isLocked(key, by: $0) } }
    }

    /// The refusal of a change that names locked keys; its message is about the first of them.
    private func refusal(
        of locked: [(domain: Domain, keys: [Key])], isListed: Bool
    ) throws -> ContractError {
        let (domain, key) = (locked[0].domain, locked[0].keys[0])
        let lock = try lock(of: key, by: layersThatLock(domain))
        let list = isListed ? LockedKeys.list(locked, on: hosts) : []
        return ContractError(locked: key, of: domain, by: lock, list, on: hosts)
    }

    /// Whether the user may not change a key.
    ///
    /// - Parameter view: Only locks in domains that it shows count.
    package func isLocked(_ key: Key, in domain: Domain, shownBy view: DatabaseView) throws -> Bool
    {
        try layersThatLock(domain).contains { try view.shows($0) && isLocked(key, by: $0) }
    }

    /// What locks a key that is locked.
    private func lock(of key: Key, by managed: [Domain]) throws -> Source {
        let locking = try managed.first { try isLocked(key, by: $0) } ?? managed[0]
        return Source(domain: locking, path: try pathOfLock(of: key, by: locking))
    }

    /// The managed layers that can lock keys of a domain.
    private func layersThatLock(_ domain: Domain) -> [Domain] {
        guard !layers.isEmpty else { return [] }
        return SearchList(of: domain, on: hosts.this.id).places.map(\.domain).filter {
            $0.layer == .managed && layers[$0] != nil
        }
    }

    /// Whether a managed layer locks a key, with or without a value.
    package func isLocked(_ key: Key, by managed: Domain) throws -> Bool {
        if layers[managed]?.locks.covers(key) == true { return true }
        return try store.database.generation(managed, key) != nil
    }

    /// The file of a managed layer that locks a key: the file of its value, or otherwise the first
    /// file with a lock for it.
    package func pathOfLock(of key: Key, by managed: Domain) throws -> String {
        guard let record = try record(of: managed) else { return "" }
        layers.remember(record, of: managed)
        let isSet = try store.database.generation(managed, key) != nil
        return (isSet ? record.source(of: key) : record.firstLocking(key))?.description ?? ""
    }

    /// The keys and prefixes that a managed layer locks, each with its file: first those without a
    /// value, in the order of the files.
    package func locks(of managed: Domain) throws -> [(pattern: String, path: String)] {
        guard layers[managed] != nil, let record = try record(of: managed) else {
            return []
        }
        let sources = record.sources
        let locks = record.files.flatMap { file in
            file.locks.map { (pattern: $0, path: file.path.description) }
        }
        let values = try store.database.keys(of: managed).map {
            (
                pattern: $0.name,
                path: (sources[$0] ?? record.files.first?.path)?.description ?? ""
            )
        }
        return locks + values
    }

    // MARK: Records

    /// The record of the files that a layer is made from; nil if there is no valid record.
    package func record(of domain: Domain) throws(StorageError) -> FileRecord? {
        if let known = layers.rememberedRecord(of: domain) { return known }
        do throws(StorageError) {
            return try store.database.value(domain, .fileRecord).flatMap {
                FileRecord($0.archive)
            }
        } catch {
            guard error.code == .damagedRow else { throw error }
            return nil
        }
    }
}

extension LockedKeys {
    /// The locked keys for an error, which has the first of them if they are very many.
    fileprivate static func list(
        _ locked: [(domain: Domain, keys: [Key])], on hosts: HostNames
    ) -> [LockedKeys] {
        var room = ContractLimits.maximumLockedNames
        return locked.prefix { _ in room > 0 }.map { domain, keys in
            let spelling = domain.spelling(on: hosts)
            room -= spelling.utf8.count
            let named = keys.prefix { key in
                room -= key.name.utf8.count
                return room >= 0
            }
            return LockedKeys(domain: spelling, keys: named.map(\.name))
        }
    }
}
