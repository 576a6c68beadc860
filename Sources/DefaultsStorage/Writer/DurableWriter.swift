internal import DefaultsModel
internal import SQLite

/// Writes batches to the store, on a thread of its own.
///
/// The owner of the `Database` takes a batch from it, awaits the writer, and tells the database
/// how it went:
///
/// ```swift
/// if let batch = database.beginFlush() {
///     do {
///         try await writer.write(batch)
///         database.finishFlush(batch, .success(()))
///     } catch {
///         database.finishFlush(batch, .failure(error))
///     }
/// }
/// ```
///
/// Invariants:
/// 1. What `write(_:)` has written stands in files that bear the store's names, so that the next
///    process finds it, whatever somebody has done to those names before.
/// 2. Nothing is written before this process has the lock of the directory that bears the store.
/// 3. Nothing is written to a store while the next process may take another one for it.
/// 4. What is written is not followed, in the log, by what is left of a transaction that failed.
public actor DurableWriter {
    nonisolated let thread: WriterThread
    let place: StorePlace
    let backups: BackupFolder
    var connection: Connection?
    /// The backup under way.
    var backup: BackupWork?
    /// Which files the connection has open.
    var identity: StoreIdentity
    /// Whether the log may hold what was not written to its end, by this process or one before.
    var mayHaveLeftovers = true
    /// The files that stood, or were to stand, for the store before these.
    var earlier: [FileIdentity] = []
    /// What is to be done in a quiet moment.
    var chores = Chores()

    /// Starts the thread and opens a second connection to the store of an open database.
    ///
    /// - Parameter identity: Which files the database has open.
    init(to identity: StoreIdentity, in place: StorePlace) throws(StorageError) {
        let file = StoreFile(in: place.directory)
        self.identity = identity
        self.place = place
        backups = BackupFolder(of: place.directory)
        do {
            thread = try WriterThread()
        } catch {
            throw .cannotOpen(file.path, error)
        }
        connection = try file.connect()
        // Or what is written through it would not be what the database reads.
        guard try file.identity() == identity else { throw .storeGone(file.path) }
    }

    /// The file of the store, by the links that there are now.
    nonisolated var file: StoreFile { StoreFile(in: place.directory) }

    /// The writer's own thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    /// Writes a batch in one transaction; it is on disk, fsync done, when this returns.
    ///
    /// A store that somebody has removed or replaced is made anew before, or, where that happens
    /// meanwhile, with the batch in it.
    ///
    /// On a full disk a batch that removes something and adds little gets the space of the
    /// ``DiskReserve``, which is taken back if that does not help.
    ///
    /// - Returns: Whether there is something for ``tidy()`` to do.
    /// - Throws: The disk's refusal. The batch stays pending then, and the next process finds nothing
    ///   of it in the store, or all.
    @discardableResult
    public func write(_ batch: FlushBatch) throws(StorageError) -> Bool {
        try renewStoreIfLost()
        do {
            try commit(batch)
        } catch {
            guard error.isOfFullDisk, batch.removes, batch.addedBytes <= DiskReserve.mostAdded,
                reserve.release()
            else { throw .storeFailure(file.path, error, .cannotWrite) }
            do {
                try commit(batch)
            } catch {
                // What the transaction has left in the log takes up the space.
                try? beginLog()
                reserve.takeBack()
                throw .storeFailure(file.path, error, .cannotWrite)
            }
        }
        try renewStoreIfLost()
        chores.note(batch)
        return hasChores
    }

    private func commit(_ batch: FlushBatch) throws(SQLiteError) {
        try writing { connection throws(SQLiteError) in
            try FlushTransaction(on: connection).write(batch)
        }
    }

    /// Does something that writes transactions (invariant 4).
    func writing<Result>(
        _ body: (Connection) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        if mayHaveLeftovers { try openConnection.beginLogAnew() }
        mayHaveLeftovers = true
        let result = try body(openConnection)
        mayHaveLeftovers = false
        return result
    }

    /// Has the next batch begin the write-ahead log, so that it need not wait for a long read that begins
    /// after this.
    ///
    /// - Throws: `.cannotWrite` where the disk refuses; then the next batch tries it again.
    public func beginLog() throws(StorageError) {
        guard let connection else { return }
        do {
            try connection.beginLogAnew()
            mayHaveLeftovers = false
        } catch {
            throw .storeFailure(file.path, error, .cannotWrite)
        }
    }

    /// The connection of a writer that is in use.
    var openConnection: Connection {
        guard let connection else { preconditionFailure("the writer was closed") }
        return connection
    }

    /// Closes the connection, after which the database can be closed.
    ///
    /// Nothing is written later. A backup that is under way is given up.
    public func close() {
        giveUpBackup()
        connection = nil
    }
}
