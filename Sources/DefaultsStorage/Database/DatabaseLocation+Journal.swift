internal import Glibc

extension DatabaseLocation {
    /// The directory of the journal when there is no runtime directory.
    private var journalBesideDatabase: String { "\(directory)/journal" }

    /// Makes the directory of the journal.
    ///
    /// In the runtime directory it bears the hash of the database directory's real path, so that
    /// every database has its own, by whatever name it is reached.
    func makeJournalDirectory() throws(StorageError) -> PrivateDirectory {
        guard let runtimeDirectory else {
            return try PrivateDirectory(making: journalBesideDatabase)
        }
        let ours = try PrivateDirectory(making: "\(runtimeDirectory)/defaultsd")
        return try PrivateDirectory(making: ours.file(try hashOfRealPath()))
    }

    /// The directories in which changes may stand that are not in the store: that of the journal,
    /// and, where an earlier process had no runtime directory, the one beside the database.
    func journalDirectories(now current: PrivateDirectory) -> [PrivateDirectory] {
        let beside = PrivateDirectory(existing: journalBesideDatabase)
        let isOther = beside.path != current.path && access(beside.path, F_OK) == 0
        return isOther ? [beside, current] : [current]
    }

    private func hashOfRealPath() throws(StorageError) -> String {
        // The result is malloc's and freed here once it is copied.
        guard let resolved = realpath(directory, nil) else {
            throw .directoryUnusable(directory, .last("realpath", directory))
        }
        defer { free(resolved) }
        let hash = XXH64.hash(Array(String(cString: resolved).utf8), seed: 0)
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
