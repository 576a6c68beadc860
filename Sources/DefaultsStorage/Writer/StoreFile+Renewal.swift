internal import SQLite

/// How a store is made anew from one that is open and has lost its name.
extension StoreFile {
    /// Which files bear the store's names now.
    ///
    /// - Throws: `.cannotOpen` where one of them is missing.
    func identity() throws(StorageError) -> StoreIdentity {
        guard let identity = StoreIdentity(of: self) else { throw .storeGone(path) }
        return identity
    }

    /// Makes a new store of all that a connection reads; it counts when this returns.
    ///
    /// - Throws: `.cannotWrite`.
    func copy(
        _ connection: Connection, in directory: PrivateDirectory
    ) throws(StorageError) {
        let replacement = StoreReplacement(directory: directory)
        do {
            try connection.copy(to: replacement.begin())
            try replacement.commit()
        } catch {
            try? replacement.removeUnfinished()
            throw .storeLost(path, error)
        }
    }

    /// Puts the new store in its place.
    ///
    /// - Parameter earlier: Files that may be replaced; any other is kept under another name.
    /// - Throws: `.cannotWrite` where it cannot be put there.
    func finishRenewal(
        in directory: PrivateDirectory, replacing earlier: [FileIdentity]
    ) throws(StorageError) {
        do throws(SystemError) {
            _ = try StoreReplacement(directory: directory).finish(forgetting: earlier)
        } catch {
            throw .storeLost(path, error)
        }
    }

    /// Removes a whole copy that is not to be used.
    ///
    /// - Throws: `.cannotWrite` where it stays.
    func removeCopy(in directory: PrivateDirectory) throws(StorageError) {
        do throws(SystemError) {
            try StoreReplacement(directory: directory).cancel()
        } catch {
            throw .storeLost(path, error)
        }
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
