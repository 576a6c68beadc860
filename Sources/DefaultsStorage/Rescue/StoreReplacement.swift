internal import Glibc

/// The putting of a rescued store in the place of the damaged one, so that whenever the machine goes
/// down there is one of the two, whole.
///
/// The rescued store is made under one name, and has another from the moment at which it is on disk.
/// From then on it is the store, and each start puts it in its place.
struct StoreReplacement {
    private static let unfinished = "defaults.db.rescue"
    private static let ready = "defaults.db.rescued"
    private static let damaged = "defaults.db.damaged-"
    /// How many damaged stores are kept.
    static let mostKept = 5

    let directory: PrivateDirectory

    /// Makes an empty file for the rescued store.
    func begin() throws(SystemError) -> String {
        let path = directory.file(StoreReplacement.unfinished)
        guard unlink(path) == 0 || errno == ENOENT else { throw .last("unlink", path) }
        try File(path, O_RDWR | O_CREAT | O_EXCL).setMode(0o600)
        return path
    }

    /// Makes the rescued store the one that counts.
    func commit() throws(SystemError) {
        try File(directory.file(StoreReplacement.unfinished), O_RDONLY).synchronize()
        try directory.rename(StoreReplacement.unfinished, to: StoreReplacement.ready)
        try directory.synchronize()
    }

    /// Puts a rescued store in its place, be it of this process or of one that was interrupted.
    ///
    /// - Returns: The path of the damaged one from now on; nil where there is no rescued one.
    func finish() throws(SystemError) -> String? {
        let path = directory.file(StoreReplacement.unfinished)
        guard unlink(path) == 0 || errno == ENOENT else { throw .last("unlink", path) }
        guard access(directory.file(StoreReplacement.ready), F_OK) == 0 else { return nil }
        let aside = try setAside()
        try directory.rename(StoreReplacement.ready, to: StoreFile.name)
        try directory.synchronize()
        return aside
    }

    /// Gives the files of the damaged store other names.
    ///
    /// The log goes first: none may stay beside the rescued store, which it is not of.
    private func setAside() throws(SystemError) -> String {
        let time = Timestamp.text(Timestamp.now)
        let kept = try directory.names().filter { $0.hasPrefix(StoreReplacement.damaged) }
        var name = StoreReplacement.damaged + time
        // Another rescue in the same second.
        while kept.contains(where: { $0.hasPrefix(name) }) { name += "a" }
        for suffix in StoreFile.suffixes.reversed() {
            let old = StoreFile.name + suffix
            guard let size = try? File(directory.file(old), O_RDONLY).size() else { continue }
            if size > 0 || suffix.isEmpty {
                try directory.rename(old, to: name + suffix)
            } else {
                try directory.remove(old)
            }
        }
        forgetOldest(kept)
        return directory.file(name)
    }

    /// Removes the oldest where there are too many, as far as that can be done.
    private func forgetOldest(_ names: [String]) {
        let stores = names.filter { name in
            !StoreFile.suffixes.dropFirst().contains { name.hasSuffix($0) }
        }
        for store in stores.sorted().dropLast(StoreReplacement.mostKept - 1) {
            for suffix in StoreFile.suffixes { try? directory.remove(store + suffix) }
        }
    }
}
