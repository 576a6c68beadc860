internal import Glibc

/// The lock that makes one process the owner of a database directory.
///
/// It is flock(2) on a file of its own. That lock belongs to the open file, so that nothing else
/// the process does sets it free; the kernel frees it when the process dies, however it dies; and
/// Linux hands it on to the server of a network file system, so that two machines that share a
/// home see each other. The file tells a second process who the first one is. It is never
/// removed: another process may be about to lock it.
///
/// A file system that takes no locks is refused. SQLite would refuse it, too, as it locks its file
/// itself; and a database that two daemons write is lost, which is worse than one that is not served.
struct DatabaseLock: ~Copyable {
    /// Whether the process that had the lock before has written to the store, and has ended without
    /// `noteClosed()`: then a write-ahead log is there.
    let wasLeftOpen: Bool
    private var isNoted = false
    private static let mark = "written\n"
    private let file: File
    /// Which file it is, whatever its name.
    private let identity: FileIdentity

    deinit {
        file.unlock()
    }

    private init(holding file: consuming File, wasLeftOpen: Bool) throws(SystemError) {
        identity = FileIdentity(try file.status())
        self.file = file
        self.wasLeftOpen = wasLeftOpen
    }

    /// Whether another process could take the lock beside us: somebody has removed its file.
    var isLost: Bool { identity.hasLost(file.path) }

    /// Takes the lock and writes down who holds it, where there is space for that.
    ///
    /// - Throws: `.inUse` where another process holds it; the error names it.
    /// `.cannotOpen` where the file system makes no such file or takes no lock.
    static func take(
        in directory: PrivateDirectory, on fileSystem: FileSystem
    ) throws(StorageError) -> DatabaseLock {
        let file: File
        do {
            file = try open(in: directory)
        } catch {
            throw .lockFailed(directory.path, error)
        }
        let isOurs: Bool
        do {
            isOurs = try file.tryLock()
        } catch {
            throw .locksRefused(directory.path, fileSystem, error)
        }
        guard isOurs else { throw .inUse(directory.path, holder: holder(in: file)) }
        let left = (try? file.read(512, at: 0)) ?? []
        let wasLeftOpen = String(decoding: left, as: UTF8.self).hasSuffix("\n" + mark)
        noteHolder(in: file, isSeenFromAfar: fileSystem.isNetwork)
        do {
            return try DatabaseLock(holding: file, wasLeftOpen: wasLeftOpen)
        } catch {
            throw .lockFailed(directory.path, error)
        }
    }

    /// Checks that the lock can be taken, but for a process that holds it.
    ///
    /// - Throws: `.cannotOpen` where its file cannot be had.
    static func check(in directory: PrivateDirectory) throws(StorageError) {
        do throws(SystemError) {
            _ = try open(in: directory)
        } catch {
            throw .lockFailed(directory.path, error)
        }
    }

    private static func open(in directory: PrivateDirectory) throws(SystemError) -> File {
        let file = try File(directory.file("lock"), O_RDWR | O_CREAT)
        try file.setMode(0o600)
        return file
    }

    /// Notes that the store was written to.
    ///
    /// The log's name is on disk by then, as this need not be.
    mutating func noteWritten() {
        guard !isNoted else { return }
        isNoted = true
        // Where that fails the next process looks for less.
        guard let size = try? file.size() else { return }
        try? file.write(Array(DatabaseLock.mark.utf8), at: size)
    }

    /// Notes that everything is in the database and its log is folded back.
    func noteClosed() {
        // Where that fails the next process misses a log that was not needed. It is on disk before
        // the log is gone.
        try? file.truncate(to: 0)
        if isNoted { try? file.synchronize() }
    }

    /// Writes down who holds the lock.
    ///
    /// It is the lock that counts: where the disk is full the next process is told of no name.
    ///
    /// - Parameter isSeenFromAfar: Whether other machines are to read it, which see what is at the
    ///   server.
    private static func noteHolder(in file: borrowing File, isSeenFromAfar: Bool) {
        try? file.replaceContents(with: "\(HostName.current) \(getpid())\n")
        if isSeenFromAfar { try? file.synchronize() }
    }

    /// The host and the process that hold the lock; nil where they have not written that yet, or the
    /// file system lets nobody read what another has locked, as that of Windows does.
    private static func holder(in file: borrowing File) -> (host: String, process: String)? {
        guard let bytes = try? file.read(512, at: 0) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        let words = lines.first?.split(separator: " ") ?? []
        return words.count == 2 ? (String(words[0]), String(words[1])) : nil
    }
}
