import DefaultsFiles
import DefaultsModel
import KeyedArchive

/// What the files of one layer of a domain say together: of each key the last that has it, and all
/// locks.
struct MergedLayer {
    /// How many bytes of values that are not in force are remembered.
    private static let mostHidden = 4 << 20

    /// A value, and the place of the file that it is from.
    private struct Entry {
        let archive: KeyedArchive
        let file: Int
    }

    private var entries: [Key: Entry] = [:]
    /// Of each file what it locks.
    private var locks: [Int: [String]] = [:]
    /// Of each file what later ones have overlaid.
    private var hidden: [Int: [FileRecord.Hidden]] = [:]
    private var hiddenBytes = 0

    /// The keys, in the order of their bytes.
    var keys: [Key] { entries.keys.sorted() }

    /// The value of a key; nil where no file has one.
    func value(of key: Key) -> KeyedArchive? { entries[key]?.archive }

    /// Lays the next file over those before.
    mutating func add(_ document: LayerDocument, from file: Int) {
        for (key, archive) in document.values { set(key, to: archive, from: file) }
        locks[file] = document.locks.map(\.pattern)
    }

    /// Lays a value over those before.
    mutating func set(_ key: Key, to archive: KeyedArchive, from file: Int) {
        if let below = entries.updateValue(Entry(archive: archive, file: file), forKey: key) {
            hide(below, of: key)
        }
    }

    /// Adds what a file locks.
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
        of files: [(path: FilePath, digest: UInt64)], rescue: Int64
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
            }, rescue: rescue)
    }
}
