import Foundation
import TestSupport
import Testing

/// A database that is damaged while the daemon runs, and between two.
@Suite struct DamageTests {
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

    /// Flips a bit in the stored value of a key.
    private func damage(_ key: String, in desktop: Desktop) throws {
        let output = ProgramResult.run(
            [
                "/usr/bin/python3", "-c",
                """
                import sqlite3, sys
                connection = sqlite3.connect(sys.argv[1])
                archive, = connection.execute(
                    "SELECT archive FROM entries WHERE key = ?", (sys.argv[2],)).fetchone()
                data = bytearray(open(sys.argv[1], "rb").read())
                place = data.index(archive)
                connection.close()
                data[place + len(archive) // 2] ^= 1
                with open(sys.argv[1], "r+b") as file:
                    file.write(data)
                """, desktop.databasePath, key,
            ])
        try #require(output.status == 0, "\(output.error)")
    }

    @Test func `A value that is damaged comes from the backup, and status tells of it`() throws {
        let desktop = try Desktop()
        _ = try desktop.python(Self.fill).requireOutput()
        #expect(desktop.tool("backup", "now").status == 0)
        try desktop.stopDaemon()
        try damage("key100", in: desktop)
        // The daemon starts without reading it, and meets the damage in this call.
        let read = desktop.tool("read", "org.example.App", "key100")
        #expect(read.output.contains("value 100 "))
        let status = desktop.tool("status").output
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("damage ") })
        #expect(line.contains("'key100' in org.example.App is damaged"))
        #expect(line.contains("199 keys were read from it."))
        #expect(line.contains("1 key was taken from the backup"))
        #expect(line.contains("'key100' of org.example.App"))
        #expect(!status.contains("value 100"))
        #expect(try log(of: desktop).contains("is kept as "))
    }

    @Test func `A value that is lost is told of by name, and everybody else goes on`() throws {
        let desktop = try Desktop()
        _ = try desktop.python(Self.fill).requireOutput()
        try removeBackups(of: desktop)
        try desktop.stopDaemon()
        try damage("key7", in: desktop)
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
        #expect(try log(of: desktop).components(separatedBy: "made anew").count == 2, "told once")
    }

    @Test func `A file that is no database is set aside, and nothing is silent about it`() throws {
        let desktop = try Desktop()
        #expect(desktop.call("SetValue", "org.example.App", "Key", "<1>").status == 0)
        try desktop.stopDaemon()
        try? FileManager.default.removeItem(atPath: desktop.backupsPath)
        try Data("no database".utf8).write(to: URL(fileURLWithPath: desktop.databasePath))
        #expect(desktop.call("GetValue", "org.example.App", "Key").status != 0)
        #expect(desktop.tool("status").output.contains("There was no backup: it begins empty."))
        let directory = URL(fileURLWithPath: desktop.databasePath).deletingLastPathComponent()
        let aside = try #require(
            try FileManager.default.contentsOfDirectory(atPath: directory.path)
                .first { $0.hasPrefix("defaults.db.aside-") })
        let kept = FileManager.default.contents(atPath: directory.appending(path: aside).path)
        #expect(kept == Data("no database".utf8))
    }
}
