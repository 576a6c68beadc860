import DBus
import DefaultsFiles
import DefaultsModel
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

    /// Whether a layer may have keys: one that is made of files has none where there are none.
    func mayHaveKeys(_ domain: Domain) -> Bool {
        domain.layer.isWritable || known[domain] != nil
    }
}
