import Foundation
import Glibc
import TestSupport
import Testing

/// What a hostile program does to the files of a daemon that runs.
enum FileSwap: String, CaseIterable, CustomTestStringConvertible {
    case databaseRemoved, databaseByNoise, databaseByBackup, databaseByLink, databaseByPipe
    case databaseByDirectory, databaseEmptied, databaseHalved, databaseStretched
    case logRemoved, logByNoise, logByLink, logByPipe, logEmptied, logStretched
    case lockRemoved, lockByPipe, lockByLink
    case placeByPipe, placeByLink, reserveByLink, unfinishedByPipe, renewedByNoise
    case directoryRenamed, directoryRemoved, backupsRemoved, backupsByLink
    case journalsRemoved, journalsRenamed, journalsByLink, journalsByFile
    case segmentRemoved, segmentByNoise, segmentByPipe, segmentByLink, segmentEmptied
    case segmentStretched
    case nextSegmentByPipe, nextSegmentByLink, unfinishedSegmentByLink
    case pageRemoved, pageByNoise, pageByPipe, pageByLink, pageByDirectory, pageEmptied
    case socketRemoved, socketByFile, socketByListener
    case runtimeRemoved, runtimeRenamed, runtimeByFile

    var testDescription: String { rawValue }

    /// Whether the changes that wait for the disk are only safe when they have reached it: what has
    /// them is gone, or was changed in place.
    var needsDisk: Bool {
        path.rawValue.hasPrefix("config/") || [.segmentEmptied].contains(self)
    }

    /// Whether a program that has the page mapped dies at its next read, as guarantees.md says.
    var endsReaders: Bool { self == .pageEmptied }

    /// The path that it changes.
    var path: DaemonPath {
        switch self {
        case .databaseRemoved, .databaseByNoise, .databaseByBackup, .databaseByLink,
            .databaseByPipe, .databaseByDirectory, .databaseEmptied, .databaseHalved,
            .databaseStretched:
            .database
        case .logRemoved, .logByNoise, .logByLink, .logByPipe, .logEmptied, .logStretched: .log
        case .lockRemoved, .lockByPipe, .lockByLink: .lock
        case .placeByPipe, .placeByLink: .place
        case .reserveByLink: .reserve
        case .unfinishedByPipe: .unfinishedDatabase
        case .renewedByNoise: .renewedDatabase
        case .directoryRenamed, .directoryRemoved: .databaseDirectory
        case .backupsRemoved, .backupsByLink: .backups
        case .journalsRemoved, .journalsRenamed, .journalsByLink, .journalsByFile: .journals
        case .segmentRemoved, .segmentByNoise, .segmentByPipe, .segmentByLink, .segmentEmptied,
            .segmentStretched:
            .segment
        case .nextSegmentByPipe, .nextSegmentByLink: .nextSegment
        case .unfinishedSegmentByLink: .unfinishedSegment
        case .pageRemoved, .pageByNoise, .pageByPipe, .pageByLink, .pageByDirectory, .pageEmptied:
            .page
        case .socketRemoved, .socketByFile, .socketByListener: .socket
        case .runtimeRemoved, .runtimeRenamed, .runtimeByFile: .runtime
        }
    }

    /// Does it.
    ///
    /// - Returns: What goes on as long as it is referred to.
    func make(on desktop: Desktop, _ victims: Victims) throws -> ChildProcess? {
        let path = try path.path(on: desktop)
        let kept = desktop.directory.path + "/kept"
        switch self {
        case .databaseEmptied, .logEmptied, .segmentEmptied, .pageEmptied:
            try #require(truncate(path, 0) == 0)
        case .databaseStretched, .logStretched, .segmentStretched:
            try #require(truncate(path, 1 << 40) == 0)
        case .databaseHalved: try #require(truncate(path, 8192) == 0)
        case .databaseByBackup:
            try #require(rename(path, kept) == 0)
            let backup = try DaemonPath.backup.path(on: desktop)
            try FileManager.default.copyItem(atPath: backup, toPath: path)
        case .directoryRemoved, .backupsRemoved, .journalsRemoved, .runtimeRemoved:
            try FileManager.default.removeItem(atPath: path)
        default:
            if FileManager.default.fileExists(atPath: path) {
                try #require(rename(path, kept) == 0)
            }
            if self == .socketByListener { return try Self.listen(at: path, on: desktop) }
            try thing?.plant(at: path, victims)
        }
        return nil
    }

    /// What comes in place of the file.
    private var thing: PlantedThing? {
        switch self {
        case .databaseByNoise, .logByNoise, .segmentByNoise, .pageByNoise, .renewedByNoise: .noise
        case .databaseByPipe, .logByPipe, .lockByPipe, .placeByPipe, .unfinishedByPipe,
            .segmentByPipe, .nextSegmentByPipe, .pageByPipe:
            .pipe
        case .databaseByLink: .linkToVictim
        case .logByLink, .lockByLink, .placeByLink, .reserveByLink, .segmentByLink,
            .nextSegmentByLink, .unfinishedSegmentByLink, .pageByLink:
            .hardLinkOfVictim
        case .backupsByLink, .journalsByLink: .linkToFolder
        case .databaseByDirectory, .pageByDirectory: .filledDirectory
        case .journalsByFile, .socketByFile, .runtimeByFile: .noise
        default: nil
        }
    }

    /// A program that listens at the socket's path, and never answers.
    private static func listen(at path: String, on desktop: Desktop) throws -> ChildProcess {
        let listener = try desktop.start(
            "/usr/bin/python3", "-c",
            """
            import signal, socket, sys
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(sys.argv[1])
            listener.listen(100)
            print("listening", flush=True)
            signal.pause()
            """, path)
        try #require(listener.lines?.next() == "listening")
        return listener
    }
}
