internal import DefaultsModel
internal import Synchronization

/// The directory of a database, and the lock on it that makes this process the owner.
///
/// The database's thread and the writer's share it.
final class StorePlace: Sendable {
    let directory: PrivateDirectory
    /// What the directory stands on.
    let fileSystem: FileSystem
    /// As of `DatabaseLock`.
    let wasLeftOpen: Bool
    /// As of `DatabaseLock`.
    let note: StoreNote?
    /// As of `DatabaseLock`.
    let strangeLock: String?
    private let isStandard: Bool
    /// Nil when the directory was given up.
    private let lock: Mutex<DatabaseLock?>

    /// Makes the directory where it is missing, and takes its lock.
    ///
    /// - Throws: `.directoryUnusable`, `.inUse` or `.cannotOpen`.
    init(at location: DatabaseLocation) throws(StorageError) {
        directory = try PrivateDirectory(
            making: location.directory, isOurs: location.isStandard)
        isStandard = location.isStandard
        fileSystem = FileSystem(of: directory)
        let lock = try DatabaseLock.take(in: directory, on: fileSystem)
        wasLeftOpen = lock.wasLeftOpen
        note = lock.note
        strangeLock = lock.strange
        self.lock = Mutex(lock)
    }

    /// Whether another process could become the owner: somebody has removed the lock.
    var isLost: Bool { lock.withLock { $0?.isLost == true } }

    /// Makes the directory again, and takes its lock, where somebody has removed them.
    ///
    /// - Throws: `.inUse` where another process has become the owner since; what `init` throws
    ///   else.
    func renewIfLost() throws(StorageError) {
        try lock.withLock { (lock) throws(StorageError) in
            guard lock?.isLost == true else { return }
            let made = try PrivateDirectory(making: directory.path, isOurs: isStandard)
            lock = try DatabaseLock.take(in: made, on: FileSystem(of: made))
        }
    }

    /// Notes how far the store has come, on disk.
    func noteWritten(_ database: UniqueID, at generation: Generation) {
        lock.withLock { $0?.noteWritten(database, at: generation) }
    }

    /// Notes that everything is in the database and its log is folded back.
    func noteClosed(_ database: UniqueID, at generation: Generation) {
        lock.withLock { $0?.noteClosed(database, at: generation) }
    }

    /// What the file of the lock tells the next process; nil if that is nothing.
    var currentNote: StoreNote? { lock.withLock { $0?.written } }

    /// Gives the lock up.
    func giveUp() {
        lock.withLock { $0 = nil }
    }
}
