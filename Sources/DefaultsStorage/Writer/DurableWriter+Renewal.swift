internal import SQLite

/// A store that somebody has removed or replaced while it was in use.
///
/// All that it held can still be read through the connection, and is gone for good when that is
/// closed: so a whole new store is made from it.
extension DurableWriter {
    /// Makes the directory, its lock and the store anew, as far as they are lost.
    ///
    /// Whatever else bears the store's names is kept under others: somebody may have put it there
    /// who did not know that this process would not read it.
    ///
    /// - Throws: `.cannotWrite` where they cannot be made, or `.replacementUndecided`; what was open
    ///   stays open, and is not to be written.
    func renewStoreIfLost() throws(StorageError) {
        do throws(StorageError) {
            try place.renewIfLost()
        } catch {
            throw .storeLost(file.path, error)
        }
        let replacement = StoreReplacement(of: file)
        guard identity.isLost(from: file) else {
            // The store has got its name back: the copy of an attempt that failed would be taken for
            // newer than what is written from now on.
            try replacement.cancel()
            return earlier = []
        }
        // It copies by the connection that is to be closed.
        giveUpBackup()
        let failure = { StorageError.storeLost(self.file.path, $0) }
        try replacement.make(orThrow: failure) { try openConnection.copy(to: $0) }
        earlier += [identity.database, identity.log]
        do {
            _ = try replacement.finish(forgetting: earlier)
        } catch {
            throw failure(error)
        }
        if let made = FileIdentity(of: file.path) { earlier.append(made) }
        let connection = try file.connect()
        // The copy has no write-ahead log yet, and gets one by the first read after this.
        _ = try file.prepare(connection)
        _ = try file.state(connection)
        identity = try file.identity()
        earlier = []
        self.connection = connection
    }
}

extension Connection {
    /// Copies the database, rebuilt, to a file that is empty.
    ///
    /// See [VACUUM INTO](https://www.sqlite.org/lang_vacuum.html#vacuum_with_an_into_clause).
    func copy(to path: String) throws(SQLiteError) {
        try FreePages(of: self).beReturnable()
        let vacuum = try prepare("VACUUM INTO ?1")
        try vacuum.bind(path, at: 1)
        try vacuum.run()
    }
}
