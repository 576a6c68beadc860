internal import DefaultsModel
internal import Glibc
internal import SystemCalls

/// Backups are the writer's work: it copies by the connection by which it writes, so that what is
/// written meanwhile is in the copy, too.
extension DurableWriter {
    /// Makes a backup of what is on disk.
    ///
    /// Other work of the writer goes first and waits for one step at most, some milliseconds. One
    /// backup at a time.
    ///
    /// - Parameters:
    ///   - kind: What for.
    ///   - spared: A backup that is not to be removed for this one, however old it is.
    /// - Returns: What has come of it.
    /// - Throws: `.cannotBackUp` if the disk refuses, or has too little space.
    package func backUp(
        _ kind: Backup.Kind, sparing spared: Backup? = nil
    ) async throws(StorageError) -> BackupOutcome {
        try await backUp(
            kind, at: date.now, sparing: spared, leaving: BackupWork.spaceToLeave)
    }

    func backUp(
        _ kind: Backup.Kind, at date: UInt64, sparing spared: Backup? = nil,
        leaving reserve: Int = BackupWork.spaceToLeave
    ) async throws(StorageError) -> BackupOutcome {
        precondition(backup == nil, "one backup at a time")
        guard let connection else { return .givenUp }
        let work = try BackupWork(
            kind, at: date, of: (connection, file.path), in: backups, sparing: spared,
            leaving: reserve)
        backup = work
        defer { if backup === work { backup = nil } }
        // Another work, or none: this one was given up.
        while backup === work {
            if let outcome = try work.advance() { return outcome }
            await giveWay()
        }
        return .givenUp
    }

    /// Gives up the backup that is under way, if there is one, and leaves no trace of it.
    package func giveUpBackup() {
        backup?.giveUp()
        backup = nil
    }

    /// Lets the work go first that waits for the thread by now.
    private func giveWay() async {
        await withUnsafeContinuation { thread.resumeInTurn($0) }
    }
}

extension DurableWriter {
    /// Opens a backup to be read.
    ///
    /// - Throws: `.cannotOpen` or `.damagedDatabase`.
    package func open(_ backup: Backup) throws(StorageError) -> BackupReader {
        try BackupReader(at: backup.path, on: thread)
    }

    /// Opens the file of a backup, wherever it is, such as one of another machine.
    ///
    /// - Throws: `.cannotOpen` or `.damagedDatabase`.
    package func openBackup(at path: String) throws(StorageError) -> BackupReader {
        do throws(SystemError) {
            // Opening a pipe would wait for its writer.
            guard try FileStatus(of: path).kind == .regular else {
                throw SystemError(call: "open", path: path, number: EINVAL)
            }
            // The database itself is not opened here: closing it would release its locks.
            _ = try File(path, O_RDONLY | O_NONBLOCK)
        } catch {
            guard error.number != FileCalls.noDatabase else { throw .noBackup(path) }
            throw .cannotOpen(path, SystemError(call: "open", path: path, number: error.number))
        }
        return try BackupReader(at: path, on: thread)
    }
}
