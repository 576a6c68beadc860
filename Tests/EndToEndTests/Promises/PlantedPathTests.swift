import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// What another program of the user puts in place of the daemon's files before it starts.
///
/// In each case the daemon serves with all settings, or ends with an error that names the path.
@Suite(.startsPrograms) struct PlantedPathTests {
    @Test(arguments: PlantedCase.all)
    func `Whatever is at a path of ours, settings survive, other files stay, and nothing hangs`(
        planted: PlantedCase
    ) throws {
        try PlantedSession(planted).run()
    }

    @Test(
        .enabled(if: PlantedThing.devicesCanBeMade, "this process may not make devices"),
        arguments: PlantedCase.all(of: .device))
    func `A device at a path of ours is not read without end`(planted: PlantedCase) throws {
        try PlantedSession(planted).run()
    }

    @Test(
        .enabled(if: PlantedSession.canLoseCapabilities, "setpriv cannot take capabilities away"),
        arguments: PlantedCase.all(of: .unreadable))
    func `A file at a path of ours that nobody may read is not destroyed`(
        planted: PlantedCase
    ) throws {
        try PlantedSession(planted).run()
    }
}

/// A thing at a path.
struct PlantedCase: CustomTestStringConvertible {
    let thing: PlantedThing
    let path: DaemonPath

    var testDescription: String { "\(thing) at \(path.rawValue)" }

    /// What needs nothing special of the system.
    static let all = PlantedThing.allCases.filter { $0 != .device && $0 != .unreadable }
        .flatMap(all)

    static func all(of thing: PlantedThing) -> [PlantedCase] {
        DaemonPath.allCases.map { PlantedCase(thing: thing, path: $0) }
    }

    /// How the daemon goes on.
    enum Outcome {
        /// It serves, with everything that was not in the files that are gone.
        case served
        /// It ends with an error, and serves when the thing is gone.
        case refused
    }

    /// What it must do.
    var expected: Outcome {
        switch (path, thing) {
        // These are the directories that were asked for.
        case (.databaseDirectory, .emptyDirectory), (.databaseDirectory, .filledDirectory):
            .served
        case (.databaseDirectory, _): .refused
        // There is no other place for the journal then.
        case (.journalBeside, .emptyDirectory), (.journalBeside, .filledDirectory): .served
        case (.journalBeside, _): .refused
        case (.database, .hardLinkOfVictim), (.database, .emptyFile), (.database, .noise),
            (.database, .endlessFile):
            .served
        case (.database, _): .refused
        // It may have settings.
        case (.lock, .unreadable), (.rollbackJournal, .unreadable), (.renewedDatabase, .unreadable),
            (.segment, .unreadable), (.nextSegment, .unreadable), (.lateSegment, .unreadable):
            .refused
        case (.log, .pipe), (.log, .socket), (.log, .device), (.log, .emptyDirectory),
            (.log, .filledDirectory), (.log, .unreadable):
            .refused
        default: .served
        }
    }
}

/// A desktop on which a thing is planted between two daemons.
struct PlantedSession: GuardedDesktop {
    private let planted: PlantedCase
    let desktop: Desktop
    private let victims: Victims
    static let app = "org.example.App"

    /// What runs a daemon that no file mode is open to.
    ///
    /// Only root has to lose something for that.
    private static let withoutCapabilities =
        ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    static let canLoseCapabilities =
        geteuid() != 0
        || ProgramResult.run(withoutCapabilities + ["true"]).status == 0

    init(_ planted: PlantedCase) throws {
        self.planted = planted
        let isLimited = planted.thing == .unreadable && geteuid() == 0
        desktop = try Desktop(
            launcher: isLimited ? Self.withoutCapabilities.joined(separator: " ") : "")
        victims = try Victims(in: desktop.directory.path)
    }

    func run() throws {
        if planted.path == .journalBeside {
            // Only without a runtime directory is there a journal.
            let runtime = try DaemonPath.runtime.path(on: desktop)
            try Data().write(to: URL(filePath: runtime))
        }
        try prepare()
        let path = try planted.path.path(on: desktop)
        let kept = desktop.directory.path + "/kept"
        let wasThere = rename(path, kept) == 0
        // A page is made only if there is none.
        if planted.path == .unfinishedPage {
            try FileManager.default.removeItem(atPath: try DaemonPath.page.path(on: desktop))
        }
        try planted.thing.plant(at: path, victims)
        let before = try victims.state()
        switch planted.expected {
        case .served: try expectService()
        case .refused:
            try expectRefusal(naming: path)
            try FileManager.default.removeItem(atPath: path)
            if wasThere { try #require(rename(kept, path) == 0) }
            try expectService(isWhole: true)
        }
        #expect(try victims.state() == before, "\(log)")
    }

    /// A daemon writes a value to disk, makes a backup, keeps another value pending, and is killed.
    private func prepare() throws {
        try write("early", 1)
        try tool("sync").requireOutput()
        try tool("backup", "now").requireOutput()
        // The backup of the day would be made in the middle of what follows.
        _ = try desktop.waitForDailyBackup()
        try write("late", 2)
        try desktop.killDaemon(SIGKILL)
    }

    /// The daemon starts, has what was there, takes changes, and the next one has them, too.
    private func expectService(isWhole: Bool = false) throws {
        let isWithoutPending = !isWhole && planted.path.hasPendingChanges
        let isWithoutAll = !isWhole && planted.path == .databaseDirectory
        if isWithoutAll {
            #expect(value(of: "early") == nil)
        } else {
            #expect(value(of: "early") == "1", "\(log)")
            if !isWithoutPending { #expect(value(of: "late") == "2", "\(log)") }
        }
        try write("later", 3)
        if [.backups, .backup, .unfinishedBackup].contains(planted.path) {
            let answer = tool("backup", "now")
            let isNamed = answer.error.contains(desktop.directory.path + "/config/defaultsd")
            #expect(answer.status == 0 || isNamed, "\(answer)")
        }
        try desktop.stopDaemon()
        #expect(value(of: "later") == "3", "\(log)")
        if !isWithoutAll { #expect(value(of: "early") == "1", "\(log)") }
        try desktop.stopDaemon()
    }

    /// The daemon ends, says which path is wrong, and leaves what is there.
    private func expectRefusal(naming path: String) throws {
        #expect(value(of: "early") == nil)
        let lines = log.split(separator: "\n").filter { $0.hasPrefix("defaultsd: error: ") }
        let isNamed = lines.last.map { $0.contains(path) || $0.contains(victims.directory) }
        #expect(isNamed == true, "\(log)")
    }
}
