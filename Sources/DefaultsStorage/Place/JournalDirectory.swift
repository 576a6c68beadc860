internal import Glibc
internal import SystemCalls

/// The directory of a journal, which no other process uses while this object exists.
///
/// The file `lock` in it is locked with flock(2), and has the real path of the database's directory. So a
/// later process finds out which database the journal is for, wherever that database is by then.
final class JournalDirectory {
    static let lockName = "lock"
    /// More than the longest path.
    private static let largestPath = 2 * 4096

    let directory: PrivateDirectory
    private let file: File

    var path: String { directory.path }

    /// Takes a directory that exists.
    ///
    /// - Parameter database: The real path of the database's directory, which is noted.
    /// - Returns: Nil if another process uses it.
    init?(taking directory: PrivateDirectory, for database: String) throws(SystemError) {
        _ = try directory.setStrangeAside(JournalDirectory.lockName)
        let file = try File.regular(
            directory.file(JournalDirectory.lockName), O_RDWR | O_CREAT | O_NOFOLLOW)
        guard try file.tryLock() else { return nil }
        if JournalDirectory.database(of: directory) != database {
            try file.setMode(0o600)
            try file.replaceContents(with: "\(database)\n")
        }
        self.directory = directory
        self.file = file
    }

    deinit {
        release()
    }

    /// Lets other processes take it.
    func release() {
        file.unlock()
    }

    /// How long a process that ends has for it.
    private static let patience = Duration.seconds(3)

    /// Whether another process uses a directory, and goes on using it.
    ///
    /// One that has given up its database is about to end. Its last changes may be in the journal, so it is
    /// waited for.
    ///
    /// A lock that cannot be tried counts as free: its journal may have changes that nobody else reads.
    static func isInUse(_ directory: PrivateDirectory) -> Bool {
        do throws(SystemError) {
            let file = try File.regular(directory.file(lockName), O_RDONLY | O_NOFOLLOW)
            let end = ContinuousClock.now + patience
            while try !file.tryLock() {
                guard ContinuousClock.now < end else { return true }
                usleep(10_000)
            }
            file.unlock()
            return false
        } catch {
            return false
        }
    }

    /// The real path that the directory of the journal's database had; nil if it is not noted.
    static func database(of directory: PrivateDirectory) -> String? {
        guard
            let file = try? File.regular(
                directory.file(lockName), O_RDONLY | O_NOFOLLOW),
            let bytes = try? file.read(largestPath, at: 0),
            bytes.first == UInt8(ascii: "/"), bytes.last == UInt8(ascii: "\n")
        else { return nil }
        return String(decoding: bytes.dropLast(), as: UTF8.self)
    }
}
