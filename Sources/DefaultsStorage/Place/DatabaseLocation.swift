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
    /// - Throws: `.directoryUnusable` if no place is named, if its name is not UTF-8, if the path is
    ///   relative and the working directory was removed, or if a variable names a directory of another
    ///   user.
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
        var config = try path("XDG_CONFIG_HOME")
        if let config {
            try checkOwner(of: config, in: "XDG_CONFIG_HOME")
        } else if let home = try path("HOME") {
            try checkOwner(of: home, in: "HOME")
            config = "\(home)/.config"
        }
        guard let config else { throw .noHome() }
        return DatabaseLocation(
            directory: "\(config)/defaultsd", runtimeDirectory: runtimeDirectory, isStandard: true)
    }

    /// Refuses a directory of another user before anything is made in it.
    private static func checkOwner(
        of directory: String, in variable: String
    ) throws(StorageError) {
        guard let obstacle = Ownership.obstacle(onTheWayTo: directory) else { return }
        throw .directoryOfAnother(variable, directory, obstacle)
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
        let database: PrivateDirectory
        do throws(StorageError) {
            database = try PrivateDirectory(making: directory, isOurs: isStandard)
            try DatabaseLock.check(in: database)
        } catch {
            // It can be read.
            guard error.isOfUnwritable(directory) else { throw error }
            return
        }
        try StoreFile(in: database).check()
        if (try? makeRuntimeFolder()) != nil { return }
        _ = try PrivateDirectory(
            making: DatabaseLocation.journalBesideDatabase(in: realDirectory()))
    }
}

extension DatabaseLocation {
    /// How many journals one path may have at once: that of a process whose database was moved away
    /// while it ran, and those of its successors.
    private static let mostJournals = 8

    /// Makes the directory of the journal, and takes it.
    ///
    /// In the runtime directory, its name is the hash of the real path of the database's directory.
    /// So every database has its own, even if links lead to it. The directory may belong to another
    /// database, which was at this path before, or a process that serves it may still use it. Then the
    /// name has a number.
    ///
    /// - Parameter identity: Which database it is for.
    func takeJournalDirectory(of identity: UniqueID) throws(StorageError) -> JournalDirectory {
        let database = try realDirectory()
        guard let ours = try makeRuntimeFolder() else { return try takeJournalBesideDatabase() }
        for number in 0..<DatabaseLocation.mostJournals {
            let name = DatabaseLocation.hash(of: database) + (number == 0 ? "" : "-\(number)")
            let made = try PrivateDirectory(making: ours.file(name))
            if JournalHistory.hasOthers(than: identity, in: made) { continue }
            if let taken = try DatabaseLocation.take(made, for: database) { return taken }
        }
        throw .journalInUse(ours.path)
    }

    /// Makes the directory of the journal beside the database, and takes it.
    func takeJournalBesideDatabase() throws(StorageError) -> JournalDirectory {
        let database = try realDirectory()
        let made = try PrivateDirectory(
            making: DatabaseLocation.journalBesideDatabase(in: database))
        guard let taken = try DatabaseLocation.take(made, for: database) else {
            throw .journalInUse(made.path)
        }
        return taken
    }

    /// Takes a directory that was made; nil if another process has it.
    static func take(
        _ made: PrivateDirectory, for database: String
    ) throws(StorageError) -> JournalDirectory? {
        let real = PrivateDirectory(existing: try realPath(made.path))
        do {
            return try JournalDirectory(taking: real, for: database)
        } catch {
            throw .cannotOpen(real.path, error)
        }
    }

    /// Whether a journal's directory is the one beside the database.
    func isBesideDatabase(_ path: String) -> Bool {
        FileIdentity.areSame(path, DatabaseLocation.journalBesideDatabase(in: directory))
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
        try DatabaseLocation.checkOwner(of: runtimeDirectory, in: "XDG_RUNTIME_DIR")
        return try PrivateDirectory(making: "\(runtimeDirectory)/defaultsd")
    }

    static func journalBesideDatabase(in directory: String) -> String {
        "\(directory)/journal"
    }

    /// The real path of the database's directory, which is made again if somebody has removed it.
    ///
    /// If it cannot be made, this is the path that it would have.
    func realDirectory() throws(StorageError) -> String {
        guard access(directory, F_OK) != 0, errno == ENOENT else {
            return try DatabaseLocation.realPath(directory)
        }
        do throws(StorageError) {
            _ = try PrivateDirectory(making: directory, isOurs: isStandard)
            return try DatabaseLocation.realPath(directory)
        } catch {
            guard error.isOfUnwritable(directory) else { throw error }
            return try DatabaseLocation.pathToBe(directory)
        }
    }

    /// The real path of the deepest directory that exists, and the rest.
    private static func pathToBe(_ path: String) throws(StorageError) -> String {
        var existing = path
        while existing != "/", access(existing, F_OK) != 0 { existing = Path.parent(of: existing) }
        return try realPath(existing) + path.dropFirst(existing == "/" ? 0 : existing.count)
    }

    static func realPath(_ path: String) throws(StorageError) -> String {
        do throws(SystemError) {
            return try Path.real(path)
        } catch {
            throw .directoryUnusable(path, error)
        }
    }

    /// What a journal is called in the runtime directory, by the real path of its database's directory.
    static func hash(of path: String) -> String {
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
