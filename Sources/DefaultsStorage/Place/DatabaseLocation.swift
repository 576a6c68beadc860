internal import Glibc
internal import SystemCalls

/// Where a database and its crash journal stand.
package struct DatabaseLocation: Hashable, Sendable {
    /// The directory of the database; it is made where it is missing.
    package let directory: String
    /// The user's runtime directory, a file system in memory that ends with the session.
    ///
    /// Where there is none the journal stands beside the database.
    package let runtimeDirectory: String?
    /// Whether the directory is this program's own by its name, the standard one, or one that the
    /// user has named and that may serve other ends, too.
    let isStandard: Bool

    /// Names a place of the user's choice.
    ///
    /// A directory that is there already must be closed to other users.
    package init(directory: String, runtimeDirectory: String?) {
        self.init(directory: directory, runtimeDirectory: runtimeDirectory, isStandard: false)
    }

    init(directory: String, runtimeDirectory: String?, isStandard: Bool) {
        self.directory = directory
        self.runtimeDirectory = runtimeDirectory
        self.isStandard = isStandard
    }

    /// The place that the environment names: `defaultsd` in `$XDG_CONFIG_HOME`, or in `~/.config`;
    /// and `$XDG_RUNTIME_DIR`.
    ///
    /// A variable that is no absolute path counts as unset.
    ///
    /// See the [XDG Base Directory
    /// Specification](https://specifications.freedesktop.org/basedir-spec/latest/).
    ///
    /// - Parameters:
    ///   - directory: The directory of the database where the user has named one. A relative path
    ///     begins at the working directory.
    ///   - variable: Looks up a variable.
    /// - Throws: `.directoryUnusable` where no place is named at all, or a relative one in a
    ///   working directory that is gone.
    package static func fromEnvironment(
        directory: String? = nil,
        variable: (String) -> String? = DatabaseLocation.variable
    ) throws(StorageError) -> DatabaseLocation {
        func path(_ name: String) -> String? {
            variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let home = path("XDG_CONFIG_HOME") ?? path("HOME").map { "\($0)/.config" }
        let runtimeDirectory = path("XDG_RUNTIME_DIR")
        if let directory {
            return DatabaseLocation(
                directory: try absolute(directory), runtimeDirectory: runtimeDirectory)
        }
        guard let home else { throw .noHome() }
        return DatabaseLocation(
            directory: "\(home)/defaultsd", runtimeDirectory: runtimeDirectory, isStandard: true)
    }

    /// The path from the root, with its links as they are.
    private static func absolute(_ path: String) throws(StorageError) -> String {
        if path.hasPrefix("/") { return path }
        do throws(SystemError) {
            let directory = try Path.workingDirectory()
            return directory == "/" ? "/\(path)" : "\(directory)/\(path)"
        } catch {
            throw .directoryUnusable(path, error)
        }
    }

    /// Looks up a variable of this process's environment.
    package static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}

extension DatabaseLocation {
    /// Finds what stands in the way of opening the database here, as far as that can be seen while
    /// another process has it.
    ///
    /// For a process that is to take over from one that serves. Directories that are missing are made,
    /// and the file of the lock; what is in the database is not touched.
    ///
    /// - Throws: ``StorageError`` as the opening would, but for `.inUse`.
    package func checkUsability() throws(StorageError) {
        let database = try PrivateDirectory(making: directory, isOurs: isStandard)
        try DatabaseLock.check(in: database)
        try StoreFile(in: database).check()
        do {
            _ = try makeJournalDirectory()
        } catch {
            _ = try makeJournalBesideDatabase()
        }
    }
}

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
        return (try? directory.status().owner) == geteuid()
    }

    /// The real path of the database's directory, which is made again where somebody has removed it.
    private func realDirectory() throws(StorageError) -> String {
        if access(directory, F_OK) != 0, errno == ENOENT {
            _ = try PrivateDirectory(making: directory, isOurs: isStandard)
        }
        return try DatabaseLocation.realPath(directory)
    }

    private static func realPath(_ path: String) throws(StorageError) -> String {
        do throws(SystemError) {
            return try Path.real(path)
        } catch {
            throw .directoryUnusable(path, error)
        }
    }

    private static func hash(of path: String) -> String {
        let digits = String(XXH64.hash(Array(path.utf8), seed: 0), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// Where a journal stands, with the page of counters beside it.
///
/// No place holds good in another boot, or on another host: the runtime directory is gone then.
struct JournalPlace: Equatable {
    let boot: UniqueID
    /// The directory's real path.
    let path: String
}
