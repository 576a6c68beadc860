import DefaultsFiles
import DefaultsModel
import KeyedArchive

/// The merged contents of all files of one layer of a domain: for each key the value in the last
/// file that has it, and all locks.
struct MergedLayer {
    /// How many bytes of overridden values are remembered.
    private static let mostHidden = 4 << 20

    /// A value, and the index of its file.
    private struct Entry {
        let archive: KeyedArchive
        let file: Int
    }

    private var entries: [Key: Entry] = [:]
    /// The locks of each file.
    private var locks: [Int: [String]] = [:]
    /// The values of each file that later files override.
    private var hidden: [Int: [FileRecord.Hidden]] = [:]
    private var hiddenBytes = 0

    /// The keys, in the order of their bytes.
    var keys: [Key] { entries.keys.sorted() }

    /// The value of a key; nil if no file has one.
    func value(of key: Key) -> KeyedArchive? { entries[key]?.archive }

    /// Adds the next file, whose values override those of earlier files.
    mutating func add(_ document: LayerDocument, from file: Int) {
        for (key, archive) in document.values { set(key, to: archive, from: file) }
        locks[file] = document.locks.map(\.pattern)
    }

    /// Adds a value, which overrides the one of earlier files.
    mutating func set(_ key: Key, to archive: KeyedArchive, from file: Int) {
        if let below = entries.updateValue(Entry(archive: archive, file: file), forKey: key) {
            hide(below, of: key)
        }
    }

    /// Adds the locks of a file.
    mutating func lock(_ patterns: [String], from file: Int) {
        locks[file] = patterns
    }

    private mutating func hide(_ entry: Entry, of key: Key) {
        hiddenBytes += entry.archive.bytes.count
        guard hiddenBytes <= Self.mostHidden else { return }
        hidden[entry.file, default: []].append(
            FileRecord.Hidden(key: key.name, archive: entry.archive.bytes))
    }

    /// The record of the layer.
    ///
    /// - Parameter files: Their paths and digests.
    func record(
        of files: [(path: FilePath, digest: UInt64)], repair: Int64
    ) -> FileRecord {
        var keys: [Int: [Key]] = [:]
        for (key, entry) in entries where entry.file != 0 {
            keys[entry.file, default: []].append(key)
        }
        return FileRecord(
            files: files.enumerated().map { index, file in
                FileRecord.File(
                    path: file.path, digest: file.digest, locks: locks[index] ?? [],
                    keys: (keys[index] ?? []).sorted().map(\.name),
                    hidden: (hidden[index] ?? []).sorted {
                        $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
                    })
            }, repair: repair)
    }
}
