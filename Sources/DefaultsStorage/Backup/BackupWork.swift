internal import DefaultsModel
internal import Glibc
internal import SQLite
internal import SystemCalls

/// What has come of a backup that was begun.
package enum BackupOutcome: Sendable {
    /// It is verified, on disk, and in its place.
    case made(Backup)
    /// The database is damaged, which its copy has shown; there is no backup of it, and those that
    /// there are were left alone.
    case damaged(StoreDamage)
    /// It was given up, by `DurableWriter.giveUpBackup()` or because the writer was closed.
    case givenUp
}

/// One backup in the making, step by step: copied, verified, and only then put in its place.
///
/// Invariants:
/// 1. Nothing bears a backup's name that was not verified, and on disk, before.
/// 2. No backup is removed before a newer good one of its kind is in place; if the database is
///    damaged, none is.
/// 3. However it ends, it leaves no unfinished file, unless the process dies. Then the next one
///    removes that.
/// 4. No step takes long, so that whoever waits for the thread waits for one step.
final class BackupWork {
    /// 1 MiB by the usual size of a page.
    private static let pagesAtOnce: Int32 = 256
    /// Memory for pages of the copy, in KiB.
    private static let cacheKiB = 256
    /// What a backup leaves free on the disk for everybody else: 16 MiB.
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
    ///   - date: Now, in seconds since 1970.
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

    /// Does some more.
    ///
    /// - Returns: What has come of it; nil if there is more to do.
    /// - Throws: `.cannotBackUp`. The work is over then.
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

    /// Ends the work if it is not over, and leaves no trace of it.
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
    /// If something fails the file is removed, so there is no journal to roll it back by; and
    /// what is to be on the medium is seen to by `doSome()`.
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
            guard error.code == .corrupt || error.code == .notADatabase else { throw error }
            // The new file cannot be meant.
            return .damaged(StoreDamage(of: .storeFailure(source, error, .cannotRead)))
        }
        // So there is little left for the last time. No lock on the file matters that ends by this:
        // nobody else opens it.
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

    /// Closes the copy as a file that needs no other beside it, and opens it as anybody would.
    private func beginCheck(of copy: Connection) throws(SQLiteError) {
        // It says of itself that it has a write-ahead log, as the source has.
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

    /// Removes what is too much; what cannot be removed is, the next time.
    private func rotate(after backup: Backup) {
        guard let backups = try? folder.backups() else { return }
        for surplus in BackupRotation(backups).surplus(after: backup, sparing: spared) {
            try? folder.remove(surplus)
        }
    }
}
