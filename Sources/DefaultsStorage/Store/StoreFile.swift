internal import DefaultsModel
internal import Glibc
internal import SQLite

/// The file of the store: how it is opened, by the reader and by the writer alike.
struct StoreFile: Sendable {
    /// Memory for pages of one connection, in KiB.
    ///
    /// The kernel's cache holds the file; this is anonymous memory, kept small and the same for
    /// every size of database.
    private static let cacheKiB = 256
    /// What is left of a WAL that a large flush has stretched: 4 MiB, the usual size between two
    /// checkpoints.
    private static let walSizeLimit = 4 << 20

    static let name = "defaults.db"
    /// What the names of its files end with: the database, its log, and a journal of SQLite's that
    /// is there while a new database is made.
    static let suffixes = ["", "-wal", "-journal"]

    let path: String
    /// The write-ahead log.
    var logPath: String { "\(path)-wal" }
    /// The directory that its files stand in.
    var directory: PrivateDirectory {
        PrivateDirectory(existing: PrivateDirectory.parent(of: path))
    }
    /// What it is called there.
    var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// Makes the file where there is none, readable by its owner alone.
    ///
    /// SQLite gives the files beside it the same permissions. Its own way of making it would obey
    /// the umask. The caller holds the lock of the directory: no connection of this process is open
    /// whose locks the closing of another descriptor would set free.
    func make() throws(StorageError) {
        do throws(SystemError) {
            let isNew = access(path, F_OK) != 0
            let file = try File.regular(path, O_RDWR | O_CREAT)
            try file.setMode(0o600)
            if isNew { try directory.synchronize() }
        } catch {
            throw .cannotOpen(path, error)
        }
    }

    /// Opens a connection.
    ///
    /// `unix-excl` locks other processes out, needs no shared memory file beside the database and
    /// lets several connections of this process work side by side. FULL makes each commit end in
    /// an fsync of the WAL.
    ///
    /// See [the unix VFSes](https://www.sqlite.org/vfs.html#standard_unix_vfses) and
    /// [PRAGMA synchronous](https://www.sqlite.org/pragma.html#pragma_synchronous).
    func connect() throws(StorageError) -> Connection {
        do throws(SQLiteError) {
            let connection = try Connection(path: path, flags: .readWrite, vfs: "unix-excl")
            // The log may be of another time, and then the first read fails. Closing must not fold that
            // log into the store.
            connection.keepLogOnClose(true)
            try connection.pragma("page_size", "\(PageSize.ours.whole)")
            try FreePages(of: connection).chooseErasure()
            try connection.pragma("trusted_schema", "OFF")
            try connection.pragma("cache_size", "-\(StoreFile.cacheKiB)")
            try connection.pragma("synchronous", "FULL")
            try connection.pragma("journal_size_limit", "\(StoreFile.walSizeLimit)")
            connection.keepLogOnClose(false)
            return connection
        } catch {
            throw .storeFailure(path, error, .cannotOpen)
        }
    }
}

extension StoreFile {
    /// What the database takes up without its log, in bytes.
    static func size(by connection: Connection) throws(SQLiteError) -> Int {
        let pages = try connection.pragma("page_count").flatMap { Int($0) } ?? 0
        let pageSize = try connection.pragma("page_size").flatMap { Int($0) } ?? 0
        return pages.multipliedReportingOverflow(by: pageSize).partialValue
    }

    /// Checks that the file, if there is one, is ours to open, while another process may have it open.
    ///
    /// A damaged one can be rescued.
    ///
    /// - Throws: `.cannotOpen`, `.notOurDatabase` or `.newerSchema`.
    func check() throws(StorageError) {
        do throws(StorageError) {
            _ = try StoreHeader(inFile: path)?.migrations(at: path)
        } catch {
            guard error.code == .damagedDatabase else { throw error }
        }
    }
}
