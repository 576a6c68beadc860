import DefaultsClient

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
