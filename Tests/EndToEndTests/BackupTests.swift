import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// Backups of the shipped daemon, as somebody at a shell and other programs see them.
@Suite(.startsPrograms, .serialized) struct BackupTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    @Test func `The first flush is followed by a daily backup, later ones of the day are not`()
        throws
    {
        desktop.tool("write", "org.example.App", "Key", "-int", "1")
        #expect(desktop.tool("sync").status == 0)
        let name = try desktop.waitForDailyBackup()
        #expect(name.hasSuffix("Z-2-daily"))
        #expect(try desktop.query("PRAGMA integrity_check", ofBackup: name) == "[('ok',)]")
        #expect(
            try desktop.query("SELECT key, generation FROM entries", ofBackup: name)
                == "[('Key', 2)]")
        for number in 2...4 {
            desktop.tool("write", "org.example.App", "Key", "-int", "\(number)")
            #expect(desktop.tool("sync").status == 0)
        }
        #expect(try desktop.backupNames() == [name])
    }

    @Test
    func `A backup that is a day old or from tomorrow is followed by another; seven are kept`()
        throws
    {
        desktop.tool("write", "org.example.App", "Key", "-int", "0")
        desktop.tool("sync")
        let first = try desktop.waitForDailyBackup()
        try desktop.stopDaemon()
        // As if it had been made at other times; they say so by their names alone.
        let source = "\(desktop.backupsPath)/\(first).db"
        for day in 1...8 {
            try FileManager.default.copyItem(
                atPath: source, toPath: "\(desktop.backupsPath)/2024-01-0\(day)T120000Z-1-daily.db")
        }
        try FileManager.default.moveItem(
            atPath: source, toPath: "\(desktop.backupsPath)/2999-01-01T000000Z-2-daily.db")
        desktop.tool("write", "org.example.App", "Key", "-int", "1")
        desktop.tool("sync")
        try wait { try desktop.backupNames("daily").contains { $0.hasSuffix("-3-daily") } }
        // The reply comes after the work that was requested before.
        let manual = try desktop.tool("backup", "now").requireOutput()
        let names = try desktop.backupNames("daily")
        #expect(names.count == 7)
        #expect(names.contains("2999-01-01T000000Z-2-daily"))
        #expect(!names.contains("2024-01-03T120000Z-1-daily"))
        #expect(names.contains("2024-01-04T120000Z-1-daily"))
        #expect(try desktop.backupNames("manual").map { $0 + "\n" } == [manual])
    }

    @Test func `A backup that is given up because the store was removed is made again`() throws {
        let output = try desktop.python(
            """
            import os
            \(Desktop.pythonEverything)
            value = GLib.Variant("s", "x" * 4000000)
            for number in range(10):
                service.SetValue("(ssv)", "org.example.App", f"key{number}", value)
                service.Synchronize()
            # Behind the daily one.
            maintenance.BackUp()
            before = set(os.listdir(sys.argv[2]))
            answers = []
            maintenance.BackUp(result_handler=lambda _, answer, __: answers.append(answer))
            while not set(os.listdir(sys.argv[2])) - before: GLib.MainContext.default().iteration(False)
            os.remove(sys.argv[1])
            service.SetValue("(ssv)", "org.example.App", "key", GLib.Variant("b", True))
            service.Synchronize()
            while not answers: GLib.MainContext.default().iteration(True)
            backup = sqlite3.connect(f"{sys.argv[2]}/{answers[0]}.db")
            print(backup.execute("SELECT count(*) FROM entries").fetchone()[0])
            """, desktop.databasePath, desktop.backupsPath
        ).requireOutput()
        #expect(["10\n", "11\n"].contains(output))
    }

    @Test(.enabled(if: Desktop.sandboxIsAvailable, "bwrap cannot make a sandbox here"))
    func `A caller in a sandbox cannot use backups`() throws {
        for (method, arguments) in [("ListBackups", []), ("BackUp", []), ("RestoreBackup", ["x"])] {
            let method = "org.defaultsd.Maintenance1.\(method)"
            let denied =
                arguments.isEmpty
                ? try desktop.callFromSandbox(method)
                : try desktop.callFromSandbox(method, arguments[0])
            #expect(denied.errorName == "org.freedesktop.DBus.Error.AccessDenied")
        }
    }

    @Test func `A backup that was interrupted by SIGKILL does not count, and the next one is made`()
        throws
    {
        for method in ["rename", "fdatasync,fsync", "pwrite64"] {
            desktop.call("SetValue", "org.example.App", "Key", "<'\(method)'>")
            desktop.call("Synchronize")
            _ = try? desktop.waitForDailyBackup()
            let before = try desktop.backupNames()
            let daemon = try desktop.daemonPID()
            // The call of the backup at which it dies, of those with a path or descriptor of its.
            let killer = try desktop.start(
                "strace", "-f", "-qq", "-y", "-P", desktop.backupsPath, "-P",
                "\(desktop.backupsPath)/backup.unfinished", "-e",
                "inject=\(method):signal=KILL:when=1", "-e", "trace=\(method)", "-p", "\(daemon)")
            try wait { try isTraced(daemon) }
            desktop.call("SetValue", "org.example.App", "Other", "<'\(method)'>")
            #expect(desktop.gdbus("org.defaultsd.Maintenance1.BackUp").status != 0)
            killer.waitUntilExit()
            #expect(try desktop.backupNames() == before)
            #expect(
                desktop.call("GetValue", "org.example.App", "Other").output
                    .hasPrefix("(<'\(method)'>, "))
            let name = try desktop.tool("backup", "now").requireOutput()
                .trimmingCharacters(in: .newlines)
            #expect(try desktop.query("PRAGMA integrity_check", ofBackup: name) == "[('ok',)]")
            let files = try FileManager.default.contentsOfDirectory(atPath: desktop.backupsPath)
            #expect(files.allSatisfy { $0.hasSuffix(".db") })
        }
    }

    @Test func `SIGTERM during a backup cancels it, and the daemon ends in order`() throws {
        let daemon = try desktop.startDaemon()
        _ = try desktop.python(
            """
            \(Desktop.pythonEverything)
            for i in range(64):
                service.SetValue("(ssv)", "org.example.Large", f"key{i}",
                                 GLib.Variant("s", "x" * 1_000_000))
            service.Synchronize()
            """
        ).requireOutput()
        _ = try desktop.waitForDailyBackup()
        desktop.call("SetValue", "org.example.App", "Key", "<1>")
        let caller = try desktop.start(
            "gdbus", "call", "--session", "--dest", "org.defaultsd.Defaults1", "--object-path",
            "/org/defaultsd/Defaults1", "--method", "org.defaultsd.Maintenance1.BackUp")
        let unfinished = desktop.backupsPath + "/backup.unfinished"
        try wait { FileManager.default.fileExists(atPath: unfinished) }
        daemon.send(SIGTERM)
        try daemon.requireSuccess()
        #expect(caller.waitUntilExit() != 0)
        let files = try FileManager.default.contentsOfDirectory(atPath: desktop.backupsPath)
        #expect(files.count == 1 && files[0].hasSuffix("-daily.db"))
        #expect(desktop.call("GetValue", "org.example.App", "Key").output.hasPrefix("(<int64 1>, "))
    }

    @Test(.enabled(if: geteuid() == 0, "mounting a file system takes root"))
    func `A backup that would fill the disk is not made, with one notice, and changes go on`()
        throws
    {
        let disk = desktop.directory.path + "/config"
        let mounted = desktop.run("mount", "-t", "tmpfs", "-o", "size=16m,mode=700", "tmpfs", disk)
        try #require(mounted.status == 0)
        defer {
            desktop.bus.stop()
            desktop.run("umount", "--lazy", disk)
        }
        for number in 1...4 {
            desktop.call("SetValue", "org.example.App", "Key", "<\(number)>")
            #expect(desktop.call("Synchronize").status == 0)
        }
        let refused = desktop.tool("backup", "now")
        #expect(refused.status == 1)
        #expect(refused.error.contains("Make space on the disk."))
        #expect(try FileManager.default.contentsOfDirectory(atPath: desktop.backupsPath) == [])
        let log = try String(contentsOfFile: desktop.directory.path + "/log", encoding: .utf8)
        #expect(log.split(separator: "\n").filter { $0.contains("No backup") }.count == 1, "\(log)")
    }

    @Test func `A damaged value is reported, prevents a backup, and comes from an existing one`()
        throws
    {
        for key in ["Bad", "Good"] {
            desktop.call("SetValue", "org.example.App", key, "<'in the backup'>")
        }
        let good = try desktop.tool("backup", "now").requireOutput()
            .trimmingCharacters(in: .newlines)
        try desktop.damageFile(
            by: """
                import sqlite3, sys
                store = sqlite3.connect(sys.argv[1])
                store.execute("UPDATE entries SET archive = x'ff' WHERE key = 'Bad'")
                store.commit()
                """)
        desktop.call("SetValue", "org.example.App", "Good", "<'of now'>")
        let refused = desktop.tool("backup", "now")
        #expect(refused.status == 1)
        #expect(refused.error.contains("1 stored values are damaged: 'Bad' in org.example.App."))
        #expect(!refused.error.contains("in the backup"))
        #expect(try desktop.backupNames("manual") == [good])
        // Then the store is rebuilt, and backups are made again.
        try wait { desktop.tool("backup", "now").status == 0 }
        #expect(desktop.tool("read", "org.example.App", "Bad").output == "in the backup\n")
        #expect(desktop.tool("read", "org.example.App", "Good").output == "of now\n")
    }

    private func isTraced(_ process: pid_t) throws -> Bool {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        return !status.contains("TracerPid:\t0")
    }
}
