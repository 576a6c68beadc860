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

    @Test func `Programs get backups in JSON, and an empty name is invalid`() throws {
        func members(_ words: String...) throws -> [String: Any] {
            let output = try desktop.tool(["backup"] + words).requireOutput()
            let object = try JSONSerialization.jsonObject(with: Data(output.utf8))
            return try #require(object as? [String: Any])
        }
        desktop.tool("write", "org.example.App", "Key", "-int", "1")
        let made = try members("now", "--json")
        let name = try #require(made["name"] as? String)
        #expect(try desktop.backupNames("manual") == [name] && made.count == 1)
        desktop.tool("write", "org.example.App", "Key", "-int", "2")
        let refused = desktop.tool("backup", "restore", "")
        #expect(
            refused.status == 1 && desktop.tool("read", "org.example.App", "Key").output == "2\n")
        let restored = try members("restore", "--json", name)
        #expect(restored["name"] as? String == name)
        #expect(restored["set"] as? Int == 1 && restored["removed"] as? Int == 0)
        #expect(restored["damaged"] as? Int == 0)
        let undo = try #require(restored["undo"] as? String)
        _ = try members("restore", undo, "--json")
        #expect(desktop.tool("read", "org.example.App", "Key").output == "2\n")
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

    @Test func `backup now has everything that was acknowledged before it`() throws {
        for number in 1...20 {
            desktop.call("SetValue", "org.example.App", "Key\(number)", "<\(number)>")
        }
        desktop.call("SetValue", "org.example.App@host", "Here", "<1>")
        let name = try desktop.tool("backup", "now").requireOutput()
            .trimmingCharacters(in: .newlines)
        #expect(name.hasSuffix("-22-manual"))
        #expect(
            try desktop.query("SELECT count(*) FROM entries", ofBackup: name) == "[(21,)]")
        #expect(try desktop.query("SELECT generation FROM state", ofBackup: name) == "[(22,)]")
        #expect(try desktop.query("PRAGMA integrity_check", ofBackup: name) == "[('ok',)]")
        let files = try desktop.run(
            "find", desktop.backupsPath, "-printf", "%y %m\\n"
        ).requireOutput()
        #expect(Set(files.split(separator: "\n")) == ["d 700", "f 600"])
    }

    @Test func `list, status and the statistics show the backups, the newest first`() throws {
        #expect(desktop.tool("backup", "list").output == "")
        #expect(try desktop.tool("status").requireOutput().contains(/backups +none\n/))
        for number in 1...2 {
            desktop.tool("write", "org.example.App", "Key", "-int", "\(number)")
            desktop.tool("backup", "now")
        }
        let lines = try desktop.tool("backup", "list").requireOutput().split(separator: "\n")
        #expect(lines.count == 2)
        #expect(
            lines[0].contains(
                /^[-\dT]+Z-3-manual  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  3  \d+  manual$/))
        let generations = lines.map { $0.split(separator: "  ")[2] }
        #expect(generations == ["3", "2"])
        #expect(
            try desktop.tool("status").requireOutput()
                .contains(/backups +2, the newest of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n/))
        let facts = try desktop.gdbus("org.defaultsd.Maintenance1.GetStatistics").requireOutput()
        #expect(facts.contains("'Backups': <uint32 2>"))
        #expect(facts.contains(/'NewestBackup': <uint64 \d{10,}>/))
    }

    @Test(arguments: [
        ["restore", "latest"], ["restore", "2024"], ["restore", ""], ["restore", "..defaults"],
    ])
    func `A missing backup is refused with one sentence`(arguments: [String]) {
        let answer = desktop.tool(["backup"] + arguments)
        #expect(answer.status == 1)
        #expect(answer.error.hasPrefix("defaultsctl: There is no backup "))
        #expect(answer.error.split(separator: "\n").count == 1)
        let refused = desktop.gdbus("org.defaultsd.Maintenance1.RestoreBackup", arguments[1])
        #expect(refused.errorName == BadInputTests.own("NotFound"))
    }

    @Test func `Restoring the latest twice gives the same state and does not toggle`() throws {
        desktop.tool("write", "org.example.App", "Key", "-int", "1")
        let name = try desktop.tool("backup", "now").requireOutput()
        desktop.tool("write", "org.example.App", "Key", "-int", "2")
        for _ in 1...3 {
            let restored = try desktop.tool("backup", "restore", "latest").requireOutput()
            #expect(restored.hasPrefix(name.dropLast()), "\(restored)")
            #expect(desktop.tool("read", "org.example.App", "Key").output == "1\n")
        }
        let undo = try #require(desktop.backupNames("undo").first)
        #expect(desktop.tool("backup", "restore", undo).status == 0)
        #expect(desktop.tool("read", "org.example.App", "Key").output == "2\n")
        // What undoes restorations leaves those that were asked for.
        for _ in 1...8 { desktop.tool("backup", "restore", "latest") }
        #expect(try desktop.backupNames("manual").map { $0 + "\n" } == [name])
        #expect(try desktop.backupNames("undo").count <= 7)
    }

    @Test
    func `Restorations that change nothing do not replace the backup that undoes the first one`()
        throws
    {
        desktop.tool("write", "org.example.App", "Key", "-string", "old")
        #expect(desktop.tool("backup", "now").status == 0)
        desktop.tool("write", "org.example.App", "Key", "-string", "precious")
        #expect(desktop.tool("backup", "restore", "latest").status == 0)
        let undo = try desktop.backupNames("undo")
        #expect(undo.count == 1)
        for _ in 1...8 {
            let answer = desktop.tool("backup", "restore", "latest")
            #expect(
                answer.output.contains("nothing had to be changed, so there is nothing to undo"))
            let json = desktop.tool("backup", "restore", "latest", "--json")
            #expect(json.output.contains(#""undo":null"#), "\(json)")
        }
        #expect(try desktop.backupNames("undo") == undo)
        #expect(desktop.tool("backup", "restore", try #require(undo.first)).status == 0)
        #expect(desktop.tool("read", "org.example.App", "Key").output == "precious\n")
    }

    @Test func `Restoring a domain that neither the backup nor the database has is reported`()
        throws
    {
        desktop.tool("write", "org.example.App", "Key", "-int", "1")
        desktop.tool("-host", "elsewhere", "write", "org.example.Far", "Key", "-int", "1")
        #expect(desktop.tool("backup", "now").status == 0)
        desktop.tool("write", "org.example.App", "Key", "-int", "2")
        for options in [[], ["--dry-run"], ["--domain", "org.example.App"]] {
            let refused = desktop.tool(
                ["backup", "restore", "latest", "--domain", "org.exmaple.App"] + options)
            #expect(refused.status == 1 && refused.output == "", "\(refused)")
            #expect(refused.error.contains("nor the database has the domain 'org.exmaple.App'"))
        }
        #expect(desktop.tool("read", "org.example.App", "Key").output == "2\n")
        #expect(try desktop.backupNames("undo") == [])
        // The backup has this one only for a host, and the database no longer has it.
        desktop.tool("delete-all", "org.example.Far")
        let restored = desktop.tool("backup", "restore", "latest", "--domain", "org.example.Far")
        #expect(restored.output.contains(": 1 key set, 0 removed"), "\(restored)")
    }

    @Test func `A restoration is shown before it is made, and can be of one domain`() throws {
        for domain in ["org.example.A", "org.example.A@host", "org.example.B"] {
            desktop.tool("write", domain, "Key", "-int", "1")
        }
        // One that came later would be the latest.
        _ = try desktop.waitForDailyBackup()
        desktop.tool("backup", "now")
        for domain in ["org.example.A", "org.example.A@host", "org.example.B"] {
            desktop.tool("write", domain, "Key", "-int", "2")
        }
        desktop.tool("write", "org.example.C", "New", "-int", "2")
        let before = try desktop.property("Generation")
        let plan = try desktop.tool("backup", "restore", "latest", "--dry-run").requireOutput()
        #expect(
            plan.hasSuffix(
                """
                : 3 keys would be set, 1 removed
                  org.example.A: 1 key set, 0 removed
                  org.example.A@host: 1 key set, 0 removed
                  org.example.B: 1 key set, 0 removed
                  org.example.C: 0 keys set, 1 removed

                """), "\(plan)")
        let names = try desktop.tool(
            "backup", "restore", "latest", "--dry-run", "--json", "--domain", "org.example.C"
        ).requireOutput()
        #expect(
            names.contains(
                #""changes":[{"domain":"org.example.C","set":[],"removed":["New"],"locked":0}]"#))
        let changed = desktop.tool("backup", "restore", "latest", "--dry-run", "--changed")
        #expect(changed.status == 64 && changed.output == "", "\(changed)")
        #expect(try desktop.property("Generation") == before)
        #expect(try desktop.backupNames("undo") == [])
        let restored = desktop.tool(
            "backup", "restore", "latest", "--domain", "org.example.A")
        #expect(restored.output.contains(": 2 keys set, 0 removed\n"), "\(restored)")
        for (domain, value) in [
            ("org.example.A", "1\n"), ("org.example.A@host", "1\n"), ("org.example.B", "2\n"),
        ] {
            #expect(desktop.tool("read", domain, "Key").output == value)
        }
        #expect(desktop.tool("read", "org.example.C", "New").output == "2\n")
        let refused = desktop.tool("backup", "restore", "latest", "--domain", "no domain")
        #expect(refused.status == 1 && refused.error.contains("Invalid domain 'no domain'"))
    }

    @Test func `The file of a backup is restored from any place, and other files are refused`()
        throws
    {
        desktop.tool("write", "org.example.App", "Key", "-int", "1")
        let name = try desktop.tool("backup", "now").requireOutput().dropLast()
        let copy = desktop.directory.path + "/copy.db"
        try FileManager.default.copyItem(
            atPath: "\(desktop.backupsPath)/\(name).db", toPath: copy)
        desktop.tool("write", "org.example.App", "Key", "-int", "2")
        let restored = desktop.tool("backup", "restore", copy)
        #expect(restored.status == 0 && restored.output.contains("1 key set"), "\(restored)")
        #expect(desktop.tool("read", "org.example.App", "Key").output == "1\n")
        desktop.run("mkfifo", desktop.directory.path + "/pipe.db")
        let text = desktop.directory.path + "/text.db"
        try "no database".write(toFile: text, atomically: true, encoding: .utf8)
        for (path, sentence) in [
            (desktop.directory.path + "/none.db", "No such file or directory"),
            (desktop.directory.path + "/pipe.db", "It is not a regular file"),
            ("/dev/null", "It is not a regular file"), (text, "is damaged, and nothing of it"),
            (desktop.databasePath, "is the database itself"),
        ] {
            let refused = desktop.tool("backup", "restore", path)
            #expect(refused.status == 1 && refused.error.contains(sentence), "\(refused)")
        }
        // The service itself does not wait for a pipe.
        let waiting = desktop.gdbus(
            "org.defaultsd.Maintenance1.Restore", "", desktop.directory.path + "/pipe.db", "[]",
            "false")
        #expect(waiting.status != 0)
        #expect(desktop.tool("read", "org.example.App", "Key").output == "1\n")
    }

    @Test func `The database is not restored from itself, however its path is spelled`() throws {
        desktop.tool("write", "org.example.App", "Key", "-int", "1")
        desktop.call("Synchronize")
        let link = desktop.directory.path + "/link"
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: desktop.directory.path + "/config/defaultsd")
        let config = desktop.directory.path + "/config"
        for path in ["\(config)/./defaultsd/defaults.db", "\(link)/defaults.db"] {
            let refused = restore("", path)
            #expect(refused.error.contains("is the database itself"), "\(refused)")
        }
        #expect(try desktop.backupNames("undo").isEmpty)
    }

    @Test func `A call that names a backup twice, or a file by a relative path, is refused`() throws
    {
        desktop.tool("write", "org.example.App", "Key", "-int", "1")
        let name = try desktop.tool("backup", "now").requireOutput()
            .trimmingCharacters(in: .newlines)
        for (name, path, sentence) in [
            (name, "\(desktop.backupsPath)/\(name).db", "by both name and path"),
            ("", "backups/\(name).db", "is relative"),
        ] {
            let refused = restore(name, path)
            #expect(refused.error.contains("InvalidArgs"), "\(refused)")
            #expect(refused.error.contains(sentence), "\(refused)")
        }
        #expect(restore(name, "").status == 0)
    }

    private func restore(_ name: String, _ path: String) -> ProgramResult {
        desktop.gdbus("org.defaultsd.Maintenance1.Restore", name, path, "[]", "false")
    }

    @Test func `Programs get dates in ISO 8601`() throws {
        desktop.tool("write", "org.example.App", "Key", "-int", "1")
        desktop.tool("backup", "now")
        let date = /"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/
        let list = try desktop.tool("backup", "list", "--json").requireOutput()
        #expect(list.matches(of: date).count == list.matches(of: /"date":/).count)
        let status = try desktop.tool("status", "--json").requireOutput()
        #expect(status.contains(/"newestBackup":"\d{4}-\d\d-\d\dT/), "\(status)")
    }

    @Test func `The paths of backups are those of their files, which can be copied and restored`()
        throws
    {
        desktop.tool("write", "org.example.App", "Key", "-int", "1")
        desktop.tool("backup", "now")
        desktop.tool("write", "org.example.App", "Key", "-int", "2")
        desktop.tool("backup", "now")
        let paths = try desktop.tool("backup", "list", "--paths").requireOutput()
            .split(separator: "\n").map(String.init)
        #expect(paths.count == 2)
        for path in paths {
            #expect(path.hasPrefix("/") && FileManager.default.fileExists(atPath: path), "\(path)")
        }
        let list = try desktop.tool("backup", "list", "--json").requireOutput()
        for path in paths { #expect(list.contains("\"path\":\"\(path)\""), "\(list)") }
        let copy = desktop.directory.path + "/copy.db"
        try FileManager.default.copyItem(atPath: paths[1], toPath: copy)
        try desktop.tool("backup", "restore", copy).requireOutput()
        #expect(try desktop.tool("read", "org.example.App", "Key").requireOutput() == "1\n")
    }

    @Test func `A name may be shortened if it stays unique`() throws {
        desktop.tool("write", "org.example.App", "Key", "-int", "1")
        let name = try desktop.tool("backup", "now").requireOutput()
        desktop.tool("write", "org.example.App", "Key", "-int", "2")
        desktop.tool("backup", "now")
        let several = desktop.tool("backup", "restore", String(name.prefix(4)))
        #expect(several.status == 1 && several.error.contains("backups have names that begin"))
        let beginning = name.replacing("manual\n", with: "man")
        #expect(desktop.tool("backup", "restore", beginning).status == 0)
        #expect(desktop.tool("read", "org.example.App", "Key").output == "1\n")
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
        #expect(daemon.waitUntilExit() == 0)
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
        try desktop.stopDaemon()
        desktop.run(
            "/usr/bin/python3", "-c",
            """
            import sqlite3, sys
            store = sqlite3.connect(sys.argv[1])
            store.execute("UPDATE entries SET archive = x'ff' WHERE key = 'Bad'")
            store.commit()
            """, desktop.databasePath)
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
