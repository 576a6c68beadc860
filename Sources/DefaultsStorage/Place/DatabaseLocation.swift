internal import Glibc
internal import SystemCalls

/// Where a database and its crash journal are.
package struct DatabaseLocation: Hashable, Sendable {
    /// The directory of the database.
    ///
    /// It is made if it is missing.
    package let directory: String
    /// The user's runtime directory, a file system in memory that ends with the session.
    ///
    /// If there is none, the journal is beside the database.
    package let runtimeDirectory: String?
    /// Whether it is the standard directory, which belongs to this program.
    ///
    /// A directory that the user has named may have other uses, too.
    let isStandard: Bool

    /// Names a place that the user has chosen.
    ///
    /// An existing directory must be closed to other users.
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
    /// A variable that is not an absolute path counts as unset.
    ///
    /// See the [XDG Base Directory
    /// Specification](https://specifications.freedesktop.org/basedir-spec/latest/).
    ///
    /// - Parameters:
    ///   - directory: The directory of the database, if the user has named one. A relative path
    ///     begins at the working directory.
    ///   - variable: Looks up a variable.
    /// - Throws: `.directoryUnusable` if no place is named, if its name is not UTF-8, or if the path is
    ///   relative and the working directory was removed.
    package static func fromEnvironment(
        directory: String? = nil,
        variable: (String) throws(StorageError) -> String? = DatabaseLocation.variable
    ) throws(StorageError) -> DatabaseLocation {
        func path(_ name: String) throws(StorageError) -> String? {
            guard let path = try variable(name), path.hasPrefix("/") else { return nil }
            return path
        }
        // Without it the journal is beside the database.
        let runtimeDirectory = try? path("XDG_RUNTIME_DIR")
        if let directory {
            return DatabaseLocation(
                directory: try absolute(directory), runtimeDirectory: runtimeDirectory)
        }
        var home = try path("XDG_CONFIG_HOME")
        if home == nil { home = try path("HOME").map { "\($0)/.config" } }
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
    ///
    /// - Throws: `.directoryUnusable` if it is not UTF-8: another directory would be used than it names.
    package static func variable(_ name: String) throws(StorageError) -> String? {
        guard let bytes = getenv(name) else { return nil }
        guard let text = String(validatingCString: bytes) else { throw .notText(name) }
        return text
    }
}

extension DatabaseLocation {
    /// Checks whether the database can be opened here, as far as possible while another process
    /// uses it.
    ///
    /// For a process that will replace the running one. Missing directories and the file of the
    /// lock are made. The contents of the database are not touched.
    ///
    /// - Throws: The errors of opening the database, except `.inUse`.
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
    /// In the runtime directory, its name is the hash of the real path of the database's directory.
    /// So every database has its own, even if links lead to it.
    func makeJournalDirectory() throws(StorageError) -> PrivateDirectory {
        let database = try realDirectory()
        guard let ours = try makeRuntimeFolder() else { return try makeJournalBesideDatabase() }
        let made = try PrivateDirectory(making: ours.file(DatabaseLocation.hash(of: database)))
        return PrivateDirectory(existing: try DatabaseLocation.realPath(made.path))
    }

    /// The path of this program's directory in the runtime directory; nil if there is no runtime directory.
    ///
    /// It is made if it is missing.
    ///
    /// - Throws: `.directoryUnusable` if it is another user's, or open to others.
    package func runtimeFolderPath() throws(StorageError) -> String? {
        try makeRuntimeFolder()?.path
    }

    private func makeRuntimeFolder() throws(StorageError) -> PrivateDirectory? {
        guard let runtimeDirectory else { return nil }
        return try PrivateDirectory(making: "\(runtimeDirectory)/defaultsd")
    }

    /// Makes the directory of the journal if there is no runtime directory.
    func makeJournalBesideDatabase() throws(StorageError) -> PrivateDirectory {
        let database = try realDirectory()
        return try PrivateDirectory(
            making: DatabaseLocation.journalBesideDatabase(in: database))
    }

    /// The directories that may have changes which the store lacks: that of the new journal, that
    /// of the last one, and the one beside the database.
    ///
    /// A directory that is missing or belongs to another user is left out: a runtime directory ends
    /// with its session, and another user may have taken its name. A directory whose name is not
    /// the hash of this database is also left out: in a copy of a database, the note leads to the
    /// journal of the original.
    func journalDirectories(
        now current: PrivateDirectory, last: JournalPlace?
    ) throws(StorageError) -> [PrivateDirectory] {
        try directories(now: current, noted: last.map { [$0.path] } ?? [])
    }

    /// The directories that may have a page which clients have mapped: those of journals, and those
    /// in the note.
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

    /// The real path of the database's directory, which is made again if somebody has removed it.
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

/// Where a journal is, with the counter page beside it.
///
/// A place is valid only in the same boot and on the same host, because the runtime directory is.
struct JournalPlace: Equatable {
    let boot: UniqueID
    /// The directory's real path.
    let path: String
}
