internal import Glibc
internal import SQLite
internal import SystemCalls

/// What a database needs of the file system while the process runs.
extension Database {
    /// The directories whose files it makes, changes and removes.
    ///
    /// Some may not exist. They are made when they are needed, and again if somebody has removed them.
    package var ownDirectories: [String] {
        var paths = [
            directory.path, file.directory.path, directory.file("backups"),
            directory.file("journal"),
        ]
        paths += journal.directories + [standIn?.directory.path].compactMap(\.self)
        if let runtime = location.runtimeDirectory { paths.append("\(runtime)/defaultsd") }
        // Voided as soon as that is possible.
        paths += pages.left.map(\.path)
        return paths.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The name of the store in its directory, in whose place the user may put a link.
    package var nameInDirectory: String { directory.file(StoreFile.name) }

    /// The application ID in the header of a database, and of its backups.
    package static let applicationID = UInt32(Schema.applicationID)

    /// Makes SQLite open and remove files as this program does, which asks the helper of a confined
    /// process.
    ///
    /// Call this before there is a second thread.
    package static func useFileCalls() {
        Connection.useSystemCalls(
            open: { path, flags, mode in
                guard let path else { return -1 }
                return FileCalls.open(String(cString: path), flags, mode_t(mode))
            },
            unlink: { path in
                guard let path else { return -1 }
                return FileCalls.unlink(String(cString: path))
            })
    }
}
