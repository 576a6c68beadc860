internal import Glibc
internal import SystemCalls

/// The directory `backups` beside the database, and the files in it that are backups.
///
/// Files with other names are not touched. An unfinished backup has such a name, so that it is not
/// taken for a backup.
struct BackupFolder: Sendable {
    /// How the names of unfinished files begin.
    private static let unfinished = "backup.unfinished"

    private let database: PrivateDirectory
    private let directory: PrivateDirectory

    /// - Parameter directory: The directory of the database.
    init(of directory: PrivateDirectory) {
        database = directory
        self.directory = PrivateDirectory(existing: directory.file("backups"))
    }

    /// The backups, the newest first; none if there is no such directory.
    func backups() throws(SystemError) -> [Backup] {
        let names: [String]
        do throws(SystemError) {
            names = try directory.names()
        } catch {
            guard error.number == ENOENT else { throw error }
            return []
        }
        return names.compactMap(backup).sorted(by: >)
    }

    /// Makes the directory if it is missing, and removes unfinished files of earlier processes.
    func prepare() throws(StorageError) {
        do throws(SystemError) {
            // If somebody has removed the directory of the database, it is not made again for a
            // backup.
            _ = try database.names()
        } catch {
            throw .cannotBackUp(database.path, error)
        }
        let made = try PrivateDirectory(making: directory.path)
        do throws(SystemError) {
            for name in try made.names() where name.hasPrefix(BackupFolder.unfinished) {
                try made.remove(name)
            }
        } catch {
            throw .cannotBackUp(database.path, error)
        }
    }

    /// Where the next backup is made.
    var unfinishedPath: String { directory.file(BackupFolder.unfinished) }

    /// How many bytes are free on the file system.
    func freeSpace() throws(SystemError) -> Int {
        try directory.freeSpace()
    }

    /// Makes an empty file for the next backup, readable by its owner alone.
    func begin() throws(SystemError) {
        let file = try File(unfinishedPath, O_RDWR | O_CREAT | O_EXCL)
        try file.setMode(0o600)
    }

    /// Makes the unfinished file a backup.
    ///
    /// It stays one after a power cut.
    func finish(as name: BackupName) throws(SystemError) -> Backup {
        try File(unfinishedPath, O_RDONLY).synchronize()
        let file = name.description + BackupName.suffix
        try directory.rename(BackupFolder.unfinished, to: file)
        try directory.synchronize()
        guard let backup = backup(file) else {
            throw SystemError(call: "stat", path: directory.file(file), number: ENOENT)
        }
        return backup
    }

    /// Removes the unfinished files, as far as possible.
    func discard() {
        for name in (try? directory.names()) ?? [] where name.hasPrefix(BackupFolder.unfinished) {
            try? directory.remove(name)
        }
    }

    /// Removes a backup.
    func remove(_ backup: Backup) throws(SystemError) {
        try directory.remove(backup.name + BackupName.suffix)
    }

    /// The backup in a file; nil if the file is not a backup.
    private func backup(_ file: String) -> Backup? {
        guard let name = BackupName(file),
            let status = FileStatus.ifAny(directory.file(file), followingLinks: false),
            status.kind == .regular
        else { return nil }
        return Backup(
            name: name.description, date: name.date, generation: name.generation,
            kind: name.kind, size: status.size, path: directory.file(file))
    }
}

extension Database {
    /// The backups of the database, the newest first.
    ///
    /// - Throws: `.cannotRead` if their directory cannot be read.
    package func backups() throws(StorageError) -> [Backup] {
        do {
            return try BackupFolder(of: directory).backups()
        } catch {
            throw .backupsUnreadable(path, error)
        }
    }
}
