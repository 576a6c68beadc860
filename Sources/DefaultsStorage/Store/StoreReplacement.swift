internal import Glibc
internal import SystemCalls

/// Replaces the store by a new one, so that at any moment of a power cut one of the two is there
/// and complete.
///
/// The new store is made as `defaults.db.unfinished`. It becomes `defaults.db.renewed` when it is
/// complete and on disk. From then on it is the store, and each start moves it to its place.
///
/// Invariants:
/// 1. While there may be a new store, now or after a power cut, nothing is written to the old one.
///    A `make` that fails leaves no new store, and a caller that continues with the old one calls
///    `cancel()`.
/// 2. The log of the old store is never beside the new one.
/// 3. The files of the old store are kept under one name, however often the move is interrupted and
///    continued.
struct StoreReplacement {
    private static let unfinishedEnding = ".unfinished"
    private static let readyEnding = ".renewed"
    private static let asideEnding = ".aside-"
    /// How the names of files begin that another program has put in the place of the store.
    ///
    /// They need not be damaged.
    private static let foundEnding = ".replaced-"
    /// How many replaced stores are kept.
    static let mostKept = 5

    private let path: String
    private let directory: PrivateDirectory
    /// The name of the store.
    private let name: String
    private var unfinished: String { name + StoreReplacement.unfinishedEnding }
    /// The name of a complete new store.
    var ready: String { name + StoreReplacement.readyEnding }

    /// The outcome of moving a new store to its place.
    enum Outcome {
        /// There was no new store.
        case nothing
        /// It is the store now. The old one has this path, if it is kept.
        case replaced(aside: String?)
    }

    init(of file: StoreFile) {
        path = file.path
        directory = file.directory
        name = file.name
    }

    /// Makes a new store, which is valid when this returns.
    ///
    /// - Parameters:
    ///   - failure: The error if it cannot be made. Then there is no new store.
    ///   - making: Makes it in an empty file, and closes the file.
    /// - Throws: Also `.replacementUndecided`, see `cancel()`.
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

    /// Makes a file as if it were a new store, and removes it.
    func tryOut() throws(SystemError) {
        try remove(unfinished)
        let path = directory.file(unfinished)
        let file = try File(path, O_RDWR | O_CREAT | O_EXCL)
        do throws(SystemError) {
            try file.write([UInt8](repeating: 0, count: PageSize.ours.whole), at: 0)
            try file.synchronize()
        } catch {
            try? remove(unfinished)
            throw error
        }
        try remove(unfinished)
    }

    /// Makes sure that there is no new store.
    ///
    /// First it loses the name that makes it valid. Until that is on disk it keeps another name, so
    /// that a later attempt finds it.
    ///
    /// - Throws: `.replacementUndecided` if it may return after a power cut.
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

    /// Moves the new store to its place, also that of an interrupted process.
    ///
    /// - Parameters:
    ///   - earlier: Files that are not kept. All others in that place are kept.
    ///   - isDamaged: Whether what is there was found to be damaged.
    func finish(
        forgetting earlier: [FileIdentity] = [], isDamaged: Bool = true
    ) throws(SystemError) -> Outcome {
        guard exists(ready) else {
            // The rest of an interrupted move.
            try removeAll()
            return .nothing
        }
        try remove(unfinished)
        let aside = try setAside(
            but: earlier,
            as: isDamaged ? StoreReplacement.asideEnding : StoreReplacement.foundEnding)
        // Otherwise a power cut could leave the new store with the log of the old one.
        try directory.synchronize()
        try directory.rename(ready, to: name)
        try directory.synchronize()
        return .replaced(aside: aside)
    }

    /// Whether the file with the name of a new store, if there is one, begins as a store does.
    ///
    /// - Throws: `.cannotOpen` if it cannot be read.
    func isReadyOrNone() throws(StorageError) -> Bool {
        guard exists(ready) else { return true }
        do throws(StorageError) {
            return try StoreHeader(inFile: directory.file(ready)).map { $0.isOurs && !$0.isEmpty }
                ?? false
        } catch {
            guard error.code == .damagedDatabase else { throw error }
            return false
        }
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
    /// Renames the log.
    ///
    /// The new name is on disk when this returns.
    ///
    /// - Parameter seconds: The present time, in seconds since 1970.
    /// - Returns: Its path.
    func setLogAside(at seconds: UInt64) throws(SystemError) -> String {
        let log = name + "-wal"
        let prefix = name + StoreReplacement.asideEnding
        let kept = try directory.names().filter { $0.hasPrefix(prefix) }
        var time = timespec(tv_sec: Int(clamping: seconds), tv_nsec: 0)
        while kept.contains(where: { $0.hasPrefix(prefix + StoreReplacement.text(time)) }) {
            time.tv_nsec += 1
        }
        let aside = prefix + StoreReplacement.text(time) + "-wal"
        try directory.rename(log, to: aside)
        try directory.synchronize()
        forgetOldest(kept)
        return directory.file(aside)
    }

    private static func text(_ time: timespec) -> String {
        let fraction = String(time.tv_nsec)
        return Timestamp.text(UInt64(clamping: time.tv_sec)) + "."
            + String(repeating: "0", count: max(0, 9 - fraction.count)) + fraction
    }

    /// Renames the files in that place.
    ///
    /// The log is first: SQLite would take it for the log of the new store.
    ///
    /// - Returns: The path of the database, or of its log alone; nil if nothing is kept.
    private func setAside(
        but earlier: [FileIdentity], as ending: String
    ) throws(SystemError) -> String? {
        let kept = try directory.names().filter { $0.hasPrefix(name + ending) }
        let aside = name + ending + (try timeOfMaking())
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

    /// When the new store was made.
    ///
    /// It does not change, and has nanoseconds, so that each replacement has its own name.
    private func timeOfMaking() throws(SystemError) -> String {
        StoreReplacement.text(try File(directory.file(ready), O_RDONLY).status().modified)
    }

    /// Removes the oldest if there are too many, as far as possible.
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
