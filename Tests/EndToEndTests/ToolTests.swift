import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// `defaultsctl` as a person at a shell uses it.
@Suite(.startsPrograms, .serialized) struct ToolTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    @Test(arguments: [
        (["-bool", "true"], "true"), (["-bool", "NO"], "false"), (["-bool", "1"], "true"),
        (["-int", "42"], "42"), (["-int", "-7"], "-7"), (["-float", "1"], "1.0"),
        (["-float", "-2.5e3"], "-2500.0"), (["-string", "-dash"], "\"-dash\""),
        (["-string", ""], "\"\""), (["--json", "[1,1.0,true,null]"], "[1,1.0,true,null]"),
        (
            ["--json", #"{"$class":"Account","username":"ada"}"#],
            #"{"$class":"Account","username":"ada"}"#
        ),
    ])
    func `A value written with a type is read back with it`(value: [String], json: String) {
        #expect(desktop.tool(["write", "org.example.App", "Key"] + value).status == 0)
        let answer = desktop.tool("read", "org.example.App", "Key", "--json")
        #expect(answer.output == json + "\n")
        #expect(answer.error == "")
    }

    @Test func `status works with a daemon of an earlier version, which reports less`() throws {
        let older = try desktop.startOlderService()
        defer { older.send(SIGTERM) }
        let status = try desktop.tool("status").requireOutput()
        #expect(status.contains(/generation +7\n/))
        #expect(!status.contains("file system"))
        #expect(
            desktop.tool("doctor").output.contains(
                "It has version 0.1, but this program has version "))
    }

    @Test func `watch continues after a value that cannot be shown, and names its key`() throws {
        let watcher = try desktop.start(Desktop.programs + "/defaultsctl", "watch", "org.example.A")
        let lines = try #require(watcher.lines)
        defer { watcher.send(SIGTERM) }
        try desktop.waitForMatchRule(containing: "org.defaultsd.Defaults1")
        _ = try desktop.python(
            """
            \(Desktop.pythonArchive)
            levels = 40
            pairs = [{"$class": UID(levels + 2), "NS.objects": [UID(i + 2), UID(i + 2)]}
                     for i in range(levels)]
            bomb = dumps({**contents, "$objects": ["$null", *pairs, True,
                {"$classname": "NSArray", "$classes": ["NSArray", "NSObject"]}]})
            service.Set("(ssay)", "org.example.A", "Bomb\\n", bomb)
            """
        ).requireOutput()
        desktop.tool("write", "org.example.A@host", "Key", "-int", "1")
        #expect(
            lines.next()?.hasPrefix(
                "org.example.A \"Bomb\\n\" = a value that cannot be shown (new; ")
                == true)
        #expect(lines.next()?.hasPrefix("org.example.A@host Key = 1 (new; ") == true)
        desktop.tool("write", "org.example.A", "Zebra", "-int", "1")
        let read = desktop.tool("read", "org.example.A")
        #expect(read.status == 1 && read.error.contains("Bomb"))
        #expect(read.output == "{\n    Zebra = 1;\n}\n")
    }

    @Test func `watch refuses an invalid domain, and watches one layer on request`() throws {
        #expect(desktop.tool("watch", "org..example").status == 1)
        let watcher = try desktop.start(
            Desktop.programs + "/defaultsctl", "watch", "org.example.A@host")
        let lines = try #require(watcher.lines)
        defer { watcher.send(SIGTERM) }
        try desktop.waitForMatchRule(containing: "org.defaultsd.Defaults1")
        desktop.tool("write", "org.example.A", "Key", "-int", "1")
        desktop.tool("write", "org.example.A@host", "Key", "-int", "2")
        #expect(lines.next()?.hasPrefix("org.example.A@host Key = 2 (new; ") == true)
    }

    @Test func `It prints its version and every subcommand`() throws {
        #expect(desktop.tool("--version").output.contains(/^\d+\.\d+\.\d+\n$/))
        let help = try desktop.tool("--help").requireOutput()
        for verb in [
            "read", "read-type", "write", "rename", "delete", "delete-all", "domains", "find",
            "import", "export", "watch", "sync", "status",
        ] {
            #expect(help.contains("  \(verb) "))
        }
    }
}

extension Desktop {
    /// Starts a service that has the properties of the contract and no interface for the tool.
    fileprivate func startOlderService() throws -> ChildProcess {
        let service = try start(
            "/usr/bin/python3", "-c",
            """
            from gi.repository import Gio, GLib
            name, path = "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1"
            values = {"Version": GLib.Variant("s", "0.1"), "Generation": GLib.Variant("t", 7),
                "DurableGeneration": GLib.Variant("t", 7), "PendingChanges": GLib.Variant("u", 0),
                "StorageError": GLib.Variant("s", ""), "DatabasePath": GLib.Variant("s", "/a"),
                "MaximumValueSize": GLib.Variant("t", 1)}
            interface = Gio.DBusNodeInfo.new_for_xml("<node><interface name='%s'>%s</interface></node>"
                % (name, "".join("<property name='%s' type='%s' access='read'/>"
                    % (key, value.get_type_string()) for key, value in values.items()))).interfaces[0]
            bus = Gio.bus_get_sync(Gio.BusType.SESSION)
            bus.register_object(path, interface, None, lambda *call: values[call[4]], None)
            Gio.bus_own_name_on_connection(
                bus, name, Gio.BusNameOwnerFlags.NONE, lambda *_: print("owned", flush=True), None)
            GLib.MainLoop().run()
            """)
        #expect(service.lines?.next() == "owned")
        return service
    }
}
