internal import Glibc

/// Where a database and its crash journal stand.
public struct DatabaseLocation: Hashable, Sendable {
    /// The directory of the database; it is made where it is missing.
    public let directory: String
    /// The user's runtime directory, a file system in memory that ends with the session.
    ///
    /// Where there is none the journal stands beside the database.
    public let runtimeDirectory: String?
    /// Whether the directory is this program's own by its name, the standard one, or one that the
    /// user has named and that may serve other ends, too.
    let isStandard: Bool

    /// Names a place of the user's choice.
    ///
    /// A directory that is there already must be closed to other users.
    public init(directory: String, runtimeDirectory: String?) {
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
    public static func fromEnvironment(
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
        // The result is malloc's and freed here once it is copied.
        guard let working = getcwd(nil, 0) else {
            throw .directoryUnusable(path, .last("getcwd", path))
        }
        defer { free(working) }
        let directory = String(cString: working)
        return directory == "/" ? "/\(path)" : "\(directory)/\(path)"
    }

    /// Looks up a variable of this process's environment.
    public static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
