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
        /// The archive, as bytes: most are never looked at.
        fileprivate enum Stock {
            case archive([UInt8])
            case large(Int)
            case unknown
        }

        fileprivate let stock: Stock
        /// The change that it is of; nil where that is not known.
        let generation: UInt64?

        var content: WatchedChange.Content {
            switch stock {
            case .archive(let bytes):
                (try? KeyedArchive(validating: bytes)).map { .value($0) } ?? .unknown
            case .large(let size): .large(size)
            case .unknown: .unknown
            }
        }

        /// Whether it is known to be this archive.
        func holds(_ bytes: [UInt8]?) -> Bool {
            guard case .archive(let held) = stock else { return false }
            return held == bytes
        }
    }

    private var entries: [String: Entry] = [:]
    private var size = 0

    var keys: Set<String> { Set(entries.keys) }

    subscript(key: String) -> Entry? { entries[key] }

    /// Notes the archive that a key holds now.
    mutating func hold(_ archive: [UInt8], of generation: UInt64?, for key: String) {
        forget(key)
        let isKept = archive.count <= Self.largest && size + archive.count <= Self.bound
        if isKept { size += archive.count }
        entries[key] = Entry(
            stock: isKept ? .archive(archive) : .large(archive.count), generation: generation)
    }

    /// Notes that a key holds something.
    mutating func holdUnknown(for key: String) {
        forget(key)
        entries[key] = Entry(stock: .unknown, generation: nil)
    }

    mutating func forget(_ key: String) {
        guard let old = entries.removeValue(forKey: key) else { return }
        if case .archive(let bytes) = old.stock { size -= bytes.count }
    }
}
