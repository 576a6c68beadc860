/// The store that the writer has made anew.
extension Database {
    /// Reads from the files that bear the store's names, where these are others than were read.
    ///
    /// Where they cannot be read, the earlier ones are read on, under all that came since: then
    /// nothing of that may leave memory, and the next flush tries again.
    ///
    /// - Parameter batch: What the store has at least.
    /// - Returns: Whether what is written is read.
    func followStore(to batch: FlushBatch) -> Bool {
        guard identity.isLost(from: file) else { return true }
        do throws(StorageError) {
            let connection = try file.connect()
            let state = try file.state(connection)
            // Somebody may have put another file there at this very moment.
            guard state.uuid == journal.database, state.generation >= batch.generation else {
                throw .storeGone(path)
            }
            let store = try StoreReader(connection, path: path)
            identity = try file.identity()
            contents.move(to: store)
        } catch {
            report(.storeNotFollowed(path, error))
            return false
        }
        notePlaces()
        report(.storeRenewed(path))
        return true
    }
}
