internal import DefaultsModel
import DefaultsTerms
internal import Glibc
internal import SQLite
internal import SystemCalls
internal import Wording

/// The words of every error of this module.
extension StorageError {
    static func noHome() -> StorageError {
        StorageError(
            .directoryUnusable,
            "There is no place for the database: neither XDG_CONFIG_HOME nor HOME is set to an "
                + "absolute path. Set one of them, or name a directory.")
    }

    static func notText(_ variable: String) -> StorageError {
        StorageError(
            .directoryUnusable,
            "The path in the variable \(variable) is not UTF-8. Name a directory whose path is.")
    }

    static func directoryUnusable(_ path: String, _ cause: SystemError) -> StorageError {
        StorageError(
            .directoryUnusable,
            "The directory \(path) cannot be used: \(cause). It must belong to this user and must "
                + "not be shared.", cause: cause)
    }

    /// - Parameter variable: What names the directory.
    static func directoryOfAnother(
        _ variable: String, _ path: String, _ obstacle: Ownership.Obstacle
    ) -> StorageError {
        let advice =
            variable == "XDG_RUNTIME_DIR"
            ? "Set \(variable) to a directory of your own, or unset it."
            : "Run the program as that user, or set \(variable) to a directory of your own. 'sudo -H' "
                + "sets HOME, and 'sudo -E' keeps that of its caller."
        return StorageError(
            .directoryUnusable,
            "\(variable) is \(path), but \(owner(of: path, obstacle)). Nothing was made there, because "
                + "that user's programs could not use it. \(advice)",
            cause: refusal(of: obstacle))
    }

    static func directoryOfAnother(
        _ path: String, _ obstacle: Ownership.Obstacle
    ) -> StorageError {
        StorageError(
            .directoryUnusable,
            "The directory \(path) cannot be used, because \(owner(of: path, obstacle)). Run the "
                + "program as that user, or name a directory of your own.",
            cause: refusal(of: obstacle))
    }

    /// Says whose a directory is.
    private static func owner(of path: String, _ obstacle: Ownership.Obstacle) -> String {
        let subject = path == obstacle.directory ? "it" : obstacle.directory
        return "\(subject) belongs to another user: its owner has the number "
            + "\(obstacle.owner), and this process runs as \(geteuid())"
    }

    private static func refusal(of obstacle: Ownership.Obstacle) -> SystemError {
        SystemError(call: "open", path: obstacle.directory, number: EACCES)
    }

    static func directoryShared(_ path: String, mode: mode_t) -> StorageError {
        StorageError(
            .directoryUnusable,
            "Other users can access the directory \(path) (its mode is "
                + "\(String(mode, radix: 8))). The mode was not changed, because other programs may "
                + "use the directory, too. Run 'chmod 700' on it, or name another directory.")
    }

    static func inUse(_ path: String, holder: (host: String, process: String)?) -> StorageError {
        let isElsewhere = holder.map { $0.host != HostName.current } ?? false
        let holder = holder.map { "process \($0.process) on host \($0.host)" } ?? "another process"
        return StorageError(
            .inUse,
            "The database in \(path) is in use by \(holder). "
                + (isElsewhere
                    ? "End the session there. If that machine is gone, the server of the file system "
                        + "frees its lock after a while."
                    : "Set DBUS_SESSION_BUS_ADDRESS to the bus of that process, or try again after it "
                        + "has ended."))
    }

    static func locksRefused(
        _ path: String, on fileSystem: String, _ cause: SystemError
    ) -> StorageError {
        StorageError(
            .cannotOpen,
            "The database in \(path) cannot be locked: \(cause). Without a lock, two daemons, even "
                + "on two machines, could write it at once and destroy it, so it was not opened. "
                + "Make its file system (\(fileSystem)) support locks, or keep the database on "
                + "another one.", cause: cause)
    }

    static func lockFailed(_ path: String, _ cause: SystemError) -> StorageError {
        StorageError(
            .cannotOpen,
            "The database in \(path) cannot be locked: \(cause). "
                + (cause.isOfUnusableDisk
                    ? "Make sure that its disk is connected and works, and can be written; dmesg may "
                        + "say more."
                    : "Its file system must allow files to be made and locked."),
            cause: cause)
    }

    static func cannotOpen(_ path: String, _ cause: SystemError) -> StorageError {
        guard cause.call == File.openingRegular else {
            return StorageError(.cannotOpen, "\(path) cannot be opened: \(cause).", cause: cause)
        }
        return StorageError(
            .cannotOpen,
            "\(cause.path) is not a regular file, so the database was not opened. Move it away and "
                + "start again. The new database takes what the other files and the newest backup have.",
            cause: cause)
    }

    /// What SQLite would say of a file without its header.
    static func noDatabase(_ path: String) -> StorageError {
        let cause = SQLiteError(
            extendedCode: .notADatabase, message: ResultCode.notADatabase.description, sql: path)
        return .storeFailure(path, cause, .cannotOpen)
    }

    static func storeGone(_ path: String) -> StorageError {
        StorageError(
            .cannotOpen, "\(path) was removed or replaced while it was being opened. Start again.")
    }

    static func storeUnwritable(_ path: String, _ cause: StorageError) -> StorageError {
        let reason = cause.cause.map { "\($0)." } ?? cause.description
        return StorageError(
            .cannotWrite,
            "\(path) cannot be written: \(reason) It can be read. Changes are kept in the crash journal "
                + "until the end of the session, and are written when this is possible again.",
            cause: cause.cause)
    }

    static func noJournal(_ domain: Domain, _ cause: StorageError) -> StorageError {
        StorageError(
            .cannotJournal,
            "The change of \(domain) was refused: the database cannot be written, and there is no runtime "
                + "directory that could keep the change for the session. \(cause)", domain: domain,
            cause: cause.cause)
    }

    static func storeLost(_ path: String, _ cause: any Error) -> StorageError {
        StorageError(
            .cannotWrite,
            "\(path) was removed or replaced while it was in use, and a new copy cannot be written: "
                + "\(reason(of: cause)) Until one is written, only this process has the contents.",
            cause: cause)
    }

    static func replacementUndecided(_ path: String, _ cause: SystemError) -> StorageError {
        StorageError(
            .replacementUndecided,
            "A new database that was made to replace \(path) was discarded, but the disk does not "
                + "confirm that it was removed: \(cause). The next start could find it, so nothing "
                + "is written until the disk confirms the removal.", cause: cause)
    }

    /// A sentence with the cause, without the text of a statement.
    private static func reason(of cause: any Error) -> String {
        if cause is StorageError { return "\(cause)" }
        return "\((cause as? SQLiteError)?.reason ?? "\(cause)")."
    }

    static func notOurDatabase(_ path: String) -> StorageError {
        StorageError(
            .notOurDatabase,
            "\(path) is a SQLite database of another program. It was left as it is; "
                + "move it away or name another directory.")
    }

    static func linkToForeignFile(_ path: String, target: String) -> StorageError {
        StorageError(
            .notOurDatabase,
            "\(path) is a link to \(target), which is not a database of this program. Nothing was "
                + "changed. Remove the link, or put the database at the target of the link.")
    }

    static func newerSchema(_ path: String, version: Int) -> StorageError {
        StorageError(
            .newerSchema,
            "\(path) has version \(version) of the schema, but this program supports versions up to "
                + "\(Schema.version). It was not changed. Use the program that made it, or a "
                + "later one.")
    }

    static func damagedHeader(_ path: String) -> StorageError {
        StorageError(
            .damagedDatabase,
            "\(path) is damaged: its tables belong to this program, but its header says otherwise.")
    }

    static func repairFailed(_ path: String, _ cause: any Error) -> StorageError {
        StorageError(
            .cannotOpen,
            "The damaged database \(path) could not be repaired: \(reason(of: cause)) It was not "
                + "changed. Make sure that there is space beside it.", cause: cause)
    }

    static func diskUnusable(_ path: String, _ cause: SystemError) -> StorageError {
        StorageError(
            .diskUnusable,
            "The disk of \(path) cannot be used: \(cause). The database stays open: what is in memory "
                + "can be read, and changes wait in the crash journal until the disk can be used "
                + "again. Make sure that the disk is connected and works; dmesg may say more.",
            cause: cause)
    }

    static func olderThanBackup(_ path: String) -> StorageError {
        StorageError(
            .damagedDatabase,
            "\(path) was older than its newest backup: its write-ahead log was missing or could not "
                + "be read.")
    }

    static func behindItsNote(_ path: String) -> StorageError {
        StorageError(
            .damagedDatabase,
            "\(path) lacks changes that were on disk: it or its write-ahead log was damaged, cut "
                + "short or replaced.")
    }

    static func logCut(_ path: String) -> StorageError {
        StorageError(
            .damagedDatabase,
            "The write-ahead log of \(path) was cut while it was in use.")
    }

    static func emptied(_ path: String) -> StorageError {
        StorageError(.damagedDatabase, "\(path) was emptied while it was in use.")
    }

    static func damagedState(_ path: String) -> StorageError {
        StorageError(
            .damagedDatabase,
            "\(path) is damaged: the state that it notes of itself is invalid.")
    }

    static func damagedRow(_ domain: Domain, _ key: Key, _ path: String) -> StorageError {
        StorageError(
            .damagedRow,
            "The stored value of \(key.quotedForMessage) in \(domain) is damaged: its "
                + "checksum is wrong in \(path). "
                + (domain.layer.isWritable
                    ? "To replace the value, set the key again."
                    : "To replace the value, change the file of the administrator or vendor that "
                        + "sets it."),
            domain: domain, key: key)
    }

    static func journalUnreadable(_ path: String, _ cause: SystemError) -> StorageError {
        StorageError(
            .cannotOpen,
            "The journal \(path) cannot be read: \(cause). It may have changes that are not "
                + "in the database.", cause: cause)
    }

    static func cannotJournal(_ domain: Domain, _ cause: SystemError) -> StorageError {
        StorageError(
            .cannotJournal,
            "The change of \(domain) was refused: the crash journal cannot be written (\(cause)).",
            domain: domain, cause: cause)
    }

    /// - Parameter other: Why there can be no other journal.
    static func cannotJournal(
        _ domain: Domain, _ cause: SystemError, nor other: StorageError
    ) -> StorageError {
        StorageError(
            .cannotJournal,
            "The change of \(domain) was refused: the crash journal cannot be written (\(cause)), and no "
                + "other can be begun: \(other)", domain: domain, cause: cause)
    }

    static func journalInUse(_ path: String) -> StorageError {
        StorageError(
            .cannotOpen,
            "No journal can be begun in \(path): other processes have their journals there. They serve "
                + "databases that were at this path before. End them.")
    }

    static func journalLost(_ domain: Domain, _ cause: StorageError) -> StorageError {
        StorageError(
            .cannotJournal,
            "The change of \(domain) was refused: the crash journal is gone, and no other can be "
                + "begun. \(cause)", domain: domain, cause: cause)
    }

    static func pendingFull(_ domain: Domain) -> StorageError {
        StorageError(
            .pendingFull,
            "The change of \(domain) was refused: \(PendingOverlay.maximumBytes >> 20) MiB of "
                + "changes already wait for the disk. Find out why it does not accept them.",
            domain: domain)
    }

    static func changeTooLarge(_ domain: Domain, size: Int) -> StorageError {
        StorageError(
            .changeTooLarge,
            "The change of \(domain) was refused: its size is \(size) bytes (including "
                + "\(PendingOverlay.entryOverhead) for each key), but at most "
                + "\(PendingOverlay.maximumBytes) bytes of changes can wait for the disk. Split it "
                + "into smaller changes.",
            domain: domain)
    }

    static func generationsExhausted(_ ceiling: Generation) -> StorageError {
        StorageError(
            .generationsExhausted,
            "Generation \(ceiling) is the highest that can be used until the database can be "
                + "written again, so further changes are refused. Find out why the disk cannot be "
                + "written.")
    }

    static func noPage(_ directory: String) -> StorageError {
        StorageError(
            .noPage,
            "The counter page could not be made in \(directory); the log says why. Until it is "
                + "available, read values with calls.")
    }

    static func keyNamesTooLarge(_ domain: Domain) -> StorageError {
        StorageError(
            .keyNamesTooLarge,
            "The change of \(domain) was refused: the names of its keys would be longer than "
                + "\(ContractLimits.maximumNameBytes >> 20) MiB together. Remove keys, or keep many "
                + "small values as one object.", domain: domain)
    }

    static func cannotBackUp(_ path: String, _ cause: any Error) -> StorageError {
        StorageError(
            .cannotBackUp,
            "No backup of \(path) could be made: \(reason(of: cause)) Existing backups were kept.",
            cause: cause)
    }

    static func noSpaceForBackup(_ path: String, size: Int, free: Int) -> StorageError {
        StorageError(
            .cannotBackUp,
            "No backup of \(path) was made: it needs \(counted(size, "byte")). Of the "
                + "\(counted(free, "byte")) that \(agreeing(free, "is", "are")) free, too few would "
                + "remain. Make space on the disk.")
    }

    static func backupsUnreadable(_ path: String, _ cause: SystemError) -> StorageError {
        StorageError(
            .cannotRead, "The backups of \(path) cannot be listed: \(cause).", cause: cause)
    }

    static func miscounted(_ path: String, _ what: String) -> StorageError {
        StorageError(
            .damagedDatabase,
            "\(path) is damaged: its recorded count for \(what) is wrong. Restore a backup.")
    }

    /// A file that is not even opened, because its header is not that of a database; in the words of
    /// SQLite.
    static func noBackup(_ path: String) -> StorageError {
        let cause = SQLiteError(
            extendedCode: .notADatabase, message: "file is not a database", sql: path)
        return .storeFailure(path, cause, .cannotOpen)
    }

    static func historyFailure(_ path: String, _ cause: SQLiteError) -> StorageError {
        StorageError(
            .historyUnusable,
            "The history \(path) cannot be read: \(cause.reason). Settings are not concerned.",
            cause: cause)
    }

    /// A refusal by SQLite.
    ///
    /// If it tells that the file is damaged, foreign or locked, this is what the error says,
    /// otherwise that the operation failed.
    static func storeFailure(
        _ path: String, _ cause: SQLiteError, _ code: Code
    ) -> StorageError {
        // A medium that does not give a page back has lost it, and so has a log that ends before it.
        if cause.extendedCode == .inputOutputRead || cause.extendedCode == .inputOutputShortRead {
            return StorageError(
                .damagedDatabase, "\(path) cannot be read: \(cause.reason).", cause: cause)
        }
        return switch (cause.code, code) {
        case (.corrupt, _), (.notADatabase, _):
            StorageError(
                .damagedDatabase, "\(path) is damaged or not a database (\(cause.message)).",
                cause: cause)
        // This program's statements fit its schema, and what it writes keeps every constraint. If the
        // file was emptied, SQLite takes it for a new database, which has no tables.
        case (.error, _), (.constraint, .cannotWrite):
            StorageError(
                .damagedDatabase, "\(path) is damaged in its tables (\(cause.message)).",
                cause: cause)
        case (.busy, .cannotOpen):
            StorageError(
                .inUse, "\(path) is open in another program. Close that one first.", cause: cause)
        case (_, .cannotOpen):
            StorageError(.cannotOpen, "\(path) cannot be opened: \(cause.reason).", cause: cause)
        case (_, .cannotRead):
            StorageError(.cannotRead, "\(path) cannot be read: \(cause.reason).", cause: cause)
        default:
            StorageError(
                code,
                "\(path) cannot be written: \(cause.reason). The changes stay pending. They will "
                    + "be written when this is possible again.", cause: cause)
        }
    }
}
