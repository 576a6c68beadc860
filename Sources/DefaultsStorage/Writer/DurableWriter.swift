internal import DefaultsModel
internal import SQLite
internal import SystemCalls

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
package actor DurableWriter {
    nonisolated let thread: WriterThread
    let place: StorePlace
    let backups: BackupFolder
    var connection: Connection?
    /// The backup under way.
    var backup: BackupWork?
    /// Which files the connection has open.
    var identity: StoreIdentity
    /// Whether the log may hold what was not written to its end, by this process or one before.
    private var mayHaveLeftovers = true
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
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
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
    package func write(_ batch: FlushBatch) throws(StorageError) -> Bool {
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
    package func beginLog() throws(StorageError) {
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
    package func close() {
        giveUpBackup()
        connection = nil
    }
}

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
    private func renewStoreIfLost() throws(StorageError) {
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

/// A store that is damaged, and is made anew while the process goes on.
extension DurableWriter {
    /// Makes the store anew where a read, a flush or a check has found it damaged, and closes.
    ///
    /// The database can be read meanwhile, and takes changes; none of them is written before
    /// `Database.reopened(after:)` has taken up the new store, or the database has made another
    /// writer.
    ///
    /// - Parameters:
    ///   - damage: What was found, as a sentence.
    ///   - database: Whose store it is.
    /// - Returns: What has come of it.
    /// - Throws: `.cannotOpen` where the disk does not take the new store; nothing was done then.
    ///   `.replacementUndecided` where a new one may be there at the next start all the same: then
    ///   this one is not to be written any more.
    package func rescue(
        _ database: StoreIdentification, because damage: String
    ) throws(StorageError) -> CompletedRescue {
        close()
        let report = try file.rescue(
            because: damage, backups: (try? backups.backups()) ?? [], mayBeTorn: false,
            journal: database.uuid, note: place.currentNote)
        return CompletedRescue(report: report)
    }
}

/// By what a damaged store is known.
package struct StoreIdentification: Sendable {
    /// The identity of the database, which the store may not tell any more.
    let uuid: UniqueID
}

/// A store that was made anew and is yet to be opened.
package struct CompletedRescue: Sendable {
    let report: RescueReport

    /// What is not as it was, by domain.
    package var domains: [RescuedDomain] { report.domains }
}
