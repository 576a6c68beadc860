import Foundation
import TestSupport
import TestTiers
import Testing

/// Two machines of a user, with the shipped programs and a directory that both share.
@Suite(.startsPrograms) struct RoamingTests {
    let shared: TemporaryDirectory
    let laptop: RoamingDesktop
    let tower: RoamingDesktop

    init() throws { (shared, laptop, tower) = try RoamingDesktop.pair() }

    @Test func `What is changed on one machine is the same on the other`() throws {
        try laptop.enable()
        try laptop.roam("add", "org.example.Editor")
        try laptop.write("org.example.Editor", "Font", "Mono")
        try tower.enable()
        // The choice has roamed, too.
        try tower.waitUntil("org.example.Editor", "Font", is: "Mono")
        #expect(try tower.roam("domains") == "org.example.Editor  all keys  domain\n")
        try tower.write("org.example.Editor", "Font", "Serif")
        try laptop.waitUntil("org.example.Editor", "Font", is: "Serif")
        try laptop.desktop.tool("delete", "org.example.Editor", "Font").requireOutput()
        try tower.waitUntil("org.example.Editor", "Font", is: nil)
    }

    @Test func `Nothing leaves a machine that was not chosen`() throws {
        try laptop.enable()
        try laptop.roam("add", "org.example.Editor", "--except", "Window*")
        try laptop.write("org.example.Editor", "Font", "Mono")
        try laptop.write("org.example.Editor", "WindowPlace", "LeftCorner")
        try laptop.write("org.example.Other", "Name", "Private")
        try laptop.desktop.tool(
            "-currentHost", "write", "org.example.Editor", "Screen", "-string", "Large"
        )
        .requireOutput()
        try laptop.roam("now")
        let files = try FileManager.default.contentsOfDirectory(atPath: shared.path).map {
            try Data(contentsOf: URL(filePath: shared.path + "/" + $0))
        }
        let text = files.map { String(decoding: $0, as: UTF8.self) }.joined()
        #expect(text.contains("org.example.Editor") && text.contains("Font"))
        for word in ["WindowPlace", "org.example.Other", "Screen", "Directory"] {
            #expect(!text.contains(word), "\(word)")
        }
    }

    @Test func `A machine that joins keeps its own value as a conflict, and can take it back`()
        throws
    {
        try laptop.enable()
        try laptop.roam("add", "org.example.Editor")
        try laptop.write("org.example.Editor", "Font", "Mono")
        try laptop.roam("now")
        try tower.write("org.example.Editor", "Font", "Serif")
        try tower.write("org.example.Editor", "Theme", "Dark")
        try tower.enable()
        try tower.waitUntil("org.example.Editor", "Font", is: "Mono")
        try laptop.waitUntil("org.example.Editor", "Theme", is: "Dark")
        let listed = try tower.roam("conflicts")
        #expect(listed.contains("org.example.Editor Font"), "\(listed)")
        #expect(
            listed.contains("lost    \"Serif\"") && listed.contains("stands  \"Mono\""), "\(listed)"
        )
        // The conflict has roamed, too.
        try wait { try laptop.roam("conflicts") == listed }
        let name = try #require(listed.split(separator: " ").first.map(String.init))
        try laptop.roam("conflicts", "--restore", name)
        #expect(laptop.read("org.example.Editor", "Font") == "Serif")
        try tower.waitUntil("org.example.Editor", "Font", is: "Serif")
        try wait { try tower.roam("conflicts") == "" }
    }

    @Test
    func `One document on both machines settles, and a value for once stays what the user chose`()
        throws
    {
        let document = """
            {"$defaults": 1, "owner": "me", "domains": {"org.example.Editor": {
              "Theme": "dark", "Plugins": {"$ensure": ["spelling"]}, "$once": {"Font": "Mono"}}}}
            """
        let file = try shared.write(document, to: ".document.json")
        func apply(on machine: RoamingDesktop) throws -> String {
            try machine.desktop.tool("apply", file, "--changed").requireOutput()
        }
        for machine in [laptop, tower] {
            try machine.enable()
            try machine.roam("add", "org.example.Editor")
        }
        #expect(try apply(on: laptop) == "changed\n")
        try tower.waitUntil("org.example.Editor", "Font", is: "Mono")
        // It has all values already, and notes whose they are.
        #expect(try apply(on: tower) == "changed\n")
        try tower.write("org.example.Editor", "Font", "Serif")
        try laptop.waitUntil("org.example.Editor", "Font", is: "Serif")
        for round in 1...10 {
            for machine in [laptop, tower] {
                #expect(try apply(on: machine) == "unchanged\n", "\(round)")
                try machine.roam("now")
                #expect(machine.read("org.example.Editor", "Font") == "Serif")
                #expect(machine.read("org.example.Editor", "Theme") == "dark")
            }
        }
        #expect(try laptop.roam("conflicts") == "")
        // What one machine owned does not roam.
        try laptop.desktop.tool("unapply", "me").requireOutput()
        #expect(try laptop.desktop.tool("owners").requireOutput() == "")
        #expect(try tower.desktop.tool("owners").requireOutput().hasPrefix("me "))
    }

    @Test func `Each machine is listed, paused, forgotten and turned off`() throws {
        try laptop.enable()
        try laptop.roam("add", "org.example.Editor")
        try tower.enable()
        try wait { try laptop.roam("machines").split(separator: "\n").count == 2 }
        let machines = try laptop.roam("machines", "--json")
        let list = try #require(
            JSONSerialization.jsonObject(with: Data(machines.utf8)) as? [[String: Any]])
        #expect(list.count == 2)
        #expect(list.filter { $0["this"] as? Bool == true }.count == 1)

        try laptop.roam("pause")
        try wait { try laptop.roam("status").contains("paused") }
        #expect(laptop.refusal("now").contains("defaultsctl roam resume"))
        #expect(!(try laptop.roam("status").contains("interrupted")))
        try laptop.write("org.example.Editor", "Font", "Mono")
        try laptop.roam("resume")
        try tower.waitUntil("org.example.Editor", "Font", is: "Mono")

        let other = try #require(list.first { $0["this"] as? Bool == false }?["id"] as? String)
        // While it runs, it would join anew as soon as it hears of it.
        try tower.roam("pause")
        try wait { try tower.roam("status").contains("paused") }
        try laptop.roam("forget", other)
        #expect(try laptop.roam("machines").split(separator: "\n").count == 1)
        // It joins anew.
        try tower.roam("resume")
        try wait { try !tower.roam("status").contains("paused") }
        try tower.roam("now")
        try wait {
            try laptop.roam("now");
            return try laptop.roam("machines").split(separator: "\n").count == 2
        }
        #expect(tower.read("org.example.Editor", "Font") == "Mono")

        try tower.roam("disable")
        #expect(tower.refusal("now").contains("turned off"))
        try laptop.write("org.example.Editor", "Font", "Serif")
        try laptop.roam("now")
        #expect(tower.read("org.example.Editor", "Font") == "Mono")
    }

    @Test func `A password in an address is not stored, and not shown if somebody has stored it`()
        throws
    {
        let address = "host=/nonexistent dbname=defaults password=hunter2"
        let refusal = laptop.refusal("enable", "--server", address)
        #expect(refusal.contains("~/.pgpass") && !refusal.contains("hunter2"), "\(refusal)")
        let settings = ["-currentHost", "read", "org.defaultsd.Roam"]
        #expect(laptop.desktop.tool(settings).status == 1)

        try laptop.desktop.tool(
            "-currentHost", "write", "org.defaultsd.Roam", "Server", "-string", address
        ).requireOutput()
        #expect(!laptop.refusal("enable").contains("hunter2"))
        let status = laptop.desktop.tool("roam", "status").output
        #expect(status.contains("must not contain 'password'"), "\(status)")
        #expect(!status.contains("hunter2"), "\(status)")
    }

    @Test func `What is no conflict is not shown, cannot be restored, and goes with all`() throws {
        let kept = "org.defaultsd.RoamConflicts"
        for key in [
            "bad domain/k/1", "org.example.Editor@host/Font/1", "org.defaultsd.Roam@host/Server/1",
            "org.defaultsd.Roam/Server/1", "org.defaultsd.Grants/org.example.App/1",
        ] {
            try laptop.write(kept, key, "Mono")
        }
        #expect(try laptop.roam("conflicts") == "")
        #expect(laptop.refusal("conflicts", "--restore", "1").contains("no conflict '1'"))
        // A time that no calendar has.
        try laptop.write(kept, "org.example.Editor/Font/2", "Serif")
        try laptop.desktop.tool(
            "write", kept, "org.example.Editor/Font/2/about", "-dict", "removed", "-bool", "false",
            "machine", "-string", "tower", "written", "-float", "1e300", "noticed", "-float", "1"
        ).requireOutput()
        #expect(try laptop.roam("conflicts").contains("lost    \"Serif\""))
        #expect(try laptop.roam("conflicts", "--json").contains("\"tower\""))
        try laptop.roam("conflicts", "--dismiss", "all")
        #expect(laptop.desktop.tool("read", kept).status == 1)
    }

    @Test func `The status warns of keys that roam and look like secrets`() throws {
        try laptop.enable()
        try laptop.roam("add", "org.example.Editor", "--except", "Mail*")
        for key in ["API_KEY", "Font", "MailPassword", "Login Password"] {
            try laptop.write("org.example.Editor", key, "x")
        }
        try laptop.write("org.example.Other", "Password", "x")
        let warning = "org.example.Editor API_KEY, org.example.Editor Login Password may be secrets"
        #expect(try laptop.roam("status").contains(warning))
        #expect(try laptop.roam("status", "--json").contains(#"["org.example.Editor API_KEY","#))
    }

    @Test func `A damaged state is set aside, and the machine joins anew`() throws {
        try laptop.enable()
        try laptop.roam("add", "org.example.Editor")
        try laptop.write("org.example.Editor", "Font", "Mono")
        try laptop.roam("now")
        try tower.write("org.example.Editor", "Font", "Serif")
        let state = "config/defaultsd/roam.db"
        _ = try tower.desktop.directory.write(
            String(repeating: "This is no database. ", count: 1000), to: state)
        try tower.enable()
        try tower.waitUntil("org.example.Editor", "Font", is: "Mono")
        let directory = tower.desktop.directory.path
        #expect(FileManager.default.fileExists(atPath: "\(directory)/\(state).damaged-1"))
    }

    @Test func `The state of an earlier version is taken over`() throws {
        try laptop.enable()
        try laptop.roam("add", "org.example.Editor")
        try laptop.write("org.example.Editor", "Font", "Mono")
        try laptop.roam("now")
        try laptop.roam("pause")
        try wait { try laptop.roam("status").contains("paused") }
        let state = laptop.desktop.directory.path + "/config/defaultsd/roam.db"
        try laptop.desktop.python(
            """
            import sqlite3, sys
            state = sqlite3.connect(sys.argv[1])
            state.executescript("ALTER TABLE replica DROP COLUMN shared; PRAGMA user_version = 1")
            """, state
        ).requireOutput()
        try laptop.roam("resume")
        try tower.enable()
        try tower.waitUntil("org.example.Editor", "Font", is: "Mono")
        try laptop.write("org.example.Editor", "Font", "Serif")
        try tower.waitUntil("org.example.Editor", "Font", is: "Serif")
        #expect(try laptop.roam("machines").split(separator: "\n").count == 2)
    }

    @Test func `A service that cannot follow the daemon ends with a failure, to be started again`()
        throws
    {
        let output = try laptop.desktop.python(
            """
            import subprocess, sys
            from gi.repository import Gio, GLib
            bus = Gio.bus_get_sync(Gio.BusType.SESSION)
            def ask(method, *arguments):
                return bus.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus", method,
                                     GLib.Variant(*arguments), None, 0, -1, None).unpack()[0]
            ask("RequestName", "(su)", ("org.defaultsd.Defaults1", 4))
            roam = subprocess.Popen([sys.argv[1]], stderr=subprocess.PIPE, text=True)
            while not ask("NameHasOwner", "(s)", ("org.defaultsd.Roam1",)): pass
            bus.emit_signal(None, "/org/defaultsd/Defaults1", "org.defaultsd.Defaults1", "Changed",
                            GLib.Variant("(s)", ("of another form",)))
            bus.flush_sync()
            print(roam.wait(), roam.stderr.read())
            """, Desktop.programs + "/defaultsd-roam"
        ).requireOutput()
        #expect(output.hasPrefix("69 "), "\(output)")
        #expect(output.contains("cannot be followed"), "\(output)")
    }

    @Test func `A wrong word gets an answer that helps`() throws {
        #expect(laptop.refusal("enable").contains("No place to roam to is set up"))
        #expect(laptop.refusal("enable", "--directory", "here").contains("absolute path"))
        #expect(laptop.refusal("now").contains("Roaming is not set up"))
        #expect(laptop.refusal("add", "a b").contains("does not name domains"))
        #expect(laptop.refusal("add", "org.defaultsd.Grants").contains("never roams"))
        #expect(laptop.refusal("drop", "org.example.None").contains("not in the user's list"))
        #expect(laptop.refusal("conflicts", "--dismiss", "none").contains("no conflict 'none'"))
        #expect(laptop.refusal("enbale").contains("Did you mean 'enable'?"))
        #expect(
            laptop.refusal("enable", "--directory", "/nonexistent/place").contains(
                "/nonexistent/place"))
    }
}
