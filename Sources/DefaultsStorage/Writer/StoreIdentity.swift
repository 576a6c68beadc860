internal import SystemCalls

/// Which files the connections to a store have open: the database, and its write-ahead log.
///
/// SQLite writes on through its descriptors when somebody removes or replaces one of them, and all
/// of that is gone when the last connection is closed.
struct StoreIdentity: Equatable {
    let database: FileIdentity
    let log: FileIdentity

    /// That of the files which bear the names now; nil where one of them is missing.
    init?(of file: StoreFile) {
        guard let database = FileIdentity(of: file.path), let log = FileIdentity(of: file.logPath)
        else { return nil }
        self.database = database
        self.log = log
    }

    /// Whether the next process would not find what is written to these files.
    func isLost(from file: StoreFile) -> Bool {
        database.hasLost(file.path) || log.hasLost(file.logPath)
    }
}

extension StoreFile {
    /// Which files bear the store's names now.
    ///
    /// - Throws: `.cannotOpen` where one of them is missing.
    func identity() throws(StorageError) -> StoreIdentity {
        guard let identity = StoreIdentity(of: self) else { throw .storeGone(path) }
        return identity
    }
}
