public import DefaultsModel

/// What the files of one domain lock, fit to be asked for many keys.
///
/// ```swift
/// let locks = LockTable(["Proxy.*", "Theme"].compactMap(Lock.init))
/// locks.covers(try Key("Proxy.Host"))  // true
/// ```
public struct LockTable: Sendable {
    private var keys: Set<Key> = []
    /// In the order of their bytes, and none the beginning of another: whether a key has one of them
    /// is seen at the last that is not after it.
    private var prefixes: [[UInt8]] = []

    /// Gathers locks.
    public init(_ locks: some Sequence<Lock> = []) {
        var all: [[UInt8]] = []
        for lock in locks {
            if let prefix = lock.prefix {
                all.append(Array(prefix))
            } else if let key = try? Key(lock.pattern) {
                keys.insert(key)
            }
        }
        for prefix in all.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            if let last = prefixes.last, prefix.starts(with: last) { continue }
            prefixes.append(prefix)
        }
    }

    /// Whether a key is locked.
    public func covers(_ key: Key) -> Bool {
        if keys.contains(key) { return true }
        var (low, high) = (0, prefixes.count)
        while low < high {
            let middle = low + (high - low) / 2
            if key.name.utf8.lexicographicallyPrecedes(prefixes[middle]) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low > 0 && key.name.utf8.starts(with: prefixes[low - 1])
    }
}
