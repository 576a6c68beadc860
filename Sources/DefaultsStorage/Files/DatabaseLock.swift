internal import Glibc

/// The lock that makes one process the owner of a database directory.
///
/// It is flock(2) on a file of its own. That lock belongs to the open file, so that nothing else
/// the process does sets it free; the kernel frees it when the process dies, however it dies; and
/// Linux hands it on to the server of a network file system, so that two machines that share a
/// home see each other. The file tells a second process who the first one is. It is never
/// removed: another process may be about to lock it.
struct DatabaseLock: ~Copyable {
    private let file: File
    /// Which file it is, whatever its name.
    private let identity: FileIdentity

    deinit {
        file.unlock()
    }

    private init(holding file: consuming File) throws(SystemError) {
        identity = FileIdentity(try file.status())
        self.file = file
    }

    /// Whether another process could take the lock beside us: somebody has removed its file.
    var isLost: Bool { identity.hasLost(file.path) }

    /// Takes the lock and writes down who holds it, where there is space for that.
    ///
    /// - Throws: `.inUse` where another process holds it; the error names it.
    static func take(in directory: PrivateDirectory) throws(StorageError) -> DatabaseLock {
        let holder: (host: String, process: String)?
        do throws(SystemError) {
            let file = try open(in: directory)
            if try file.tryLock() {
                noteHolder(in: file)
                return try DatabaseLock(holding: file)
            }
            holder = try self.holder(in: file)
        } catch {
            throw .lockFailed(directory.path, error)
        }
        throw .inUse(directory.path, holder: holder)
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

    /// Writes down who holds the lock.
    ///
    /// It is the lock that counts: where the disk is full the next process is told of no name.
    private static func noteHolder(in file: borrowing File) {
        try? file.replaceContents(with: "\(HostName.current) \(getpid())\n")
    }

    /// The host and the process that hold the lock; nil where they have not written that yet.
    private static func holder(
        in file: borrowing File
    ) throws(SystemError) -> (host: String, process: String)? {
        let text = String(decoding: try file.read(512, at: 0), as: UTF8.self)
        let words = text.split { $0 == " " || $0 == "\n" }
        return words.count == 2 ? (String(words[0]), String(words[1])) : nil
    }
}
