internal import DefaultsModel
internal import Glibc
internal import Synchronization
internal import SystemCalls

/// The directory of a database, and the lock on it that makes this process the owner.
///
/// The database's thread and the writer's share it.
final class StorePlace: Sendable {
    let directory: PrivateDirectory
    /// The file system of the directory.
    let fileSystem: FileSystem
    /// See `DatabaseLock`.
    let wasLeftOpen: Bool
    /// See `DatabaseLock`.
    let note: StoreNote?
    /// See `DatabaseLock`.
    let strangeLock: String?
    /// Why the directory could not be written when the process began; nil if it could.
    let obstacle: StorageError?
    private let isStandard: Bool
    /// Nil when the directory was given up, and while it has no lock because it cannot be written.
    private let lock: Mutex<DatabaseLock?>
    /// Whether the lock is to be taken as soon as the directory can be written.
    private let isUnlocked: Mutex<Bool>

    /// Makes the directory if it is missing, and takes its lock.
    ///
    /// If the directory cannot be written, the lock is taken if there is one.
    ///
    /// - Throws: `.directoryUnusable`, `.inUse` or `.cannotOpen`.
    init(at location: DatabaseLocation) throws(StorageError) {
        isStandard = location.isStandard
        directory = PrivateDirectory(existing: location.directory)
        let obstacle: StorageError
        do throws(StorageError) {
            let made = try PrivateDirectory(
                making: location.directory, isOurs: location.isStandard)
            try StorePlace.checkWritable(made)
            let lock = try DatabaseLock.take(in: made, on: FileSystem(ofDirectory: made.path))
            (wasLeftOpen, note, strangeLock) = (lock.wasLeftOpen, lock.note, lock.strange)
            self.obstacle = nil
            fileSystem = FileSystem(ofDirectory: made.path)
            isUnlocked = Mutex(false)
            self.lock = Mutex(lock)
            return
        } catch {
            guard error.isOfUnwritable(location.directory) else { throw error }
            obstacle = error
        }
        self.obstacle = obstacle
        fileSystem = FileSystem(ofDirectory: directory.path)
        strangeLock = nil
        guard let lock = try DatabaseLock.takeReadOnly(in: directory) else {
            (wasLeftOpen, note) = (false, nil)
            isUnlocked = Mutex(true)
            self.lock = Mutex(nil)
            return
        }
        (wasLeftOpen, note) = (lock.wasLeftOpen, lock.note)
        isUnlocked = Mutex(false)
        self.lock = Mutex(lock)
    }

    /// Whether another process could become the owner, because the lock was removed, or could not be
    /// taken yet.
    var isLost: Bool {
        isUnlocked.withLock { $0 } || lock.withLock { $0?.isLost == true }
    }

    /// Makes the directory and takes its lock again, if they were removed.
    ///
    /// - Throws: `.inUse` if another process has become the owner since, and the errors of `init`.
    func renewIfLost() throws(StorageError) {
        try lock.withLock { (lock) throws(StorageError) in
            let isUnlocked = self.isUnlocked.withLock { $0 }
            guard isUnlocked || lock?.isLost == true else { return }
            let made = try PrivateDirectory(making: directory.path, isOurs: isStandard)
            if obstacle != nil { try StorePlace.checkWritable(made) }
            if lock?.isReadOnly == true {
                // The lock that is held is given up only for one that can be had.
                try DatabaseLock.check(in: made)
                lock = nil
                self.isUnlocked.withLock { $0 = true }
            }
            lock = try DatabaseLock.take(in: made, on: FileSystem(ofDirectory: made.path))
            self.isUnlocked.withLock { $0 = false }
        }
    }

    /// Checks that SQLite could write to the store, and make files beside it.
    private static func checkWritable(_ directory: PrivateDirectory) throws(StorageError) {
        let file = StoreFile(in: directory)
        for path in [directory.path, file.directory.path] {
            guard access(path, W_OK) != 0, [EROFS, EACCES, EPERM].contains(errno) else { continue }
            throw .cannotOpen(path, .last("write", path))
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

    /// What the file of the lock says to the next process; nil if it says nothing.
    var currentNote: StoreNote? { lock.withLock { $0?.written } }

    /// Releases the lock.
    func giveUp() {
        lock.withLock { $0 = nil }
        isUnlocked.withLock { $0 = false }
    }
}

/// How far a process had brought the store, as it noted that in the file of the lock.
///
/// The note is written after the disk has confirmed a flush. So a store that is behind its note has
/// lost something, whatever its log looks like: the log may be zeroed, cut short or replaced, and
/// SQLite takes each of these for an empty log. The reverse proves nothing: after a power cut the
/// note may be older than the store.
///
/// The note is a line of words: `written` or `closed`, the identity of the database, the generation
/// in 16 hexadecimal digits, and the checksum of what is before it.
struct StoreNote: Equatable {
    /// Whether the process has folded the log back and ended in order.
    var isClosed: Bool
    let database: UniqueID
    let generation: Generation

    init(isClosed: Bool, database: UniqueID, generation: Generation) {
        self.isClosed = isClosed
        self.database = database
        self.generation = generation
    }

    /// Reads a line; nil if it is not a note, or is damaged.
    init?(line: some StringProtocol) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 4, let database = UniqueID(spelling: words[1]),
            let generation = UInt64(words[2], radix: 16).flatMap(Generation.init(fromFile:))
        else { return nil }
        self.init(isClosed: words[0] == "closed", database: database, generation: generation)
        guard self.line == line else { return nil }
    }

    /// The note as the file has it, without the line feed.
    var line: String {
        let words = [
            isClosed ? "closed" : "written", database.description,
            StoreNote.digits(generation.rawValue),
        ].joined(separator: " ")
        return "\(words) \(StoreNote.digits(XXH64.hash(Array(words.utf8), seed: 0)))"
    }

    /// Whether a store has everything that was noted.
    func isReached(by state: StoreState) -> Bool {
        state.uuid == database && state.generation >= generation
    }

    /// Whether a store is the noted one, and has lost changes that were on disk.
    func provesLoss(in state: StoreState) -> Bool {
        state.uuid == database && state.generation < generation
    }

    private static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
