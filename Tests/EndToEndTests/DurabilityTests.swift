import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// Acknowledged changes survive: after SIGKILL, after SIGTERM, and on disk after their time.
@Suite(.startsPrograms, .serialized) struct DurabilityTests {
    @Test func `After SIGKILL the next call starts a daemon that has everything`() throws {
        let desktop = try Desktop()
        for number in 1...20 {
            let answer = desktop.call("SetValue", "org.example.App", "Key\(number)", "<\(number)>")
            #expect(answer.status == 0)
        }
        desktop.call("Remove", "org.example.App", "Key20")
        let killed = try desktop.killDaemon(SIGKILL)
        for number in 1...19 {
            #expect(
                desktop.call("GetValue", "org.example.App", "Key\(number)").output
                    == "(<int64 \(number)>, uint64 \(number + 1))\n")
        }
        #expect(
            desktop.call("GetValue", "org.example.App", "Key20").errorName
                == BadInputTests.own("NotFound"))
        #expect(try desktop.daemonPID() != killed)
        #expect(
            desktop.call("SetValue", "org.example.App", "Key", "<1>").output == "(uint64 23,)\n")
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `SIGTERM and SIGINT flush and end with 0; the next start needs no journal`(
        signal: Int32
    ) throws {
        let desktop = try Desktop()
        let daemon = try desktop.startDaemon()
        desktop.call("SetValue", "org.example.App", "Key", "<'kept'>")
        daemon.send(signal)
        try daemon.requireSuccess()
        try FileManager.default.removeItem(atPath: desktop.directory.path + "/runtime/defaultsd")
        #expect(
            desktop.call("GetValue", "org.example.App", "Key").output == "(<'kept'>, uint64 2)\n")
    }

    @Test func `When the bus goes away the daemon flushes and ends with 0`() throws {
        let desktop = try Desktop()
        let daemon = try desktop.startDaemon()
        desktop.call("SetValue", "org.example.App", "Key", "<'kept'>")
        desktop.bus.stop()
        try daemon.requireSuccess()
        let rows = try desktop.python(
            """
            import sqlite3, sys
            print(sqlite3.connect(sys.argv[1]).execute(
                "select count(*) from entries where archive is not null").fetchone()[0])
            """, desktop.databasePath
        ).requireOutput()
        #expect(rows == "1\n")
    }

    @Test func `A second daemon on the database is refused with the host and pid of the first`()
        throws
    {
        let desktop = try Desktop()
        let first = try desktop.daemonPID()
        let second = desktop.run(Desktop.programs + "/defaultsd")
        #expect(second.status == 69)
        #expect(second.error.contains("\(first)"))
        #expect(second.error.contains(ProcessInfo.processInfo.hostName))
        #expect(try desktop.daemonPID() == first)
    }

    @Test func `If there is no runtime directory, the journal is beside the database`() throws {
        let desktop = try Desktop()
        try FileManager.default.removeItem(atPath: desktop.directory.path + "/runtime")
        _ = try desktop.directory.write("", to: "runtime")
        try expectJournalBesideDatabase(of: desktop)
    }

    @Test(.enabled(if: geteuid() == 0, "mounting a file system takes root"))
    func `If the runtime directory is full, the journal is beside the database`() throws {
        let desktop = try Desktop()
        let path = desktop.directory.path + "/runtime"
        let mounted = desktop.run("mount", "-t", "tmpfs", "-o", "size=16k,mode=700", "x", path)
        try #require(mounted.status == 0)
        defer { desktop.run("umount", "--lazy", path) }
        desktop.run("sh", "-c", "cat /dev/zero > '\(path)/filler' 2>/dev/null")
        try expectJournalBesideDatabase(of: desktop)
    }

    private func expectJournalBesideDatabase(of desktop: Desktop) throws {
        #expect(
            desktop.call("SetValue", "org.example.App", "Key", "<1>").output == "(uint64 2,)\n")
        _ = try desktop.killDaemon(SIGKILL)
        #expect(
            desktop.call("GetValue", "org.example.App", "Key").output == "(<int64 1>, uint64 2)\n")
        let log = try String(contentsOfFile: desktop.directory.path + "/log", encoding: .utf8)
        #expect(log.contains("/config/defaultsd/journal meanwhile"))
    }

    @Test func `Only the user can access the files, whatever the umask`() throws {
        let desktop = try Desktop()
        desktop.call("SetValue", "org.example.App", "Key", "<1>")
        let files = try desktop.run(
            "find", desktop.directory.path + "/config",
            desktop.directory.path + "/runtime/defaultsd",
            "-mindepth", "1", "-printf", "%y %m\\n"
        ).requireOutput()
        #expect(Set(files.split(separator: "\n")) == ["d 700", "f 600", "s 600"])
    }

    @Test func `No log line and no error message contains a value`() throws {
        let desktop = try Desktop(daemonOptions: "--verbose")
        let secret = "correct-horse-battery-staple"
        desktop.call("SetValue", "org.example.App", "Key", "<'\(secret)'>")
        desktop.call("Synchronize")
        let refused = desktop.call(
            "SetValue", "org.example.App", "Key", "<{'$class': <'A'>, '$\(secret)': <1>}>")
        #expect(refused.errorName == "org.freedesktop.DBus.Error.InvalidArgs")
        #expect(!refused.error.contains(secret))
        _ = try desktop.killDaemon(SIGKILL)
        desktop.call("ListDomains")
        let log = try String(contentsOfFile: desktop.directory.path + "/log", encoding: .utf8)
        #expect(log.contains("wrote 1 row in"))
        #expect(!log.contains(secret))
        for line in log.split(separator: "\n") {
            #expect(line.wholeMatch(of: /defaultsd: .+/) != nil, "\(line)")
        }
    }
}
