internal import Glibc
internal import SystemCalls

/// The putting of a store that was made anew in the place of the one before, so that whenever the
/// machine goes down there is one of the two, whole.
///
/// The new store is made as `defaults.db.unfinished`, and is `defaults.db.renewed` from the moment
/// at which it is whole and on disk. From then on it is the store, and each start puts it in its
/// place.
///
/// Invariants:
/// 1. While there may be a new store, now or after a power cut, nobody writes to the one before:
///    `make` leaves none when it fails, and whoever goes on with the one before calls `cancel()`.
/// 2. The log of the one before never stands beside the new one.
/// 3. However often the putting in its place is interrupted and gone on with, the files of the one
///    before are kept under one name.
struct StoreReplacement {
    private static let unfinishedEnding = ".unfinished"
    private static let readyEnding = ".renewed"
    private static let asideEnding = ".aside-"
    /// How many stores are kept that were replaced.
    static let mostKept = 5

    private let path: String
    private let directory: PrivateDirectory
    /// The name of the store.
    private let name: String
    private var unfinished: String { name + StoreReplacement.unfinishedEnding }
    private var ready: String { name + StoreReplacement.readyEnding }

    /// What has come of putting a new store in its place.
    enum Outcome {
        /// There was none.
        case nothing
        /// It is the store now; what was there before has this path, if it is kept.
        case replaced(aside: String?)
    }

    init(of file: StoreFile) {
        path = file.path
        directory = file.directory
        name = file.name
    }

    /// Makes a new store, which counts from the end of this on.
    ///
    /// - Parameters:
    ///   - failure: What to throw if it cannot be made. There is none then.
    ///   - making: Makes it in an empty file, and has that closed at the end.
    /// - Throws: `.replacementUndecided`, too, as `cancel()`.
    func make(
        orThrow failure: (any Error) -> StorageError, _ making: (_ path: String) throws -> Void
    ) throws(StorageError) {
        do {
            try remove(unfinished)
            let path = directory.file(unfinished)
            try File(path, O_RDWR | O_CREAT | O_EXCL).setMode(0o600)
            try making(path)
            try File(path, O_RDONLY).synchronize()
            try directory.rename(unfinished, to: ready)
            try directory.synchronize()
        } catch {
            try cancel()
            throw failure(error)
        }
    }

    /// Sees to it that there is no new store.
    ///
    /// It loses the name by which it counts first. Until that is on disk it keeps another one, so
    /// that an attempt after one that failed knows of it.
    ///
    /// - Throws: `.replacementUndecided` if a power cut may bring it back.
    func cancel() throws(StorageError) {
        do throws(SystemError) {
            try removeAll()
        } catch {
            throw .replacementUndecided(path, error)
        }
    }

    private func removeAll() throws(SystemError) {
        if exists(ready) { try directory.rename(ready, to: unfinished) }
        guard exists(unfinished) else { return }
        try directory.synchronize()
        try remove(unfinished)
    }

    /// Puts the new store in its place, be it of this process or of one that was interrupted.
    ///
    /// - Parameter earlier: Files that are not kept; any other that stands there is.
    func finish(forgetting earlier: [FileIdentity] = []) throws(SystemError) -> Outcome {
        guard exists(ready) else {
            // What an interrupted process has not ended.
            try removeAll()
            return .nothing
        }
        try remove(unfinished)
        let aside = try setAside(but: earlier)
        // Or a power cut could leave the new store with the log of the one before.
        try directory.synchronize()
        try directory.rename(ready, to: name)
        try directory.synchronize()
        return .replaced(aside: aside)
    }

    private func exists(_ name: String) -> Bool {
        access(directory.file(name), F_OK) == 0
    }

    private func remove(_ name: String) throws(SystemError) {
        do throws(SystemError) {
            try directory.remove(name)
        } catch {
            guard error.number == ENOENT else { throw error }
        }
    }
}

// MARK: What is kept

extension StoreReplacement {
    /// Gives the log another name, which is on disk at the end.
    ///
    /// - Returns: Its path.
    func setLogAside() throws(SystemError) -> String {
        let log = name + "-wal"
        let aside = name + StoreReplacement.asideEnding + StoreReplacement.text(now()) + "-wal"
        let kept = try directory.names().filter {
            $0.hasPrefix(name + StoreReplacement.asideEnding)
        }
        try directory.rename(log, to: aside)
        try directory.synchronize()
        forgetOldest(kept)
        return directory.file(aside)
    }

    private func now() -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return time
    }

    private static func text(_ time: timespec) -> String {
        let fraction = String(time.tv_nsec)
        return Timestamp.text(UInt64(clamping: time.tv_sec)) + "."
            + String(repeating: "0", count: max(0, 9 - fraction.count)) + fraction
    }

    /// Gives the files that stand there other names.
    ///
    /// The log goes first: SQLite would take it for that of the new store.
    ///
    /// - Returns: The path of the database, or of its log alone; nil if nothing is kept.
    private func setAside(but earlier: [FileIdentity]) throws(SystemError) -> String? {
        let kept = try directory.names().filter {
            $0.hasPrefix(name + StoreReplacement.asideEnding)
        }
        let aside = name + StoreReplacement.asideEnding + (try timeOfMaking())
        var path: String?
        for suffix in StoreFile.suffixes.reversed() {
            let old = name + suffix
            guard let status = FileStatus.ifAny(directory.file(old)) else { continue }
            if status.size > 0 && !earlier.contains(status.identity) {
                try directory.rename(old, to: aside + suffix)
                path = directory.file(aside + suffix)
            } else if !suffix.isEmpty {
                try remove(old)
            }
        }
        if path != nil { forgetOldest(kept.filter { !$0.hasPrefix(aside) }) }
        return path
    }

    /// When the new store was made, which is the same whenever it is asked; to the nanosecond, as
    /// the name is to be for this replacement alone.
    private func timeOfMaking() throws(SystemError) -> String {
        StoreReplacement.text(try File(directory.file(ready), O_RDONLY).status().modified)
    }

    /// Removes the oldest if there are too many, as far as that can be done.
    private func forgetOldest(_ names: [String]) {
        let logs = StoreFile.suffixes.dropFirst()
        let stores = Set(
            names.map { name in
                logs.first { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) } ?? name
            })
        for store in stores.sorted().dropLast(StoreReplacement.mostKept - 1) {
            for suffix in StoreFile.suffixes { try? directory.remove(store + suffix) }
        }
    }
}
