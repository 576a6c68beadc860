import Foundation
import TestSupport
import Testing

/// A path below its directories that the daemon uses.
///
/// `PathTableTests` fails if the daemon uses one that is not here.
enum DaemonPath: String, CaseIterable, CustomTestStringConvertible {
    case databaseDirectory = "config/defaultsd"
    case lock = "config/defaultsd/lock"
    case place = "config/defaultsd/journal-place"
    case reserve = "config/defaultsd/reserve"
    case database = "config/defaultsd/defaults.db"
    case log = "config/defaultsd/defaults.db-wal"
    case rollbackJournal = "config/defaultsd/defaults.db-journal"
    case unfinishedDatabase = "config/defaultsd/defaults.db.unfinished"
    case renewedDatabase = "config/defaultsd/defaults.db.renewed"
    case history = "config/defaultsd/history.db"
    case historyLog = "config/defaultsd/history.db-wal"
    case historyRollbackJournal = "config/defaultsd/history.db-journal"
    case backups = "config/defaultsd/backups"
    case backup = "config/defaultsd/backups/BACKUP.db"
    case unfinishedBackup = "config/defaultsd/backups/backup.unfinished"
    case journalBeside = "config/defaultsd/journal"
    case runtime = "runtime/defaultsd"
    case socket = "runtime/defaultsd/direct"
    case journals = "runtime/defaultsd/HASH"
    case journalLock = "runtime/defaultsd/HASH/lock"
    case segment = "runtime/defaultsd/HASH/LAST.journal"
    case nextSegment = "runtime/defaultsd/HASH/NEXT.journal"
    case unfinishedSegment = "runtime/defaultsd/HASH/NEXT.journal.unfinished"
    case lateSegment = "runtime/defaultsd/HASH/LAST.journal.1.late"
    case page = "runtime/defaultsd/HASH/counters"
    case unfinishedPage = "runtime/defaultsd/HASH/counters.unfinished"

    var testDescription: String { rawValue }

    /// Whether it is a directory with files of the daemon.
    var isDirectory: Bool {
        [.databaseDirectory, .backups, .journalBeside, .runtime, .journals].contains(self)
    }

    /// Whether all that the journal alone has goes with it.
    var hasPendingChanges: Bool {
        [.runtime, .journals, .segment, .journalBeside].contains(self)
    }
}

extension DaemonPath {
    /// Where it is on a desktop whose daemon has run and been killed.
    func path(on desktop: Desktop) throws -> String {
        var path = desktop.directory.path + "/" + rawValue
        if path.contains("HASH") {
            path = path.replacing("HASH", with: try desktop.journalsName())
        }
        if path.contains("LAST") || path.contains("NEXT") {
            let last = try desktop.lastSegment()
            path = path.replacing("LAST", with: Self.name(last))
                .replacing("NEXT", with: Self.name(last + 1))
        }
        if path.contains("BACKUP") {
            guard let backup = try desktop.backupNames().last else { throw NeverCame() }
            path = path.replacing("BACKUP", with: backup)
        }
        return path
    }

    private static func name(_ sequence: UInt64) -> String {
        let digits = String(sequence, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// What matches its path, and those of the files that SQLite has beside it, or that were set
    /// aside.
    var pattern: String {
        let name =
            rawValue.replacing(".", with: "\\.")
            .replacing("HASH", with: "[0-9a-f]{16}").replacing("LAST", with: "[0-9a-f]{16}")
            .replacing("NEXT", with: "[0-9a-f]{16}").replacing("BACKUP", with: "[0-9A-Za-z.-]+")
        switch self {
        case .history: return "\(name)(\\.aside|\\.[0-9]+\\.aside)?"
        case .historyLog:
            return "\(name)(\\.[0-9]+\\.aside)?|config/defaultsd/history\\.db\\.aside-wal"
        case .lateSegment: return name.replacing("1", with: "[0-9]+")
        case .journalBeside: return "\(name)(/.*)?"
        case .database: return "\(name)(\\.(aside|replaced)-[0-9T.Z:-]+(-wal|-journal)?)?"
        case .unfinishedDatabase, .backup, .unfinishedBackup: return "\(name)(-journal|-wal)?"
        default: return isDirectory ? name : "\(name)(\\.[0-9]+\\.aside)?"
        }
    }
}

extension Desktop {
    /// The name of the directory that has the journal of the desktop's database.
    func journalsName() throws -> String {
        let names = try FileManager.default.contentsOfDirectory(
            atPath: directory.path + "/runtime/defaultsd")
        guard let name = names.first(where: { $0.count == 16 }) else { throw NeverCame() }
        return name
    }

    /// The number of the last segment of the journal.
    fileprivate func lastSegment() throws -> UInt64 {
        let path = directory.path + "/runtime/defaultsd/" + (try journalsName())
        let numbers = try FileManager.default.contentsOfDirectory(atPath: path)
            .filter { $0.hasSuffix(".journal") }.compactMap { UInt64($0.prefix(16), radix: 16) }
        guard let last = numbers.max() else { throw NeverCame() }
        return last
    }
}
