package import DefaultsModel
internal import DefaultsTerms

/// What a file locks: a key, or all keys that begin with a prefix.
package struct Lock: Hashable, Sendable {
    /// The key, or the prefix and `*`.
    package let pattern: String
    /// How many bytes of the pattern are the prefix; nil if it is a key.
    private let prefixLength: Int?

    /// Reads `Key`, `Prefix*` or `*`; nil if the text is something else.
    ///
    /// A `*` that is not at the end is refused, because it could be taken for a wildcard.
    package init?(_ pattern: String) {
        let hasStar = pattern.utf8.last == UInt8(ascii: "*")
        let name = hasStar ? pattern.utf8.dropLast() : pattern.utf8[...]
        guard hasStar || !name.isEmpty, name.count <= KeyRule.maximumLength,
            !name.contains(0), !name.contains(UInt8(ascii: "*"))
        else { return nil }
        self.pattern = pattern
        prefixLength = hasStar ? name.count : nil
    }

    /// The prefix of all locked keys, in bytes; nil if the lock is for one key.
    var prefix: Substring.UTF8View? { prefixLength.map { pattern.utf8.prefix($0) } }

    /// Whether the lock covers the key.
    ///
    /// Bytes are compared, as for keys.
    package func covers(_ key: Key) -> Bool {
        guard let prefix else { return pattern.utf8.elementsEqual(key.name.utf8) }
        return key.name.utf8.starts(with: prefix)
    }

    package static func == (one: Lock, other: Lock) -> Bool {
        one.pattern.utf8.elementsEqual(other.pattern.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(Array(pattern.utf8))
    }
}

/// All locks of one domain, prepared for fast lookup.
///
/// ```swift
/// let locks = LockTable(["Proxy.*", "Theme"].compactMap(Lock.init))
/// locks.covers(try Key("Proxy.Host"))  // true
/// ```
package struct LockTable: Sendable {
    private var keys: Set<Key> = []
    /// Sorted by bytes.
    ///
    /// No prefix begins with another one.
    ///
    /// So only one prefix can match a key: the last one that is not after the key.
    private var prefixes: [[UInt8]] = []

    package init(_ locks: some Sequence<Lock> = []) {
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
    package func covers(_ key: Key) -> Bool {
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
