import KeyedArchive
import PropertyList

/// What the watched keys have held, for the old value of a change.
///
/// Invariants:
/// 1. Every watched key that has a value is here, by name; its value if there is room for it.
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
        /// The change that it is of; nil if that is not known.
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

/// The words of `write` that give a value: a scalar in those of macOS, any other value by `--json`.
struct ValueArguments: ChoosySink {
    private var words: [String] = []

    /// - Parameter hasISODates: Whether dates in JSON are spelled in ISO 8601.
    /// - Returns: An option of ours, or the words behind the key; the other is empty.
    /// - Throws: `ArchiveError` if JSON cannot say it, `JSONError` if that could not be read
    ///   back, as of an object inside itself.
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
        // Beyond the range of -int, JSON has it exact.
        guard Int64(exactly: value) != nil else { throw RefusedValue() }
        words = ["-int", "\(value)"]
    }

    mutating func real(_ value: Double) throws {
        guard value.isFinite else { throw RefusedValue() }
        words = ["-float", "\(value)"]
    }

    mutating func string(_ value: Text) throws {
        // A command line carries neither a NUL nor half of a character.
        guard let string = value.string, !string.utf8.contains(0) else { throw RefusedValue() }
        words = ["-string", string]
    }
}
