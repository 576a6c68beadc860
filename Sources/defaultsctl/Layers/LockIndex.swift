import DefaultsClient

/// Locks by what they lock, so that many keys are compared with many of them in little time.
struct LockIndex {
    private var keys: [String: RemoteLock] = [:]
    private var prefixes: [ArraySlice<UInt8>: RemoteLock] = [:]
    private var lengths: Set<Int> = []

    init(_ locks: [RemoteLock]) {
        for lock in locks {
            // A managed key may end with an asterisk, too; the service knows which of them it is.
            if keys[lock.pattern] == nil { keys[lock.pattern] = lock }
            guard lock.pattern.hasSuffix("*") else { continue }
            let prefix = Array(lock.pattern.utf8.dropLast())[...]
            if prefixes[prefix] == nil { prefixes[prefix] = lock }
            lengths.insert(prefix.count)
        }
    }

    /// A lock that covers a key, or seems to.
    func lock(of key: String) -> RemoteLock? {
        if let lock = keys[key] { return lock }
        let bytes = Array(key.utf8)
        for length in lengths where length <= bytes.count {
            if let lock = prefixes[bytes[..<length]] { return lock }
        }
        return nil
    }
}
