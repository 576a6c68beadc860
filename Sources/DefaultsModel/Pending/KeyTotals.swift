/// How many keys a domain has and how long their names are together.
///
/// They are kept up to date with each change, so that the limit on names and the list of domains
/// need no look at the keys themselves.
public struct KeyTotals: Hashable, Sendable {
    /// The number of keys.
    public private(set) var keys: Int
    /// The length of their names together, in bytes.
    public private(set) var nameBytes: Int

    /// The totals of a domain; those of one that has no keys, where nothing is given.
    public init(keys: Int = 0, nameBytes: Int = 0) {
        self.keys = keys
        self.nameBytes = nameBytes
    }

    /// Counts a key in that was not there.
    public mutating func add(_ key: Key) {
        keys += 1
        nameBytes += key.length
    }

    /// Counts a key out that was there.
    public mutating func remove(_ key: Key) {
        keys -= 1
        nameBytes -= key.length
    }
}
