import KeyedArchive

/// What the watched keys have held, for the old value of a change.
///
/// Invariants:
/// 1. Every watched key that has a value is here, by name; its value where there is room for it.
/// 2. The archives here have no more bytes than the bound.
struct HeldValues {
    /// The largest archive that is kept, and the most bytes of all.
    private static let largest = 64 << 10
    private static let bound = 64 << 20

    struct Entry {
        let content: WatchedChange.Content
        /// The change that it is of; nil where that is not known.
        let generation: UInt64?
    }

    private var entries: [String: Entry] = [:]
    private var size = 0

    var keys: Set<String> { Set(entries.keys) }

    subscript(key: String) -> Entry? { entries[key] }

    /// Notes what a key holds now.
    mutating func hold(_ archive: KeyedArchive, of generation: UInt64?, for key: String) {
        forget(key)
        let count = archive.bytes.count
        let isKept = count <= Self.largest && size + count <= Self.bound
        if isKept { size += count }
        entries[key] = Entry(
            content: isKept ? .value(archive) : .large(count), generation: generation)
    }

    /// Notes that a key holds something.
    mutating func holdUnknown(for key: String) {
        forget(key)
        entries[key] = Entry(content: .unknown, generation: nil)
    }

    mutating func forget(_ key: String) {
        guard let old = entries.removeValue(forKey: key) else { return }
        if case .value(let archive) = old.content { size -= archive.bytes.count }
    }
}
