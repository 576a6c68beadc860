import DBus
import DefaultsFiles
import DefaultsModel
import KeyedArchive
import Logging

/// What is known about the layers that are made from files, besides what is in the database.
struct FileLayers {
    /// The files of one layer of a domain when they were last read.
    struct Known {
        /// The weakest file first, each with the digest of its contents, which may be invalid.
        var files: [(path: FilePath, digest: UInt64)]
        var locks: LockTable
        /// What is wrong with some of the files.
        var problems: [FilePath: LayerProblem] = [:]

        /// Whether the files are still the same.
        func isMade(of found: [FoundFile]) -> Bool {
            files.elementsEqual(found) { $0.path == $1.path && $0.digest == $1.digest }
        }
    }

    let places: LayerPlaces
    /// By domain and layer.
    var known: [Domain: Known] = [:]
    /// What is wrong with the directories themselves.
    var problems: Set<LayerProblem> = []
    /// The last record that was read, so that refusing many writes to one domain reads it only
    /// once.
    var lastRecord: (domain: Domain, record: FileRecord)?
    /// The repair of the store after which the files were last compared with it; nil before the
    /// first comparison.
    var repair: Int64?
    /// Whether the files must be read again.
    var isOutdated = false
    var isBeingRead = false
    /// How long the last reading took.
    var readingTime = Duration.zero
    var watch: DirectoryWatch?
    /// Fires when the files are to be read, after a change or after a failure.
    var timer: EventLoop.Timer?
    /// When the timer fires.
    var timerDue: SuspendingClock.Instant?
    /// Whether the log has reported that the database does not accept what the files contain.
    var isRefused = false
    /// Whether the system lacked the resources to read some of the files.
    var lacksResources: Bool {
        problems.contains { $0.code == .noMeans }
            || known.values.contains { $0.problems.values.contains { $0.code == .noMeans } }
    }

    /// The log level for invalid files.
    let problemLevel: Logger.Level

    init(in places: LayerPlaces, problemLevel: Logger.Level) {
        self.places = places
        self.problemLevel = problemLevel
    }

    /// All files that are known.
    var paths: [String] { known.values.flatMap { $0.files.map(\.path.description) } }

    /// Whether a layer may have keys.
    ///
    /// A layer that is made from files has none if it has no files.
    func mayHaveKeys(_ domain: Domain) -> Bool {
        domain.layer.isWritable || known[domain] != nil
    }
}

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
