import Foundation
import TestSupport
import TestTiers
import Testing

/// A database that is damaged while the daemon runs, or between two daemons.
@Suite(.startsPrograms) struct DamageTests {
    private static let fill = """
        \(Desktop.pythonArchive)
        for number in range(200):
            value = GLib.Variant("s", f"value {number} " * 20)
            service.SetValue("(ssv)", "org.example.App", f"key{number}", value)
        service.Synchronize()
        """

    private func log(of desktop: Desktop) throws -> String {
        try String(contentsOfFile: desktop.directory.path + "/log", encoding: .utf8)
    }

    private func removeBackups(of desktop: Desktop) throws {
        _ = try desktop.waitForDailyBackup()
        try FileManager.default.removeItem(atPath: desktop.backupsPath)
    }

    @Test func `A damaged value comes from the backup, and status reports it`() throws {
        let desktop = try Desktop()
        _ = try desktop.python(Self.fill).requireOutput()
        #expect(desktop.tool("backup", "now").status == 0)
        try desktop.stopDaemon()
        try desktop.damage("key100")
        // The daemon starts without reading it, and meets the damage in this call.
        let read = desktop.tool("read", "org.example.App", "key100")
        #expect(read.output.contains("value 100 "))
        let status = desktop.tool("status").output
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("damage ") })
        #expect(line.contains(/^damage +\d{4}-\d\d-\d\d \d\d:\d\d/), "\(line)")
        #expect(line.contains("'key100' in org.example.App is damaged"))
        #expect(line.contains("199 keys were read from it."))
        #expect(line.contains("1 key was taken from the backup"))
        #expect(line.contains("'key100' of org.example.App"))
        #expect(!status.contains("value 100"))
        #expect(try log(of: desktop).contains("is kept as "))
    }

    @Test func `RemoveDomain of a domain whose rows are gone answers, and status reports it`()
        throws
    {
        let desktop = try Desktop()
        _ = try desktop.python(Self.fill).requireOutput()
        try removeBackups(of: desktop)
        try desktop.stopDaemon()
        try desktop.removeRows()
        let output = try desktop.python(
            """
            \(Desktop.pythonArchive)
            daemon = service.get_name_owner()
            service.RemoveDomain("(s)", "org.example.App")
            assert service.get_name_owner() == daemon, "it has ended"
            print(service.ListDomains())
            """
        ).requireOutput()
        #expect(output == "[]\n")
        let status = desktop.tool("status").output
        #expect(status.contains("its recorded count for org.example.App is wrong"))
        #expect(status.contains("200 keys with unknown names are lost."))
    }

    @Test func `A lost value is reported by name, and all other callers continue`() throws {
        let desktop = try Desktop()
        _ = try desktop.python(Self.fill).requireOutput()
        try removeBackups(of: desktop)
        try desktop.stopDaemon()
        try desktop.damage("key7")
        let output = try desktop.python(
            """
            \(Desktop.pythonArchive)
            heard = []
            service.connect("g-signal", lambda _, sender, name, arguments:
                            heard.append(arguments.unpack()))
            print(len(service.GetAll("(s)", "org.example.App")[0]))
            while not heard:
                GLib.MainContext.default().iteration(True)
            print(heard[0][0], heard[0][2], heard[0][3])
            print(len(service.ListKeys("(s)", "org.example.App")))
            service.SetValue("(ssv)", "org.example.App", "later", GLib.Variant("x", 1))
            service.Synchronize()
            """
        ).requireOutput()
        #expect(output == "199\norg.example.App [] ['key7']\n199\n")
        let status = desktop.tool("status").output
        #expect(status.contains("1 key is lost: 'key7' of org.example.App."))
        #expect(try log(of: desktop).components(separatedBy: "was rebuilt").count == 2, "told once")
    }

    @Test func `SIGTERM during the rebuilding of the store waits for its end`() throws {
        let desktop = try Desktop()
        let large = #"GLib.Variant("s", "x" * 4000000)"#
        let fill = """
            \(Self.fill)
            for number in range(5):
                service.SetValue("(ssv)", "org.example.Large", f"key{number}", \(large))
                service.Synchronize()
            """
        _ = try desktop.python(fill).requireOutput()
        #expect(desktop.tool("backup", "now").status == 0)
        try desktop.stopDaemon()
        try desktop.damage("key7")
        let output = try desktop.python(
            """
            import signal, subprocess, sys
            from gi.repository import Gio, GLib
            daemon = subprocess.Popen([sys.argv[1]], stderr=subprocess.PIPE, text=True)
            def lines(until):
                found = []
                while not found or until not in found[-1]: found.append(daemon.stderr.readline())
                return found
            lines("Serving ")
            bus, answers = Gio.bus_get_sync(Gio.BusType.SESSION), []
            bus.call("org.defaultsd.Defaults1", "/org/defaultsd/Defaults1", "org.defaultsd.Defaults1",
                     "GetValue", GLib.Variant("(ss)", ("org.example.App", "key7")), None, 0, -1, None,
                     lambda _, answer: answers.append(bus.call_finish(answer).unpack()))
            bus.flush_sync()
            lines("is damaged")
            daemon.send_signal(signal.SIGTERM)
            while not answers: GLib.MainContext.default().iteration(True)
            rest = daemon.stderr.read()
            print(daemon.wait(), answers[0][0][:8], rest.count("was rebuilt"))
            """, Desktop.programs + "/defaultsd"
        ).requireOutput()
        #expect(output == "0 value 7  1\n")
    }

    @Test func `A file that is not a database is set aside, and this is reported`() throws {
        let desktop = try Desktop()
        #expect(desktop.call("SetValue", "org.example.App", "Key", "<1>").status == 0)
        try desktop.stopDaemon()
        try? FileManager.default.removeItem(atPath: desktop.backupsPath)
        try Data("no database".utf8).write(to: URL(fileURLWithPath: desktop.databasePath))
        #expect(desktop.call("GetValue", "org.example.App", "Key").status != 0)
        #expect(desktop.tool("status").output.contains("no key could be read from it."))
        let directory = URL(fileURLWithPath: desktop.databasePath).deletingLastPathComponent()
        let aside = try #require(
            try FileManager.default.contentsOfDirectory(atPath: directory.path)
                .first { $0.hasPrefix("defaults.db.aside-") })
        let kept = FileManager.default.contents(atPath: directory.appending(path: aside).path)
        #expect(kept == Data("no database".utf8))
    }
}
