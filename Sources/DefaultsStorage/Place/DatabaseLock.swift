internal import DefaultsModel
internal import Glibc
internal import SystemCalls

/// The lock that makes one process the owner of a database directory.
///
/// It is flock(2) on a file of its own. That lock belongs to the open file, so nothing else that the
/// process does releases it. The kernel releases it when the process dies, however it dies. Linux passes
/// it on to the server of a network file system, so that two machines that share a home see each other.
///
/// The first line of the file names the process that holds the lock; it is empty after an orderly end.
/// The second line says how far the store had come, for the next process. The file is never removed:
/// another process may be about to lock it.
///
/// A file system without locks is refused. SQLite would refuse it, too, as it locks its file
/// itself; and a database that two daemons write is lost, which is worse than one that is not served.
struct DatabaseLock: ~Copyable {
    /// Whether the previous process has written to the store and did not end in order: then there is a
    /// write-ahead log.
    let wasLeftOpen: Bool
    /// How far the store had come when the lock was taken; nil if there is no note.
    let note: StoreNote?
    /// What the second line says; nil if it is empty.
    private(set) var written: StoreNote?
    private static let name = "lock"
    /// How often the file is opened if somebody replaces it at the same time.
    private static let mostAttempts = 5
    /// The second line as versions before this one wrote it.
    private static let mark = "written"
    /// The length of the first line, where the second one begins.
    private let noteOffset: Int
    /// The new path of a link, a pipe, a directory or another program's file that had the name of the lock;
    /// nil if there was none.
    let strange: String?
    private let file: File
    /// Whether nothing can be written down in it, because the directory cannot be written.
    let isReadOnly: Bool
    /// Which file it is, whatever its name.
    private let identity: FileIdentity

    deinit {
        file.unlock()
    }

    private init(
        holding file: consuming File, after lines: [Substring], isSeenFromAfar: Bool,
        strange: String?, isReadOnly: Bool = false
    ) throws(SystemError) {
        self.isReadOnly = isReadOnly
        self.strange = strange
        identity = try file.status().identity
        let line = lines.dropFirst().first ?? ""
        note = StoreNote(line: line)
        wasLeftOpen = note.map { !$0.isClosed } ?? (line == DatabaseLock.mark)
        written = note
        let holder = "\(HostName.current) \(getpid())\n"
        noteOffset = holder.utf8.count
        self.file = file
        // Only the lock matters. If the disk is full, the next process does not learn who holds it.
        try? write(holder + (note.map { "\($0.line)\n" } ?? ""))
        if isSeenFromAfar { try? self.file.synchronize() }
    }

    /// Whether another process could take the lock, too, because somebody has removed its file.
    ///
    /// Also if this process could not write to it until now.
    var isLost: Bool { isReadOnly || identity.hasLost(file.path) }

    /// Takes the lock and writes down who holds it, if there is space for that.
    ///
    /// - Throws: `.inUse` if another process holds it; the error names it.
    /// `.cannotOpen` if the file cannot be made or locked.
    static func take(
        in directory: PrivateDirectory, on fileSystem: FileSystem
    ) throws(StorageError) -> DatabaseLock {
        var strange: String?
        for _ in 0..<DatabaseLock.mostAttempts {
            let file: File
            do {
                strange = try directory.setStrangeAside(name, mayHaveNames: true) ?? strange
                file = try open(in: directory)
            } catch {
                throw .lockFailed(directory.path, error)
            }
            let isOurs: Bool
            do {
                isOurs = try file.tryLock()
            } catch {
                throw .locksRefused(directory.path, on: fileSystem.name, error)
            }
            guard isOurs else { throw .inUse(directory.path, holder: holder(in: file)) }
            do {
                // A file with a second hard link may belong to another program, and is not written
                // to. A file without a name was removed at this moment, and locks nobody out.
                guard try file.status().linkCount == 1 else {
                    strange = try directory.setStrangeAside(name) ?? strange
                    continue
                }
                try file.setMode(0o600)
                let left = (try? file.read(512, at: 0)) ?? []
                let lines = String(decoding: left, as: UTF8.self)
                    .split(separator: "\n", omittingEmptySubsequences: false)
                return try DatabaseLock(
                    holding: file, after: lines, isSeenFromAfar: fileSystem.isNetwork,
                    strange: strange)
            } catch {
                throw .lockFailed(directory.path, error)
            }
        }
        throw .lockFailed(
            directory.path,
            SystemError(call: "lock", path: directory.file(name), number: EMLINK))
    }

    /// Takes the lock in a directory that cannot be written; nil if it has no lock.
    ///
    /// - Throws: `.inUse` if another process holds it.
    static func takeReadOnly(in directory: PrivateDirectory) throws(StorageError) -> DatabaseLock? {
        guard let file = try? File.regular(directory.file(name), O_RDONLY | O_NOFOLLOW),
            let isOurs = try? file.tryLock()
        else { return nil }
        guard isOurs else { throw .inUse(directory.path, holder: holder(in: file)) }
        let left = (try? file.read(512, at: 0)) ?? []
        let lines = String(decoding: left, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        return try? DatabaseLock(
            holding: file, after: lines, isSeenFromAfar: false, strange: nil, isReadOnly: true)
    }

    /// Checks that the lock could be taken if no process held it.
    ///
    /// - Throws: `.cannotOpen` if its file cannot be opened.
    static func check(in directory: PrivateDirectory) throws(StorageError) {
        do throws(SystemError) {
            _ = try open(in: directory)
        } catch {
            throw .lockFailed(directory.path, error)
        }
    }

    private static func open(in directory: PrivateDirectory) throws(SystemError) -> File {
        try File.regular(directory.file(name), O_RDWR | O_CREAT | O_NOFOLLOW)
    }

    /// Notes how far the store has come, on disk.
    ///
    /// The note itself need not be on disk: an older note proves less, but nothing wrong. It is written
    /// over the previous note, so it needs no space on a full disk. If it cannot be written, the next
    /// process has less proof.
    mutating func noteWritten(_ database: UniqueID, at generation: Generation) {
        let note = StoreNote(isClosed: false, database: database, generation: generation)
        guard note != written else { return }
        written = note
        try? file.write(Array("\(note.line)\n".utf8), at: noteOffset)
    }

    /// Notes that everything is in the database and its log is folded back.
    ///
    /// The note is on disk before the log is removed.
    mutating func noteClosed(_ database: UniqueID, at generation: Generation) {
        let wasClosed = note?.isClosed == true && note == written
        let note = StoreNote(isClosed: true, database: database, generation: generation)
        written = note
        try? write("\n\(note.line)\n")
        if !wasClosed { try? file.synchronize() }
    }

    /// Replaces the contents of the file with a short text.
    ///
    /// The text is written over the old one before the file is cut, so the note is never lost.
    private func write(_ text: String) throws(SystemError) {
        let bytes = Array(text.utf8)
        try file.write(bytes, at: 0)
        try file.truncate(to: bytes.count)
    }

    /// The host and the process that hold the lock; nil if they are not written yet, or if the file system
    /// does not let others read a locked file, as that of Windows does not.
    private static func holder(in file: borrowing File) -> (host: String, process: String)? {
        guard let bytes = try? file.read(512, at: 0) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        let words = lines.first?.split(separator: " ") ?? []
        return words.count == 2 ? (String(words[0]), String(words[1])) : nil
    }
}
