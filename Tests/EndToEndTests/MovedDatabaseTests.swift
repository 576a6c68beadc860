import Foundation
import TestSupport
import TestTiers
import Testing

/// A database that is moved under the daemon, which is confined to its directories; and the home of
/// another user.
@Suite(.startsPrograms) struct MovedDatabaseTests {
    private let desktop: Desktop
    private let files = FileManager.default
    private var config: String { desktop.directory.path + "/config/defaultsd" }
    private var cloud: String { desktop.directory.path + "/cloud" }

    init() throws {
        desktop = try Desktop()
        try files.createDirectory(atPath: cloud, withIntermediateDirectories: false)
    }

    private func write(_ key: String) -> ProgramResult {
        desktop.tool("write", "org.example.App", key, "-int", "1")
    }

    private func keys() -> String { desktop.tool("keys", "org.example.App").output }

    private func copyAndLink() throws {
        // After it the daemon makes no more files, so that the directory can be removed.
        _ = try desktop.waitForDailyBackup()
        _ = try desktop.run("cp", "-a", config, "\(cloud)/defaultsd").requireOutput()
        try files.removeItem(atPath: config)
        try files.createSymbolicLink(
            atPath: config, withDestinationPath: "\(cloud)/defaultsd")
    }

    private func moveFile() throws {
        try files.moveItem(atPath: "\(config)/defaults.db", toPath: "\(cloud)/defaults.db")
        try files.createSymbolicLink(
            atPath: "\(config)/defaults.db", withDestinationPath: "\(cloud)/defaults.db")
    }

    @Test(arguments: [true, false], [SIGTERM, SIGKILL])
    func `What is written after a copy and a link, as of mackup, is there after a start`(
        isDirectory: Bool, signal: Int32
    ) throws {
        #expect(write("early").status == 0)
        #expect(desktop.tool("sync").status == 0)
        try isDirectory ? copyAndLink() : moveFile()
        #expect(write("late").status == 0)
        #expect(desktop.tool("sync").status == 0)
        #expect(try desktop.property("StorageError") == "<''>")
        #expect(write("pending").status == 0)
        try desktop.killDaemon(signal)
        #expect(keys() == "early\nlate\npending\n")
        // It is where the link leads.
        let file = isDirectory ? "\(cloud)/defaultsd/defaults.db" : "\(cloud)/defaults.db"
        #expect(files.fileExists(atPath: file))
        #expect(!desktop.tool("doctor").output.contains("damage"))
        #expect(try !desktop.log().contains("damage"))
    }

    @Test func `Where the path cannot be followed, write and status say so, and nothing is lost`()
        throws
    {
        #expect(write("early").status == 0)
        #expect(desktop.tool("sync").status == 0)
        // After it the daemon makes no more files, so that the directory can be removed.
        _ = try desktop.waitForDailyBackup()
        _ = try desktop.run("cp", "-a", config, "\(cloud)/defaultsd").requireOutput()
        try files.removeItem(atPath: config)
        try Data().write(to: URL(filePath: config))
        let written = write("late")
        #expect(written.status == 0)
        #expect(written.error.contains("is not on disk yet"), "\(written.error)")
        #expect(written.error.contains(config), "\(written.error)")
        #expect(desktop.tool("sync").status != 0)
        #expect(desktop.tool("status").output.contains("was removed or replaced"))
        try desktop.killDaemon(SIGTERM)
        try files.removeItem(atPath: config)
        try files.createSymbolicLink(
            atPath: config, withDestinationPath: "\(cloud)/defaultsd")
        #expect(keys() == "early\nlate\n")
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root may give files to others"),
        arguments: ["write", "adopt", "daemon"])
    func `With the home and the runtime directory of another user nothing is made there`(
        program: String
    ) throws {
        let home = desktop.directory.path + "/home"
        let runtime = desktop.directory.path + "/their-runtime"
        for directory in [home, runtime] {
            try files.createDirectory(atPath: directory, withIntermediateDirectories: false)
            try #require(chown(directory, 65534, 65534) == 0)
        }
        var environment = desktop.environmentWithoutBus
        environment["HOME"] = home
        environment["XDG_CONFIG_HOME"] = nil
        environment["XDG_RUNTIME_DIR"] = runtime
        let command =
            switch program {
            case "write": ["/defaultsctl", "write", "org.example.App", "Key", "-int", "1"]
            case "adopt": ["/defaultsctl", "adopt", "xfconf"]
            default: ["/defaultsd"]
            }
        if program == "daemon" {
            environment["DBUS_SESSION_BUS_ADDRESS"] = desktop.bus.address
        }
        let result = desktop.run(
            [Desktop.programs + command[0]] + command.dropFirst(), environment: environment)
        #expect(result.status != 0)
        #expect(result.error.contains("HOME is \(home)"), "\(result.error)")
        #expect(result.error.contains("65534"), "\(result.error)")
        for directory in [home, runtime] {
            #expect(try files.contentsOfDirectory(atPath: directory).isEmpty)
        }
        let doctor = desktop.run(
            [Desktop.programs + "/defaultsctl", "doctor"], environment: environment)
        #expect(doctor.output.contains("HOME is \(home)"), "\(doctor.output)")
    }
}

extension Desktop {
    /// What the daemon has logged.
    fileprivate func log() throws -> String {
        try String(contentsOfFile: directory.path + "/log", encoding: .utf8)
    }
}
