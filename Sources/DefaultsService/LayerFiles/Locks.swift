import DefaultsFiles
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage

/// Keys that users may not change.
///
/// A value or a lock in the managed layer of a key's domain, or of the global domain, locks the
/// key. The managed layer of the global domain is above the user's layers, too. A lock without a
/// value keeps the value that applies.
extension DefaultsObject {
    /// What locks a key: the layer and the file.
    struct LockSource {
        /// The managed layer of the domain or of the global domain.
        let domain: Domain
        /// The file.
        let path: String
    }

    /// Refuses a change of keys.
    ///
    /// The layer itself is checked first.
    ///
    /// - Parameter keys: Evaluated only if something is locked.
    func checkWritable(_ domain: Domain, _ keys: @autoclosure () throws -> [Key]) throws {
        guard domain.layer.isWritable else {
            throw ContractError(lockedLayer: domain, in: layers.places)
        }
        let managed = layersThatLock(domain)
        guard !managed.isEmpty else { return }
        for key in try keys() {
            if let lock = try lock(of: key, by: managed) {
                throw ContractError(locked: key, of: domain, by: lock, on: hosts)
            }
        }
    }

    /// Whether the user may not change a key.
    ///
    /// - Parameter view: Only locks in domains that it shows count.
    func isLocked(_ key: Key, in domain: Domain, shownBy view: DatabaseView) throws -> Bool {
        try layersThatLock(domain).contains { try view.shows($0) && isLocked(key, by: $0) }
    }

    private func lock(of key: Key, by managed: [Domain]) throws -> LockSource? {
        for domain in managed where try isLocked(key, by: domain) {
            return LockSource(domain: domain, path: try pathOfLock(of: key, by: domain))
        }
        return nil
    }

    /// The managed layers that can lock keys of a domain.
    private func layersThatLock(_ domain: Domain) -> [Domain] {
        guard !layers.known.isEmpty else { return [] }
        return SearchList(of: domain, on: hosts.this.id).places.map(\.domain).filter {
            $0.layer == .managed && layers.known[$0] != nil
        }
    }

    /// Whether a managed layer locks a key, with or without a value.
    func isLocked(_ key: Key, by managed: Domain) throws -> Bool {
        if layers.known[managed]?.locks.covers(key) == true { return true }
        return try database.generation(managed, key) != nil
    }

    /// The file of a managed layer that locks a key: the file of its value, or otherwise the first
    /// file with a lock for it.
    func pathOfLock(of key: Key, by managed: Domain) throws -> String {
        guard let record = try fileRecord(of: managed) else { return "" }
        layers.lastRecord = (managed, record)
        let isSet = try database.generation(managed, key) != nil
        return (isSet ? record.source(of: key) : record.firstLocking(key))?.description ?? ""
    }

    /// The keys and prefixes that a managed layer locks, each with its file: first those without a
    /// value, in the order of the files.
    func locks(of managed: Domain) throws -> [(pattern: String, path: String)] {
        guard layers.known[managed] != nil, let record = try fileRecord(of: managed) else {
            return []
        }
        let sources = record.sources
        let locks = record.files.flatMap { file in
            file.locks.map { (pattern: $0, path: file.path.description) }
        }
        let values = try database.keys(of: managed).map {
            (
                pattern: $0.name,
                path: (sources[$0] ?? record.files.first?.path)?.description ?? ""
            )
        }
        return locks + values
    }
}
