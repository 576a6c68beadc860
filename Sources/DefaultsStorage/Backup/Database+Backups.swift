extension Database {
    /// The backups of the database, the newest first.
    ///
    /// - Throws: `.cannotRead` where their directory cannot be read.
    public func backups() throws(StorageError) -> [Backup] {
        do {
            return try BackupFolder(of: directory).backups()
        } catch {
            throw .backupsUnreadable(path, error)
        }
    }
}
