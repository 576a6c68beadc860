internal import Glibc

extension DatabaseLocation {
    /// Makes the directory of the journal.
    ///
    /// In the runtime directory it bears the hash of the database directory's real path, so that
    /// every database has its own, by whatever name it is reached.
    func makeJournalDirectory() throws(StorageError) -> PrivateDirectory {
        let database = try realDirectory()
        guard let runtimeDirectory else { return try makeJournalBesideDatabase() }
        let ours = try PrivateDirectory(making: "\(runtimeDirectory)/defaultsd")
        let made = try PrivateDirectory(making: ours.file(DatabaseLocation.hash(of: database)))
        return PrivateDirectory(existing: try DatabaseLocation.realPath(made.path))
    }

    /// Makes the directory of the journal where there is no runtime directory.
    func makeJournalBesideDatabase() throws(StorageError) -> PrivateDirectory {
        let database = try realDirectory()
        return try PrivateDirectory(
            making: DatabaseLocation.journalBesideDatabase(in: database))
    }

    /// The directories in which changes may stand that are not in the store: that of the journal
    /// from now on, that of the last one, and the one beside the database.
    ///
    /// One that is not there, or not this user's, is left out: a runtime directory ends with its
    /// session, and another user may have taken its name. So is one whose name is not the hash of
    /// this directory: in a copy of a database the note leads to the journal of the original.
    func journalDirectories(
        now current: PrivateDirectory, last: JournalPlace?
    ) throws(StorageError) -> [PrivateDirectory] {
        try directories(now: current, noted: last.map { [$0.path] } ?? [])
    }

    /// The directories in which a page may stand that clients have mapped: those of journals, and
    /// those that are on record for it.
    func pageDirectories(
        now current: PrivateDirectory, last: PlaceNote?
    ) throws(StorageError) -> [PrivateDirectory] {
        try directories(now: current, noted: last.map { [$0.journal.path] + $0.pages } ?? [])
    }

    private func directories(
        now current: PrivateDirectory, noted: [String]
    ) throws(StorageError) -> [PrivateDirectory] {
        let database = try DatabaseLocation.realPath(directory)
        let name = "/\(DatabaseLocation.hash(of: database))"
        let ours = noted.filter { $0.hasSuffix(name) }
        var paths = [current.path]
        for path in ours + [DatabaseLocation.journalBesideDatabase(in: database)] {
            if !paths.contains(path), DatabaseLocation.isOwnDirectory(path) { paths.append(path) }
        }
        return paths.map(PrivateDirectory.init(existing:))
    }

    private static func journalBesideDatabase(in directory: String) -> String {
        "\(directory)/journal"
    }

    private static func isOwnDirectory(_ path: String) -> Bool {
        guard let directory = try? File(path, O_RDONLY | O_DIRECTORY) else { return false }
        return (try? directory.status().st_uid) == geteuid()
    }

    /// The real path of the database's directory, which is made again where somebody has removed it.
    private func realDirectory() throws(StorageError) -> String {
        if access(directory, F_OK) != 0, errno == ENOENT {
            _ = try PrivateDirectory(making: directory, isOurs: isStandard)
        }
        return try DatabaseLocation.realPath(directory)
    }

    private static func realPath(_ path: String) throws(StorageError) -> String {
        // The result is malloc's and freed here once it is copied.
        guard let resolved = realpath(path, nil) else {
            throw .directoryUnusable(path, .last("realpath", path))
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func hash(of path: String) -> String {
        let digits = String(XXH64.hash(Array(path.utf8), seed: 0), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
