import DBus
import DefaultsFiles
import DefaultsModel
import KeyedArchive
import Logging

/// What is known of the layers that are made of files, beside what the database keeps of them.
struct FileLayers {
    /// What the files of one layer of a domain were when they were last read.
    struct Known {
        /// The weakest first, with the digests of what they hold, be it good or bad.
        var files: [(path: FilePath, digest: UInt64)]
        var locks: LockTable
        /// What is wrong with some of the files.
        var problems: [FilePath: LayerProblem] = [:]

        /// Whether the files are these.
        func isMade(of found: [FoundFile]) -> Bool {
            files.elementsEqual(found) { $0.path == $1.path && $0.digest == $1.digest }
        }
    }

    let places: LayerPlaces
    /// By domain, of which the layer is a part.
    var known: [Domain: Known] = [:]
    /// What is wrong with the places themselves.
    var problems: Set<LayerProblem> = []
    /// The record that was last looked into; refusing many writes of one domain reads it once.
    var lookedInto: (domain: Domain, record: FileRecord)?
    /// The rescue of the store after which the files were compared with it; nil before the first
    /// comparison.
    var rescue: Int64?
    /// Whether the files are to be read, again.
    var isOutdated = false
    var isBeingRead = false
    /// How long it took the last time.
    var readingTime = Duration.zero
    var watch: DirectoryWatch?
    /// Goes off when the files are to be read after something has changed, or was refused.
    var timer: EventLoop.Timer?
    /// When it goes off.
    var timerDue: ContinuousClock.Instant?
    /// Whether the log knows that the database does not take what files say.
    var isRefused = false
    /// Whether the system had not what reading some of the files takes, for now.
    var isShortOfMeans: Bool {
        problems.contains { $0.code == .noMeans }
            || known.values.contains { $0.problems.values.contains { $0.code == .noMeans } }
    }

    /// How loudly bad files are told.
    let problemLevel: Logger.Level

    init(in places: LayerPlaces, problemLevel: Logger.Level) {
        self.places = places
        self.problemLevel = problemLevel
    }

    /// All files that are known.
    var paths: [String] { known.values.flatMap { $0.files.map(\.path.description) } }

    /// Whether a layer may have keys: one that is made of files has none if there are none.
    func mayHaveKeys(_ domain: Domain) -> Bool {
        domain.layer.isWritable || known[domain] != nil
    }
}

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

    /// The value of a key; nil if no file has one.
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
