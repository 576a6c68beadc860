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
public actor DurableWriter {
    nonisolated let thread: WriterThread
    let path: String
    let backups: BackupFolder
    private(set) var connection: Connection?
    /// The backup under way.
    var backup: BackupWork?

    /// Starts the thread and opens a second connection to the store of an open database.
    init(to file: StoreFile, backups: BackupFolder) throws(StorageError) {
        path = file.path
        self.backups = backups
        do {
            thread = try WriterThread()
        } catch {
            throw .cannotOpen(path, error)
        }
        connection = try file.connect()
    }

    /// The writer's own thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    /// Writes a batch in one transaction; it is on disk, fsync done, when this returns.
    ///
    /// - Throws: The disk's refusal. Nothing of the batch was written then.
    public func write(_ batch: FlushBatch) throws(StorageError) {
        guard let connection else { preconditionFailure("the writer was closed") }
        do {
            try FlushTransaction(on: connection).write(batch)
        } catch {
            throw .storeFailure(path, error, .cannotWrite)
        }
    }

    /// Closes the connection, after which the database can be closed.
    ///
    /// Nothing is written later. A backup that is under way is given up.
    /// A backup that is under way is given up.
    public func close() {
        giveUpBackup()
        connection = nil
    }
}
