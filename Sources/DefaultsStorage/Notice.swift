internal import DefaultsModel
internal import SystemCalls
internal import Wording

/// A message for the log.
package struct Notice: Hashable, Sendable, CustomStringConvertible {
    /// How much it matters.
    package enum Severity: Hashable, Sendable {
        /// Long work continues.
        case progress
        /// Worth a line.
        case information
        /// Something was lost, or may be.
        case warning
        /// A damaged database was replaced by an intact one, and something may be lost.
        case repair
    }

    /// How much it matters.
    package let severity: Severity
    /// The message, in one or two sentences.
    ///
    /// It contains no value.
    package let description: String
}

/// The words of every notice of this module.
extension Notice {
    static func foreignSegment(_ path: String, setAside: String) -> Notice {
        Notice(
            severity: .warning,
            description: "The journal \(path) belongs to another database. It was not read and is "
                + "kept as \(setAside).")
    }

    static func damagedSegment(_ path: String, setAside: String) -> Notice {
        Notice(
            severity: .warning,
            description: "The journal \(path) is damaged at its beginning. Changes that were only "
                + "there are lost. It was not read and is kept as \(setAside).")
    }

    static func repairing(_ path: String, pages: Int) -> Notice {
        Notice(
            severity: .progress,
            description:
                "\(path) is damaged and is being repaired: \(counted(pages, "page", verb: "was", "were")) read so far."
        )
    }

    static func replaying(_ count: Int) -> Notice {
        Notice(
            severity: .progress,
            description: "The crash journal is being read: \(counted(count, "record")) so far.")
    }

    static func strangeFile(_ path: String, setAside: String) -> Notice {
        Notice(
            severity: .warning,
            description: "\(path) is a link, a pipe, a directory, or a file with a second hard "
                + "link, so it was not opened. It was moved to \(setAside).")
    }

    static func historyAside(_ path: String, _ reason: String, setAside: String) -> Notice {
        Notice(
            severity: .warning,
            description:
                "The history \(path) cannot be used: \(reason). It was moved to \(setAside), "
                + "and another one was begun. Settings are not concerned.")
    }

    static func noHistory(_ path: String, _ reason: String) -> Notice {
        Notice(
            severity: .warning,
            description: "Changes are not kept in the history \(path) at the moment: \(reason). "
                + "Settings are not concerned.")
    }

    static func noStore(_ path: String, setAside: String) -> Notice {
        Notice(
            severity: .warning,
            description:
                "\(path) has the name of a repaired database, but is none. It was not used "
                + "and is kept as \(setAside).")
    }

    static func unfinishedRecord(_ path: String, offset: Int, length: Int) -> Notice {
        Notice(
            severity: .information,
            description:
                "The journal \(path) ends in \(counted(length, "byte")) at offset \(offset) that "
                + "\(agreeing(length, "is", "are")) no whole record: a change that was being written and "
                + "was not acknowledged.")
    }

    static func damage(_ path: String, offset: Int, length: Int) -> Notice {
        Notice(
            severity: .warning,
            description:
                "The journal \(path) is damaged: \(counted(length, "byte")) at offset \(offset) "
                + "\(agreeing(length, "was", "were")) skipped, with at least one change. What follows "
                + "was read.")
    }

    static func logMissing(_ path: String) -> Notice {
        Notice(
            severity: .warning,
            description:
                "The write-ahead log of \(path) was missing or could not be read: changes that were "
                + "only in it are lost.")
    }

    static func logSetAside(_ path: String, as aside: String) -> Notice {
        Notice(
            severity: .warning,
            description:
                "The write-ahead log beside \(path) was not the log of this database, which had been "
                + "closed in order. It was not read and is kept as \(aside). The database is whole."
        )
    }

    static func setAside(_ path: String) -> Notice {
        Notice(
            severity: .warning,
            description: "What was there before is kept as \(path).")
    }

    static func replayed(_ count: Int) -> Notice {
        Notice(
            severity: .information,
            description: "Changes that were not in the database were taken from the journal: "
                + "\(counted(count, "acknowledged change")).")
    }

    static func tookUpLate(_ count: Int) -> Notice {
        Notice(
            severity: .warning,
            description: "Changes were found late, in a journal that an earlier process had not "
                + "found, and were made again: \(counted(count, "acknowledged change")).")
    }

    static func notAdopted(_ error: StorageError) -> Notice {
        Notice(
            severity: .warning,
            description: "Values that were stored for a machine by its name could not all be moved "
                + "to its layers. They are kept, and the next start tries again. \(error)")
    }

    static func putOff(_ error: StorageError) -> Notice {
        Notice(
            severity: .warning,
            description: "Acknowledged changes were found late, in a journal that an earlier "
                + "process had not found. They wait for a start at which the database can be written. "
                + "\(error)")
    }

    static func jumped(from earlier: Generation, to later: Generation) -> Notice {
        Notice(
            severity: .information,
            description: "No complete journal of this boot fits the database, so generations "
                + "continue from \(later) instead of \(earlier): none is given twice.")
    }

    static func journalLost(_ path: String, now: String) -> Notice {
        Notice(
            severity: .warning,
            description: "The journal in \(path) was removed while it was in use. All changes that "
                + "are not in the database yet are now in \(now).")
    }

    static func journalRefused(_ path: String, _ cause: SystemError, now: String) -> Notice {
        Notice(
            severity: .warning,
            description: "The journal in \(path) cannot be written: \(cause). All changes that are "
                + "not in the database yet are now in \(now), and later ones go there, too.")
    }

    static func movedJournal(_ path: String) -> Notice {
        Notice(
            severity: .information,
            description:
                "The database was at another place when the journal in \(path) was written. Its "
                + "changes are taken from there.")
    }

    static func storeRenewed(_ path: String) -> Notice {
        Notice(
            severity: .warning,
            description: "\(path) or a file beside it was removed or replaced while it was in use. "
                + "It was written again with the same contents. Any other file in its place is kept "
                + "beside it, under another name.")
    }

    static func storeWritable(_ path: String) -> Notice {
        Notice(
            severity: .information,
            description: "\(path) can be written now, and has all changes.")
    }

    static func storeNotFollowed(_ path: String, _ error: StorageError) -> Notice {
        Notice(
            severity: .warning,
            description: "\(path) was written again, but cannot be read yet: \(error) The old file "
                + "is read meanwhile, with all later changes.")
    }

    static func journalBesideDatabase(_ path: String, _ error: StorageError) -> Notice {
        Notice(
            severity: .warning,
            description: "\(error) The journal is kept in \(path) meanwhile.")
    }

    static func placeNotNoted(_ path: String, _ error: SystemError) -> Notice {
        Notice(
            severity: .warning,
            description: "It could not be noted that the journal is in \(path): \(error). A "
                + "process with another runtime directory would not find it.")
    }

    static func ceilingNotRaised(_ error: StorageError) -> Notice {
        Notice(
            severity: .warning,
            description: "Changes are refused until the database can be written. \(error)")
    }

    static func journalNotTidied(_ error: any Error) -> Notice {
        Notice(
            severity: .warning,
            description: "The journal could not be cleaned up: \(error). It will be tried again.")
    }

    static func noPage(_ error: SystemError) -> Notice {
        Notice(
            severity: .warning,
            description: "There is no counter page, so clients have to ask for every "
                + "value: \(error). It is tried again when a client attaches.")
    }

    static func pageNotVoided(_ directory: String, _ error: SystemError) -> Notice {
        Notice(
            severity: .warning,
            description:
                "The counter page in \(directory) can no longer be used and could not be made "
                + "invalid: \(error). Programs that have it mapped may read old values until it is "
                + "invalid. It is tried again before the next change.")
    }

    static func pageLost(now directory: String) -> Notice {
        Notice(
            severity: .warning,
            description:
                "The counter page was removed or cut while it was in use. There is a new one in "
                + "\(directory).")
    }

    static func onNetwork(_ path: String, _ fileSystem: String) -> Notice {
        Notice(
            severity: .information,
            description:
                "The database in \(path) is on a network file system (\(fileSystem)). "
                + "Its server keeps the lock that lets one machine at a time use the database, and "
                + "decides when a write survives a power cut.")
    }

    static func indexNotMade(_ error: StorageError) -> Notice {
        Notice(
            severity: .warning,
            description:
                "An index of the keys could not be made, so some reads take longer and no "
                + "backup can be verified. The next start tries again. \(error)")
    }

    static func notFoldedBack(_ error: StorageError) -> Notice {
        Notice(
            severity: .information,
            description: "The write-ahead log was not folded into the database when it was closed. "
                + "The next start does that. \(error)")
    }
}
