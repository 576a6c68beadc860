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
    /// - Throws: `.cannotWrite` where they cannot be made; what was open stays open.
    func renewStoreIfLost() throws(StorageError) {
        do throws(StorageError) {
            try place.renewIfLost()
        } catch {
            throw .storeLost(file.path, error)
        }
        guard identity.isLost(from: file) else { return try forgetRenewal() }
        // It copies by the connection that is to be closed.
        giveUpBackup()
        isRenewalUnfinished = true
        try file.copy(openConnection, in: place.directory)
        earlier += [identity.database, identity.log]
        try file.finishRenewal(in: place.directory, replacing: earlier)
        if let made = FileIdentity(of: file.path) { earlier.append(made) }
        let connection = try file.connect()
        // The copy has no write-ahead log yet, and gets one by the first read after this.
        _ = try file.prepare(connection)
        _ = try file.state(connection)
        identity = try file.identity()
        earlier = []
        isRenewalUnfinished = false
        self.connection = connection
    }

    /// Removes the copy of an attempt that failed, where the store has got its name back since: it
    /// would be taken for newer than what is written from now on.
    private func forgetRenewal() throws(StorageError) {
        guard isRenewalUnfinished else { return }
        try file.removeCopy(in: place.directory)
        earlier = []
        isRenewalUnfinished = false
    }
}
