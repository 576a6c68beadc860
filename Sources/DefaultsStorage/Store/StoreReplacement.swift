internal import Glibc

/// The putting of a store that was made anew in the place of the one before, so that whenever the
/// machine goes down there is one of the two, whole.
///
/// The new store is made as `defaults.db.unfinished`, and is `defaults.db.renewed` from the moment
/// at which it is whole and on disk. From then on it is the store, and each start puts it in its
/// place.
struct StoreReplacement {
    private static let unfinished = StoreFile.name + ".unfinished"
    private static let ready = StoreFile.name + ".renewed"
    private static let aside = StoreFile.name + ".aside-"
    /// How many stores are kept that were replaced.
    static let mostKept = 5

    let directory: PrivateDirectory

    /// What has come of putting a new store in its place.
    enum Outcome {
        /// There was none.
        case nothing
        /// It is the store now; what was there before has this path, if it is kept.
        case replaced(aside: String?)
    }

    /// Makes an empty file for the new store.
    ///
    /// - Returns: Its path.
    func begin() throws(SystemError) -> String {
        try removeUnfinished()
        let path = directory.file(StoreReplacement.unfinished)
        try File(path, O_RDWR | O_CREAT | O_EXCL).setMode(0o600)
        return path
    }

    /// Makes the new store the one that counts; nobody has it open.
    func commit() throws(SystemError) {
        try File(directory.file(StoreReplacement.unfinished), O_RDONLY).synchronize()
        try directory.rename(StoreReplacement.unfinished, to: StoreReplacement.ready)
        try directory.synchronize()
    }

    /// Removes a new store that is not to count any more.
    func cancel() throws(SystemError) {
        try removeUnfinished()
        try remove(StoreReplacement.ready)
    }

    /// Puts the new store in its place, be it of this process or of one that was interrupted.
    ///
    /// - Parameter earlier: Files that are not kept; any other that stands there is.
    func finish(forgetting earlier: [FileIdentity] = []) throws(SystemError) -> Outcome {
        guard access(directory.file(StoreReplacement.ready), F_OK) == 0 else { return .nothing }
        let aside = try setAside(but: earlier)
        try directory.rename(StoreReplacement.ready, to: StoreFile.name)
        try directory.synchronize()
        return .replaced(aside: aside)
    }

    /// Removes what an interrupted process has not ended.
    func removeUnfinished() throws(SystemError) {
        try remove(StoreReplacement.unfinished)
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
    /// Gives the files that stand there other names.
    ///
    /// The log goes first: SQLite would take it for that of the new store.
    ///
    /// - Returns: The path of the database, or of its log alone; nil where nothing is kept.
    private func setAside(but earlier: [FileIdentity]) throws(SystemError) -> String? {
        let kept = try directory.names().filter { $0.hasPrefix(StoreReplacement.aside) }
        var name = StoreReplacement.aside + Timestamp.text(Timestamp.now)
        // Another one in the same second.
        while kept.contains(where: { $0.hasPrefix(name) }) { name += "a" }
        var path: String?
        for suffix in StoreFile.suffixes.reversed() {
            let old = StoreFile.name + suffix
            var status = stat()
            guard stat(directory.file(old), &status) == 0 else { continue }
            if status.st_size > 0 && !earlier.contains(FileIdentity(status)) {
                try directory.rename(old, to: name + suffix)
                path = directory.file(name + suffix)
            } else if !suffix.isEmpty {
                try remove(old)
            }
        }
        if path != nil { forgetOldest(kept) }
        return path
    }

    /// Removes the oldest where there are too many, as far as that can be done.
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
