internal import DefaultsModel
internal import Glibc
internal import SQLite
internal import SystemCalls

/// The outcome of a backup.
package enum BackupOutcome: Sendable {
    /// It is verified, on disk, and in its place.
    case made(Backup)
    /// The copy has shown that the database is damaged. No backup was made, and existing ones were
    /// not changed.
    case damaged(StoreDamage)
    /// It was cancelled by `DurableWriter.giveUpBackup()`, or because the writer was closed.
    case givenUp
}

/// A backup in progress, made in steps: it is copied, verified, and only then moved to its place.
///
/// Invariants:
/// 1. A file gets the name of a backup only after it was verified and is on disk.
/// 2. No backup is removed before a newer good one of its kind is in place. If the database is
///    damaged, no backup is removed.
/// 3. It leaves no unfinished file. If the process dies, the next backup removes the file.
/// 4. No step takes long, so other work for the thread waits for one step at most.
final class BackupWork {
    /// 1 MiB with the usual size of a page.
    private static let pagesAtOnce: Int32 = 256
    /// Memory for the pages of the copy, in KiB.
    private static let cacheKiB = 256
    /// The space that a backup leaves free on the disk: 16 MiB.
    static let spaceToLeave = 16 << 20

    private enum Stage {
        case copying(OnlineBackup, onto: Connection)
        case checking(StoreCheck)
        case over
    }

    private let kind: Backup.Kind
    private let date: UInt64
    private let source: String
    private let folder: BackupFolder
    private let spared: Backup?
    private var stage = Stage.over

    /// Begins a backup; nothing is copied yet.
    ///
    /// - Parameters:
    ///   - date: The current time, in seconds since 1970.
    ///   - source: The connection of the writer, and the path of its file.
    ///   - spared: A backup that is not to be removed, however old it is.
    ///   - reserve: The bytes to leave free.
    init(
        _ kind: Backup.Kind, at date: UInt64, of source: (connection: Connection, path: String),
        in folder: BackupFolder, sparing spared: Backup?, leaving reserve: Int
    ) throws(StorageError) {
        (self.kind, self.date, self.source) = (kind, date, source.path)
        (self.folder, self.spared) = (folder, spared)
        try folder.prepare()
        try checkSpace(for: source.connection, leaving: reserve)
        do {
            try folder.begin()
            let copy = try BackupWork.open(folder.unfinishedPath)
            stage = .copying(try OnlineBackup(of: source.connection, onto: copy), onto: copy)
        } catch {
            folder.discard()
            throw .cannotBackUp(source.path, error)
        }
    }

    deinit {
        giveUp()
    }

    /// Does the next step.
    ///
    /// - Returns: The outcome; nil if there is more to do.
    /// - Throws: `.cannotBackUp`. Then the work is over.
    func advance() throws(StorageError) -> BackupOutcome? {
        do {
            let outcome = try doSome()
            if outcome != nil { giveUp() }
            return outcome
        } catch {
            giveUp()
            throw .cannotBackUp(source, error)
        }
    }

    /// Cancels the work if it is not over, and removes its file.
    func giveUp() {
        if case .over = stage { return }
        // The copy is closed before its file is removed.
        stage = .over
        folder.discard()
    }

    private func doSome() throws -> BackupOutcome? {
        switch stage {
        case .copying(let backup, let copy): return try goOn(with: backup, onto: copy)
        case .checking(let check):
            return try check.advance() ? nil : conclude(check)
        case .over: preconditionFailure("a backup was gone on with after its end")
        }
    }
}

// MARK: The steps

extension BackupWork {
    /// Opens the file of the copy.
    ///
    /// It needs no journal, because the file is removed if something fails. `doSome()` makes sure
    /// that it is on the disk.
    private static func open(_ path: String) throws(SQLiteError) -> Connection {
        let copy = try Connection(path: path, flags: .readWrite, vfs: "unix-excl")
        try copy.pragma("journal_mode", "OFF")
        try copy.pragma("synchronous", "OFF")
        try copy.pragma("cache_size", "-\(cacheKiB)")
        return copy
    }

    private func goOn(with backup: OnlineBackup, onto copy: Connection) throws -> BackupOutcome? {
        do throws(SQLiteError) {
            let isUnfinished = try backup.step(pages: BackupWork.pagesAtOnce)
            if !isUnfinished { try beginCheck(of: copy) }
        } catch {
            guard
                error.code == .corrupt || error.code == .notADatabase
                    || error.extendedCode == .inputOutputShortRead
            else { throw error }
            // This cannot mean the new file.
            return .damaged(StoreDamage(of: .storeFailure(source, error, .cannotRead)))
        }
        // So little is left for the last step. Closing releases locks on the file, but nobody else
        // opens it.
        try File(folder.unfinishedPath, O_RDONLY).synchronize()
        return nil
    }

    private func checkSpace(
        for source: Connection, leaving reserve: Int
    ) throws(StorageError) {
        do {
            let size = try StoreFile.size(by: source)
            let free = try folder.freeSpace()
            guard free - reserve >= size else {
                throw StorageError.noSpaceForBackup(self.source, size: size, free: free)
            }
        } catch let error as StorageError {
            throw error
        } catch {
            throw .cannotBackUp(self.source, error)
        }
    }

    /// Closes the copy as a single file without a log, and opens it again like any backup.
    private func beginCheck(of copy: Connection) throws(SQLiteError) {
        // Like the source, it is in the mode of a write-ahead log.
        try copy.pragma("journal_mode", "DELETE")
        let path = folder.unfinishedPath
        let reader = try Connection(path: path, flags: .readOnly)
        try reader.pragma("trusted_schema", "OFF")
        try reader.pragma("cache_size", "-\(BackupWork.cacheKiB)")
        stage = .checking(StoreCheck(of: reader, path: path))
    }

    private func conclude(_ check: StoreCheck) throws -> BackupOutcome {
        guard let state = check.state, check.damage.isNone else { return .damaged(check.damage) }
        stage = .over
        do {
            let name = BackupName(date: date, generation: state.generation, kind: kind)
            let backup = try folder.finish(as: name)
            rotate(after: backup)
            return .made(backup)
        } catch {
            folder.discard()
            throw error
        }
    }

    /// Removes surplus backups.
    ///
    /// If that fails, the next backup does it.
    private func rotate(after backup: Backup) {
        guard let backups = try? folder.backups() else { return }
        for surplus in BackupRotation(backups).surplus(after: backup, sparing: spared) {
            try? folder.remove(surplus)
        }
    }
}
