import DBus
import DefaultsFiles
import DefaultsModel

/// What is known of the layers that are made of files, beside what the database keeps of them.
struct FileLayers {
    /// What the files of one layer of a domain were when they were last read.
    struct Known {
        /// The weakest first, with the digests of what they hold, be it good or bad.
        var files: [FileRecord.File]
        var locks: LockTable
        /// What is wrong with some of the files, by their paths.
        var problems: [String: LayerProblem] = [:]
    }

    let places: LayerPlaces
    /// By domain, of which the layer is a part.
    var known: [Domain: Known] = [:]
    /// What is wrong with the places themselves.
    var problems: [LayerProblem] = []
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
    /// Whether the log knows that the database does not take what files say.
    var isRefused = false
    /// Whether the log knows that nothing is watched.
    var isUnwatched = false

    init(in places: LayerPlaces) {
        self.places = places
    }

    /// Whether a layer may have keys: one that is made of files has none where there are none.
    func mayHaveKeys(_ domain: Domain) -> Bool {
        domain.layer.isWritable || known[domain] != nil
    }
}
