internal import DefaultsModel
internal import SystemCalls

/// Something that the log should tell though no caller waits for it.
package struct Notice: Hashable, Sendable, CustomStringConvertible {
    /// How much it matters.
    package enum Severity: Hashable, Sendable {
        /// Work that takes long goes on.
        case progress
        /// Worth a line.
        case information
        /// Something was lost, or may be.
        case warning
    }

    /// How much it matters.
    package let severity: Severity
    /// The whole of it in a sentence or two.
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
            description: "The journal \(path) is damaged at its beginning, and with it any change "
                + "that stood only there. It was not read and is kept as \(setAside).")
    }

    static func rescuing(_ path: String, pages: Int) -> Notice {
        Notice(
            severity: .progress,
            description: "\(path) is damaged and is being rescued: \(pages) pages were read so far."
        )
    }

    static func replaying(_ count: Int) -> Notice {
        Notice(
            severity: .progress,
            description: "The crash journal is being read: \(count) records so far.")
    }

    static func strangeFile(_ path: String, setAside: String) -> Notice {
        Notice(
            severity: .warning,
            description: "\(path) is a link, a pipe, a directory, or a file with a second hard "
                + "link, so it was not opened. It was moved to \(setAside).")
    }

    static func unfinishedRecord(_ path: String, offset: Int, length: Int) -> Notice {
        Notice(
            severity: .information,
            description: "The journal \(path) ends in \(length) bytes at offset \(offset) that are "
                + "no whole record: a change that was being written and was not acknowledged.")
    }

    static func damage(_ path: String, offset: Int, length: Int) -> Notice {
        Notice(
            severity: .warning,
            description: "The journal \(path) is damaged: \(length) bytes at offset \(offset) were "
                + "passed over, and with them one change or more. What follows was read.")
    }

    static func logMissing(_ path: String) -> Notice {
        Notice(
            severity: .warning,
            description:
                "The write-ahead log of \(path) was missing or could not be read: what was only in "
                + "it, if anything was, is lost.")
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
            description: "\(count) acknowledged changes that were not in the database were taken "
                + "from the journal.")
    }

    static func tookUpLate(_ count: Int) -> Notice {
        Notice(
            severity: .warning,
            description: "\(count) acknowledged changes came to light in a journal that a process "
                + "before had not found. They were made anew.")
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
            description: "Acknowledged changes came to light in a journal that a process before "
                + "had not found. They wait for a start at which the database can be written. "
                + "\(error)")
    }

    static func jumped(from earlier: Generation, to later: Generation) -> Notice {
        Notice(
            severity: .information,
            description: "There is no whole journal of this boot that fits the database, so "
                + "generations go on from \(later) instead of \(earlier): none is given twice.")
    }

    static func journalLost(_ path: String, now: String) -> Notice {
        Notice(
            severity: .warning,
            description: "The journal in \(path) is gone while it was in use. All that is not in "
                + "the database yet stands in \(now) now.")
    }

    static func storeRenewed(_ path: String) -> Notice {
        Notice(
            severity: .warning,
            description: "\(path) or a file beside it was removed or replaced while it was in use. "
                + "It was made anew with all that it had held. Any other file that stood in its "
                + "place is kept beside it, under another name.")
    }

    static func storeNotFollowed(_ path: String, _ error: StorageError) -> Notice {
        Notice(
            severity: .warning,
            description: "\(path) was made anew, and cannot be read yet: \(error) The one before "
                + "is read meanwhile, with all changes since.")
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
            description: "The journal could not be tidied up, which will be tried again: \(error).")
    }

    static func noPage(_ error: SystemError) -> Notice {
        Notice(
            severity: .warning,
            description: "There is no page of counters, so that clients have to ask for every "
                + "value: \(error). It is tried again when a client attaches.")
    }

    static func pageNotVoided(_ directory: String, _ error: SystemError) -> Notice {
        Notice(
            severity: .warning,
            description:
                "The page of counters in \(directory) cannot be gone on with and could not be "
                + "made invalid: \(error). Programs which have it mapped may read old values until "
                + "it is. It is tried again before the next change.")
    }

    static func pageLost(now directory: String) -> Notice {
        Notice(
            severity: .warning,
            description:
                "The page of counters is gone or was cut while it was in use. There is a new "
                + "one in \(directory).")
    }

    static func onNetwork(_ path: String, _ fileSystem: String) -> Notice {
        Notice(
            severity: .information,
            description:
                "The database in \(path) is on a network file system (\(fileSystem)). "
                + "Its server has to keep the lock by which one machine at a time has the database, "
                + "and decides when a write outlives a power cut.")
    }

    static func indexNotMade(_ error: StorageError) -> Notice {
        Notice(
            severity: .warning,
            description:
                "An index of the keys could not be made, so that some reads take longer, and "
                + "no backup can be verified; the next start tries again. \(error)")
    }

    static func notFoldedBack(_ error: StorageError) -> Notice {
        Notice(
            severity: .information,
            description: "The database was closed with its write-ahead log unfolded, which the "
                + "next start makes good. \(error)")
    }
}
