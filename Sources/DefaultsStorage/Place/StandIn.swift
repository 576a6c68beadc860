internal import Glibc
internal import SystemCalls

/// A copy of a store whose directory cannot be written, which is read in its place.
///
/// SQLite cannot open a database with a log on a file system that takes no changes. So the copy is in the
/// user's runtime directory, or where temporary files are. What is written later goes to the store itself,
/// as soon as its directory can be written.
///
/// If there is no store, the copy is a new one. It is kept until the runtime directory ends, so that the
/// next process finds the same database.
final class StandIn {
    /// How much is copied at once.
    private static let piece = 1 << 20

    let directory: JournalDirectory
    let file: StoreFile
    private let isTemporary: Bool

    /// Makes a copy.
    ///
    /// - Throws: `.inUse` if another process has made one; `.cannotOpen` if there is no place for it, or
    ///   if the store cannot be read.
    static func make(
        of store: StoreFile, at location: DatabaseLocation
    ) throws(StorageError) -> StandIn {
        var failure: StorageError?
        for (path, isTemporary) in try location.placesOfStandIns() {
            do throws(StorageError) {
                let made = try PrivateDirectory(making: path)
                guard let directory = try DatabaseLocation.take(made, for: location.realDirectory())
                else { throw .inUse(location.directory, holder: nil) }
                return try StandIn(of: store, in: directory, isTemporary: isTemporary)
            } catch {
                guard error.code != .inUse else { throw error }
                failure = error
            }
        }
        throw failure ?? .noHome()
    }

    private init(
        of store: StoreFile, in directory: JournalDirectory, isTemporary: Bool
    ) throws(StorageError) {
        (self.directory, self.isTemporary) = (directory, isTemporary)
        file = StoreFile(path: directory.directory.file(StoreFile.name))
        do throws(SystemError) {
            guard try FileStatus.exists(store.path) else { return }
            for suffix in StoreFile.suffixes {
                try StandIn.copy(store.path + suffix, to: file.path + suffix)
            }
        } catch {
            remove()
            throw .cannotOpen(store.path, error)
        }
    }

    /// Copies a file over another, which is removed if there is nothing to be copied.
    private static func copy(_ path: String, to other: String) throws(SystemError) {
        unlink(other)
        guard try FileStatus.exists(path) else { return }
        let source = try File.regular(path, O_RDONLY)
        let target = try File(other, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
        var offset = 0
        while true {
            let bytes = try source.read(piece, at: offset)
            guard !bytes.isEmpty else { return }
            try target.write(bytes, at: offset)
            offset += bytes.count
        }
    }

    /// Removes it, because the store itself is used from now on.
    func remove() {
        for suffix in StoreFile.suffixes { try? directory.directory.remove(file.name + suffix) }
    }

    /// Leaves it to the next process, if that finds it.
    func close() {
        if isTemporary { remove() }
        directory.release()
    }
}

extension DatabaseLocation {
    /// Where a copy of the store may be, and whether the place is outside of the runtime directory.
    fileprivate func placesOfStandIns() throws(StorageError) -> [(
        path: String, isTemporary: Bool
    )] {
        let name = DatabaseLocation.hash(of: try realDirectory())
        var places = ["/dev/shm", "/tmp"].map {
            (path: "\($0)/defaultsd-\(geteuid())-\(name)", isTemporary: true)
        }
        if let runtime = try? runtimeFolderPath() {
            places.insert(("\(runtime)/\(name).store", false), at: 0)
        }
        return places
    }
}

extension StorageError {
    /// Whether a directory can be read and not written: its file system is read-only, or its permissions
    /// deny it, though it is not another user's.
    func isOfUnwritable(_ directory: String) -> Bool {
        switch (cause as? SystemError)?.number {
        case EROFS: return true
        case EACCES, EPERM:
            let existing = Path.existing(onTheWayTo: directory)
            // A store that cannot be seen is not a missing one.
            guard access(existing, R_OK | X_OK) == 0 else { return false }
            // A file that is closed to this user in a directory that is not is somebody's decision.
            return access(existing, W_OK) != 0
                && Ownership.obstacle(onTheWayTo: directory) == nil
        default: return false
        }
    }
}
