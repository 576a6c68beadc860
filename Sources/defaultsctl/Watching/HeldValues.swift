import KeyedArchive
import PropertyList

/// The last known values of the watched keys, which become the old values of changes.
///
/// Invariants:
/// 1. Every watched key with a value is here. The value itself is here if there is room for it.
/// 2. The archives here have no more bytes than the bound.
struct HeldValues {
    /// The largest archive to keep, and the most bytes of all archives.
    private static let largest = 64 << 10
    private static let bound = 64 << 20

    struct Entry {
        /// The archive as bytes, because most are never used.
        fileprivate enum Stock {
            case archive([UInt8])
            case large(Int)
            case unknown
        }

        fileprivate let stock: Stock
        /// The change that has set it; nil if it is unknown.
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

    /// Notes the new archive of a key.
    mutating func hold(_ archive: [UInt8], of generation: UInt64?, for key: String) {
        forget(key)
        let isKept = archive.count <= Self.largest && size + archive.count <= Self.bound
        if isKept { size += archive.count }
        entries[key] = Entry(
            stock: isKept ? .archive(archive) : .large(archive.count), generation: generation)
    }

    /// Notes that a key has an unknown value.
    mutating func holdUnknown(for key: String) {
        forget(key)
        entries[key] = Entry(stock: .unknown, generation: nil)
    }

    mutating func forget(_ key: String) {
        guard let old = entries.removeValue(forKey: key) else { return }
        if case .archive(let bytes) = old.stock { size -= bytes.count }
    }
}

/// The words with which `write` stores a value: a scalar in the words of macOS, any other value
/// with `--json`.
struct ValueArguments: SelectiveSink {
    private var words: [String] = []

    /// - Parameter hasISODates: Whether dates in JSON are spelled in ISO 8601.
    /// - Returns: An option of ours, or the words after the key. The other one is empty.
    /// - Throws: `ArchiveError` if JSON cannot express the value, or `JSONError` if it could not be
    ///   read back, such as an object that contains itself.
    static func words(
        for archive: KeyedArchive, hasISODates: Bool
    ) throws -> (options: [String], value: [String]) {
        var sink = ValueArguments()
        do {
            try archive.render(into: &sink)
            return ([], sink.words)
        } catch is RefusedValue {
            let json = try archive.jsonText(hasISODates: hasISODates)
            _ = try KeyedArchive(json: json)
            return (["--json", json], [])
        }
    }

    mutating func boolean(_ value: Bool) throws { words = ["-bool", "\(value)"] }

    mutating func integer(_ value: Int128) throws {
        // JSON keeps numbers outside the range of -int exact.
        guard Int64(exactly: value) != nil else { throw RefusedValue() }
        words = ["-int", "\(value)"]
    }

    mutating func real(_ value: Double) throws {
        guard value.isFinite else { throw RefusedValue() }
        words = ["-float", "\(value)"]
    }

    mutating func string(_ value: Text) throws {
        // A command line can contain neither a NUL nor an unpaired surrogate.
        guard let string = value.string, !string.utf8.contains(0) else { throw RefusedValue() }
        words = ["-string", string]
    }
}
