internal import Glibc
internal import SQLite

/// How a store is made anew from one that is open and has lost its name.
///
/// The copy gets the name `defaults.db.renewed` when it is whole and on disk, and the store's name
/// when nothing else bears that, or that of the write-ahead log: SQLite would take such a log for
/// the new store's. A process that dies between the two steps leaves the second one to the next.
extension StoreFile {
    private static let unfinishedSuffix = ".unfinished"
    private static let renewedSuffix = ".renewed"
    private static let asideSuffix = ".aside"

    /// Which files bear the store's names now.
    ///
    /// - Throws: `.cannotOpen` where one of them is missing.
    func identity() throws(StorageError) -> StoreIdentity {
        guard let identity = StoreIdentity(of: self) else { throw .storeGone(path) }
        return identity
    }

    /// Copies all that a connection reads, to a file that is whole and on disk under its own name.
    ///
    /// - Throws: `.cannotWrite`; what there is of the copy is removed.
    func copy(
        _ connection: Connection, in directory: PrivateDirectory
    ) throws(StorageError) {
        let unfinished = name + StoreFile.unfinishedSuffix
        do {
            let copy = try File(directory.file(unfinished), O_RDWR | O_CREAT | O_TRUNC)
            try copy.setMode(0o600)
            try connection.copy(to: copy.path)
            // VACUUM INTO leaves that to us.
            try copy.synchronize()
            try directory.rename(unfinished, to: name + StoreFile.renewedSuffix)
            try directory.synchronize()
        } catch {
            try? directory.remove(unfinished)
            throw .storeLost(path, error)
        }
    }

    /// Puts a whole copy, if there is one, in the place of the store.
    ///
    /// No connection has the copy open.
    ///
    /// - Parameter earlier: Files that may be replaced; any other is kept under another name.
    /// - Throws: `.cannotWrite` where there is one and it cannot.
    func finishRenewal(
        in directory: PrivateDirectory, replacing earlier: [FileIdentity] = []
    ) throws(StorageError) {
        let renewed = name + StoreFile.renewedSuffix
        guard access(directory.file(renewed), F_OK) == 0 else { return }
        do throws(SystemError) {
            for path in [logPath, path] {
                guard let other = FileIdentity(of: path) else { continue }
                let name = StoreFile.name(of: path)
                if !earlier.contains(other) {
                    _ = try directory.setAside(name, as: StoreFile.asideSuffix)
                } else if path == logPath {
                    try directory.remove(name)
                }
            }
            try directory.rename(renewed, to: name)
            try directory.synchronize()
        } catch {
            throw .storeLost(path, error)
        }
    }

    /// Removes a whole copy that is not to be used.
    ///
    /// - Throws: `.cannotWrite` where it stays.
    func removeCopy(in directory: PrivateDirectory) throws(StorageError) {
        do throws(SystemError) {
            try directory.remove(name + StoreFile.renewedSuffix)
        } catch {
            guard error.number == ENOENT else { throw .storeLost(path, error) }
        }
    }

    private var name: String { StoreFile.name(of: path) }

    private static func name(of path: String) -> String {
        String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
    }
}

extension Connection {
    /// Copies the database, rebuilt, to a file that is empty.
    ///
    /// See [VACUUM INTO](https://www.sqlite.org/lang_vacuum.html#vacuum_with_an_into_clause).
    fileprivate func copy(to path: String) throws(SQLiteError) {
        let vacuum = try prepare("VACUUM INTO ?1")
        try vacuum.bind(path, at: 1)
        try vacuum.run()
    }
}
