import DefaultsFiles
import DefaultsModel

/// What the files of one domain lock by name or by prefix, fit to be asked for many keys.
struct LockTable {
    private var keys: Set<Key> = []
    /// In the order of their bytes, and none the beginning of another: whether a key has one of them
    /// is seen at the last that is not after it.
    private var prefixes: [[UInt8]] = []

    init(_ patterns: some Sequence<String> = []) {
        var all: [[UInt8]] = []
        for pattern in patterns {
            if pattern.hasSuffix("*") {
                all.append(Array(pattern.utf8.dropLast()))
            } else if let key = try? Key(pattern) {
                keys.insert(key)
            }
        }
        for prefix in all.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            if let last = prefixes.last, prefix.starts(with: last) { continue }
            prefixes.append(prefix)
        }
    }

    /// Whether nothing is locked.
    var isEmpty: Bool { keys.isEmpty && prefixes.isEmpty }

    /// Whether a key is locked.
    func covers(_ key: Key) -> Bool {
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
