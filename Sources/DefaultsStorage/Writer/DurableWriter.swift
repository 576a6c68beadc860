internal import DefaultsModel
internal import Glibc
internal import SQLite
internal import SystemCalls

/// Writes batches to the store, on its own thread.
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
/// 1. What `write(_:)` has written is in files with the names of the store. So the next process
///    finds it, also if the files were removed or replaced before.
/// 2. Nothing is written before this process has the lock of the store's directory.
/// 3. Nothing is written to a store while the next process may use another file in its place.
/// 4. In the log, nothing that a failed transaction left follows what is written.
package actor DurableWriter {
    nonisolated let thread: WriterThread
    let place: StorePlace
    let backups: BackupFolder
    var connection: Connection?
    /// The backup in progress.
    var backup: BackupWork?
    /// Which files the connection has open.
    var identity: StoreIdentity
    /// Whether these are a copy of a store that could not be written.
    private var isStandIn: Bool
    /// Whether the log may end with an incomplete transaction, of this process or an earlier one.
    private var mayHaveLeftovers = true
    /// The size of the log after the last transaction of this writer.
    private var logSize = 0
    /// The earlier files of the store, and files that were made to replace it.
    var earlier: [FileIdentity] = []
    /// The work for a quiet moment.
    var chores = Chores()
    /// Dates what is written.
    let date: DateSource
    /// Whose history is written.
    let origin: HistoryOrigin
    /// The file of the history; nil before the first flush, and while it cannot be used.
    var history: HistoryFile?
    /// What of the last batch was kept in the history.
    var historyRules = HistoryRules()
    /// Why changes are not noted in the history; nil if they are.
    var historyTrouble: String?
    /// The generation of the last batch that the history has.
    var generationInHistory: Generation?
    /// Whether what a power cut has taken from the history was noted.
    var isHistoryJudged = false
    /// What is to be done about the size of the history.
    var historyChores = HistoryChores()

    /// Starts the thread and opens a second connection to the store of an open database.
    ///
    /// - Parameters:
    ///   - identity: Which files the database has open.
    ///   - standIn: What is open in place of the store, if that cannot be written.
    ///   - history: Whose history is written.
    ///   - date: Dates what is written.
    init(
        to identity: StoreIdentity, in place: StorePlace, readingFrom standIn: StoreFile? = nil,
        history: HistoryOrigin, date: DateSource
    ) throws(StorageError) {
        origin = history
        self.date = date
        let file = standIn ?? StoreFile(in: place.directory)
        isStandIn = standIn != nil
        self.identity = identity
        self.place = place
        backups = BackupFolder(of: place.directory)
        do {
            thread = try WriterThread()
        } catch {
            throw .cannotOpen(file.path, error)
        }
        connection = try file.connectAgain()
        // Otherwise the database would not read what is written through it.
        guard try file.identity() == identity else { throw .storeGone(file.path) }
    }

    /// The file of the store, after following the links that exist now.
    nonisolated var file: StoreFile { StoreFile(in: place.directory) }

    /// The writer's own thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    /// Writes a batch in one transaction.
    ///
    /// When this returns, it is on disk, confirmed by fsync.
    ///
    /// If the store was removed or replaced, it is written again before. If that happens meanwhile,
    /// it is written again with the batch.
    ///
    /// On a full disk, a batch that removes something and adds little gets the space of the
    /// ``DiskReserve``. If that does not help, the space is reserved again.
    ///
    /// - Returns: Whether ``tidy()`` has something to do.
    /// - Throws: The error of the disk. Then the batch stays pending, and the next process finds
    ///   all of it in the store or nothing.
    @discardableResult
    package func write(_ batch: FlushBatch) throws(StorageError) -> Bool {
        try reconnect()
        try renewStoreIfLost(for: batch)
        try checkLog()
        noteInHistory(batch)
        do {
            try commit(batch)
        } catch {
            // Its log may have the space that the disk does not have.
            if error.isOfFullDisk {
                _ = try? history?.connection.pragma("wal_checkpoint", "TRUNCATE")
            }
            guard error.isOfFullDisk, batch.removes, batch.addedBytes <= DiskReserve.mostAdded,
                reserve.release()
            else { throw .storeFailure(file.path, error, .cannotWrite) }
            do {
                try commit(batch)
            } catch {
                // The rest of the transaction in the log takes up the space.
                try? beginLog()
                reserve.takeBack()
                throw .storeFailure(file.path, error, .cannotWrite)
            }
        }
        try renewStoreIfLost(for: batch)
        chores.note(batch)
        return hasChores
    }

    private func commit(_ batch: FlushBatch) throws(SQLiteError) {
        try writing { connection throws(SQLiteError) in
            try FlushTransaction(on: connection).write(batch, at: date.now)
        }
    }

    /// Does something that writes transactions (invariant 4).
    func writing<Result>(
        _ body: (Connection) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        defer { noteLogSize() }
        if mayHaveLeftovers { try openConnection.beginLogAnew() }
        mayHaveLeftovers = true
        let result = try body(openConnection)
        mayHaveLeftovers = false
        return result
    }

    /// Makes the next batch start at the beginning of the write-ahead log, so that it need not wait
    /// for a long read that begins after this.
    ///
    /// - Throws: `.cannotWrite` if the disk refuses. The next batch tries again.
    package func beginLog() throws(StorageError) {
        guard let connection else { return }
        defer { noteLogSize() }
        do {
            try connection.beginLogAnew()
            mayHaveLeftovers = false
        } catch {
            throw .storeFailure(file.path, error, .cannotWrite)
        }
    }

    /// Checks that no other program has truncated the log.
    ///
    /// SQLite does not notice this. It would write after a hole, and the next process would take the hole
    /// for the end of the log.
    ///
    /// - Throws: `.damagedDatabase`.
    private func checkLog() throws(StorageError) {
        // If the permission to look was taken away, nothing is known of the log.
        guard let status = FileStatus.ifAny(file.logPath), status.size < logSize else { return }
        throw .logCut(file.path)
    }

    /// Notes the size of the log after it was written or folded back.
    func noteLogSize() {
        logSize = FileStatus.ifAny(file.logPath)?.size ?? 0
    }

    /// The connection of a writer that is not closed.
    var openConnection: Connection {
        guard let connection else { preconditionFailure("the writer was closed") }
        return connection
    }

    /// Opens a connection again if a repair that failed has closed it.
    private func reconnect() throws(StorageError) {
        guard connection == nil else { return }
        let connection = try file.connectAgain()
        // Otherwise the database would not read what is written through it.
        guard try file.identity() == identity else { throw .storeGone(file.path) }
        self.connection = connection
    }

    /// Closes the connection, after which the database can be closed.
    ///
    /// Nothing is written later. A backup in progress is given up.
    package func close() {
        giveUpBackup()
        history = nil
        connection = nil
    }
}

/// A store that somebody has removed or replaced while it was in use.
///
/// Its contents can still be read through the connection, but would be lost when that is closed. So
/// a new store is made from them.
extension DurableWriter {
    /// Makes the directory, its lock and the store again, as far as they are lost.
    ///
    /// Other files with the names of the store are renamed and kept: somebody may have put them
    /// there without knowing that this process does not read them.
    ///
    /// If the open files cannot be read any more, because their disk was taken away and is back, the files
    /// that are there now are used, if they have all that was on disk.
    ///
    /// - Throws: `.cannotWrite` if they cannot be made, or `.replacementUndecided`. The open files
    ///   stay open, and must not be written.
    private func renewStoreIfLost(for batch: FlushBatch) throws(StorageError) {
        let note = place.currentNote
        do throws(StorageError) {
            try place.renewIfLost()
        } catch {
            throw isStandIn ? .storeUnwritable(file.path, error) : .storeLost(file.path, error)
        }
        if isStandIn, try leaveStandIn() { return }
        try setForeignLinkAside()
        let replacement = StoreReplacement(of: file)
        guard identity.isLost(from: file) else {
            // The store has its name again. The copy of a failed attempt would be taken for newer
            // than what is written from now on.
            try replacement.cancel()
            return earlier = []
        }
        // It copies through the connection that will be closed.
        giveUpBackup()
        let failure = { StorageError.storeLost(self.file.path, $0) }
        do throws(StorageError) {
            try replacement.make(orThrow: failure) { try copyStore(to: $0) }
        } catch {
            guard error.isOfUnreadableSource, takeStoreInPlace(note, for: batch) else {
                throw error
            }
            return
        }
        earlier += [identity.database, identity.log]
        do {
            _ = try replacement.finish(forgetting: earlier, isDamaged: false)
        } catch {
            throw failure(error)
        }
        if let made = FileIdentity(of: file.path) { earlier.append(made) }
        let connection = try file.connect()
        // The copy has no write-ahead log yet. The first read after this makes one.
        _ = try file.prepare(connection)
        _ = try file.state(connection)
        identity = try file.identity()
        earlier = []
        self.connection = connection
        isStandIn = false
        noteLogSize()
    }

    /// Copies the store to an empty file.
    ///
    /// - Throws: Also if the open files were emptied before they were removed: SQLite then takes them for
    ///   a new database, and copies nothing.
    private func copyStore(to path: String) throws(SQLiteError) {
        try openConnection.copy(to: path)
        guard StoreFile(path: path).stateWithoutLog() == nil else { return }
        throw SQLiteError(
            extendedCode: .corrupt, message: "the database was emptied", sql: "VACUUM INTO")
    }

    /// Uses the store itself, which can be written by now, if it is as it was when it was copied.
    ///
    /// - Returns: Whether it is used. If not, it is missing or another one, and is made from the copy.
    /// - Throws: `.cannotWrite` if another process has written to it since.
    private func leaveStandIn() throws(StorageError) -> Bool {
        guard let state = try? file.foundState() else { return false }
        let copied = try file.state(openConnection)
        guard state.uuid == copied.uuid, state.generation >= copied.generation else { return false }
        guard state.generation == copied.generation, let connection = try? file.connect(),
            (try? file.state(connection)) == state, let identity = try? file.identity()
        else { throw .storeLost(file.path, StorageError.storeGone(file.path)) }
        (self.connection, self.identity, earlier, isStandIn) = (connection, identity, [], false)
        mayHaveLeftovers = true
        noteLogSize()
        return true
    }

    /// Uses the files that have the names of the store now, if they have what was on disk and nothing that
    /// this process does not know.
    ///
    /// - Parameter note: What was on disk.
    /// - Returns: Whether they are used.
    private func takeStoreInPlace(_ note: StoreNote?, for batch: FlushBatch) -> Bool {
        guard let note, let state = try? file.foundState(), note.isReached(by: state),
            state.generation <= batch.generation, let connection = try? file.connect(),
            (try? file.state(connection)) == state, let identity = try? file.identity()
        else { return false }
        (self.connection, self.identity, earlier) = (connection, identity, [])
        mayHaveLeftovers = true
        noteLogSize()
        return true
    }

    /// Moves a link away that was put in place of the store and leads to another program's file, which
    /// would be moved instead.
    private func setForeignLinkAside() throws(StorageError) {
        // The file that is in use is not opened: closing it would release SQLite's lock.
        guard identity.database.hasLost(file.path), StoreFile.isForeignLink(in: place.directory)
        else { return }
        do {
            _ = try place.directory.setAside(StoreFile.name, as: ".aside")
        } catch {
            throw .storeLost(file.path, error)
        }
    }
}

extension SystemError {
    /// Whether the disk or the server of a file system does not answer, or the file system takes no
    /// changes.
    var isOfUnusableDisk: Bool {
        [EIO, EROFS, ESTALE, ENOTCONN, ENXIO, ENODEV, ETIMEDOUT, EHOSTDOWN, ESHUTDOWN, EREMOTEIO]
            .contains(number)
    }
}

extension StorageError {
    /// Whether a copy failed because SQLite could not read what was to be copied.
    fileprivate var isOfUnreadableSource: Bool {
        let code = (cause as? SQLiteError)?.code
        return code == .inputOutput || code == .corrupt || code == .notADatabase
    }
}

extension Connection {
    /// Copies the database to an empty file, rebuilt.
    ///
    /// See [VACUUM INTO](https://www.sqlite.org/lang_vacuum.html#vacuum_with_an_into_clause).
    func copy(to path: String) throws(SQLiteError) {
        try FreePages(of: self).beReturnable()
        let vacuum = try prepare("VACUUM INTO ?1")
        try vacuum.bind(path, at: 1)
        try vacuum.run()
    }
}

/// The repair of a damaged store while the process continues.
extension DurableWriter {
    /// Repairs the store after a read, a flush or a check has found damage, and closes the writer.
    ///
    /// Meanwhile the database can be read, and accepts changes. They are not written before
    /// `Database.reopened(after:)` has opened the new store, or the database has made another
    /// writer.
    ///
    /// - Parameters:
    ///   - damage: The damage, as a sentence.
    ///   - database: Whose store it is.
    /// - Returns: The repair.
    /// - Throws: `.diskUnusable` if the disk does not answer, which is then no damage: nothing was done, and
    ///   the writer is still open. `.cannotOpen` if the disk refuses the new store; then nothing was
    ///   changed, and the writer goes on with the old one.
    ///   `.replacementUndecided` if the next start may still find a new store; then this one must
    ///   not be written any more.
    package func repair(
        _ database: StoreIdentification, because damage: String
    ) throws(StorageError) -> CompletedRepair {
        try checkDisk()
        close()
        do throws(StorageError) {
            let report = try file.repair(
                because: damage, at: date.now, backups: (try? backups.backups()) ?? [],
                mayBeTorn: false, journal: database.uuid, note: place.currentNote)
            return CompletedRepair(report: report)
        } catch {
            // If this fails, the next batch tries again.
            try? reconnect()
            throw error
        }
    }

    /// Checks that the disk answers.
    ///
    /// A disk that was taken away looks like one with damage: SQLite cannot read a page, or finds that it
    /// does not fit. A repair would take away what is left: the open files.
    private func checkDisk() throws(StorageError) {
        do throws(SystemError) {
            // The file that is in use is not opened: closing it would release SQLite's lock. Another one in
            // its place is not the one with the damage; the next flush decides what becomes of it.
            if identity.isLost(from: file) {
                throw SystemError(call: "find", path: file.path, number: ESTALE)
            }
            try StoreReplacement(of: file).tryOut()
        } catch {
            // Anything else the repair itself finds, and says.
            if error.isOfUnusableDisk { throw .diskUnusable(file.path, error) }
        }
    }
}

/// How a damaged store is recognized.
package struct StoreIdentification: Sendable {
    /// The identity of the database, which the store may have lost.
    let uuid: UniqueID
}

/// A store that was repaired and is not opened yet.
package struct CompletedRepair: Sendable {
    let report: RepairReport

    /// What has changed by it, for each domain.
    package var domains: [RepairedDomain] { report.domains }
}
