extension DatabaseLocation {
    /// Finds what stands in the way of opening the database here, as far as that can be seen while
    /// another process has it.
    ///
    /// For a process that is to take over from one that serves. Directories that are missing are made,
    /// and the file of the lock; what is in the database is not touched.
    ///
    /// - Throws: ``StorageError`` as the opening would, but for `.inUse`.
    public func checkUsability() throws(StorageError) {
        let database = try PrivateDirectory(making: directory, isOurs: isStandard)
        try DatabaseLock.check(in: database)
        try StoreFile(in: database).check()
        do {
            _ = try makeJournalDirectory()
        } catch {
            _ = try makeJournalBesideDatabase()
        }
    }
}
