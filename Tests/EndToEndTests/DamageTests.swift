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

    @Test func `A damaged value comes from the backup, and status reports it`() throws {
        let desktop = try Desktop()
        _ = try desktop.python(Self.fill).requireOutput()
        #expect(desktop.tool("backup", "now").status == 0)
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
}
