import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// The interface of Xfconf, and how it and the other ways to a domain see each other's changes.
@Suite(.startsPrograms, .serialized) struct XfconfTests {
    private let xfconf: XfconfDesktop
    private var desktop: Desktop { xfconf.desktop }
    private static let notFound = "org.xfce.Xfconf.Error.PropertyNotFound"
    private static let denied = "org.xfce.Xfconf.Error.PermissionDenied"

    init() throws { xfconf = try XfconfDesktop() }

    private func get(_ property: String, of channel: String = "c") -> String {
        xfconf.answer("GetProperty", [channel, property])
    }

    @Test func `Other programs see properties as keys, and set them`() throws {
        let monitor = try xfconf.listen()
        try xfconf.call("SetProperty", "a.b", "/n", "<uint32 5>").requireOutput()
        let domain = "xfconf.a_2Eb"
        #expect(desktop.tool("read", domain, "/n").output.contains("5"))
        _ = try xfconf.signals(monitor)
        // The tool keeps the exact type.
        try desktop.tool("write", domain, "/n", "-int", "7").requireOutput()
        #expect(try xfconf.signals(monitor) == ["PropertyChanged ('a.b', '/n', <uint32 7>)"])
        #expect(get("/n", of: "a.b") == "(<uint32 7>,)")
        try desktop.tool("delete", domain, "/n").requireOutput()
        #expect(try xfconf.signals(monitor) == ["PropertyRemoved ('a.b', '/n')"])
        try desktop.tool("write", domain, "/n", "-int", "7").requireOutput()
        #expect(try xfconf.signals(monitor) == ["PropertyChanged ('a.b', '/n', <7>)"])
        try desktop.tool("write", domain, "/n", "-bool", "true").requireOutput()
        #expect(try xfconf.signals(monitor) == ["PropertyChanged ('a.b', '/n', <true>)"])
        // A key that is no property, and a value that no property has.
        try desktop.tool("write", domain, "n", "-int", "7").requireOutput()
        #expect(try xfconf.signals(monitor) == [])
        try desktop.tool("write", domain, "/n", "--json", #"{"a":1}"#).requireOutput()
        #expect(try xfconf.signals(monitor) == ["PropertyRemoved ('a.b', '/n')"])
        #expect(get("/n", of: "a.b") == Self.notFound)
        #expect(xfconf.answer("PropertyExists", ["a.b", "/n"]) == "(false,)")
        #expect(xfconf.answer("GetAllProperties", ["a.b", "/"]) == "(@a{sv} {},)")
        #expect(xfconf.answer("SetProperty", ["a.b", "/n", "<1>"]) == "()")
        #expect(try xfconf.signals(monitor) == ["PropertyChanged ('a.b', '/n', <1>)"])
        #expect(get("/n", of: "a.b") == "(<1>,)")
        monitor.send(SIGTERM)
    }

    @Test func `The layers of the channel's own domain apply, and no others`() throws {
        try desktop.tool("write", "NSGlobalDomain", "/n", "-int", "1").requireOutput()
        #expect(get("/n") == Self.notFound)
        let monitor = try xfconf.listen()
        func expectSignal(_ value: Int) throws {
            let signals = try xfconf.signals(monitor)
            #expect(signals == ["PropertyChanged ('c', '/n', <\(value)>)"])
            #expect(get("/n") == "(<\(value)>,)")
        }
        for (place, value) in [(Desktop.LayerPlace.vendor, 2), (.recommended, 3)] {
            try desktop.write(#"{"/n": \#(value)}"#, to: "xfconf.c.json", in: place)
            try wait { get("/n") == "(<\(value)>,)" }
            try expectSignal(value)
        }
        try xfconf.call("SetProperty", "c", "/n", "<4>").requireOutput()
        try expectSignal(4)
        try desktop.tool("write", "xfconf.c@host", "/n", "-int", "5").requireOutput()
        try expectSignal(5)
        // What programs set is what they see.
        try xfconf.call("SetProperty", "c", "/n", "<6>").requireOutput()
        try expectSignal(6)
        #expect(desktop.tool("read", "xfconf.c@host", "/n").output == "6\n")
        try desktop.tool("write", "xfconf.c", "/n", "-int", "9").requireOutput()
        #expect(try xfconf.signals(monitor) == [])
        try desktop.write(#"{"/n": 7}"#, to: "xfconf.c.json", in: .managed)
        try wait { get("/n") == "(<7>,)" }
        try expectSignal(7)
        #expect(xfconf.answer("IsPropertyLocked", ["c", "/n"]) == "(true,)")
        #expect(xfconf.answer("SetProperty", ["c", "/n", "<8>"]) == Self.denied)
        #expect(xfconf.answer("ResetProperty", ["c", "/n", "false"]) == Self.denied)
        #expect(xfconf.answer("ResetProperty", ["c", "/n", "true"]) == "()")
        try desktop.remove("xfconf.c.json", in: .managed)
        try wait { get("/n") == "(<6>,)" }
        try expectSignal(6)
        try xfconf.call("ResetProperty", "c", "/n", "true").requireOutput()
        #expect(get("/n") == "(<3>,)")
        #expect(try Set(xfconf.signals(monitor)) == ["PropertyChanged ('c', '/n', <3>)"])
        monitor.send(SIGTERM)
    }

    @Test func `A vendor's file applies when it is installed, changed and removed`() throws {
        let file = { (properties: String) in
            #"<channel name="c" version="1.0">\#(properties)</channel>"#
        }
        let monitor = try xfconf.listen()
        let both =
            #"<property name="a" type="int" value="1"/><property name="b" type="uint" value="2"/>"#
        try xfconf.write(file(both), to: "c.xml")
        try wait { get("/b") == "(<uint32 2>,)" }
        #expect(xfconf.answer("ListChannels", []).contains("'c'"))
        try xfconf.write("<channel", to: "c.xml")
        try xfconf.write(file(#"<property name="a" type="int" value="3"/>"#), to: "d.xml")
        try wait { get("/a", of: "d") == "(<3>,)" }
        // The last valid contents stay in force.
        #expect(get("/b") == "(<uint32 2>,)")
        try xfconf.write(
            file(#"<property name="a" type="int" value="4" unlocked="nobody-else"/>"#), to: "c.xml")
        try wait { xfconf.answer("IsPropertyLocked", ["c", "/a"]) == "(true,)" }
        try wait { get("/b") == Self.notFound }
        #expect(xfconf.answer("SetProperty", ["c", "/a", "<5>"]) == Self.denied)
        #expect(desktop.tool("explain", "xfconf.c", "/a").output.contains("c.xml"))
        try xfconf.write(
            #"<channel name="c" version="1.0" unlocked="nobody-else"/>"#, to: "c.xml")
        try wait { xfconf.answer("IsPropertyLocked", ["c", "/any"]) == "(true,)" }
        #expect(get("/a") == Self.notFound)
        let signals = try xfconf.signals(monitor)
        #expect(signals.first == "PropertyChanged ('c', '/a', <1>)")
        #expect(signals.contains("PropertyChanged ('c', '/a', <4>)"))
        #expect(signals.contains("PropertyRemoved ('c', '/b')"))
        monitor.send(SIGTERM)
    }

    @Test func `A change survives the end of the daemon`() throws {
        try xfconf.call("SetProperty", "c", "/n", "<'kept'>").requireOutput()
        try desktop.killDaemon(SIGKILL)
        #expect(try xfconf.owner() == nil)
        _ = try desktop.daemonPID()
        try wait { try xfconf.owner() != nil }
        #expect(get("/n") == "(<'kept'>,)")
    }

    @Test func `What has no room or form is refused`() throws {
        let values = [
            "<(1, 2)>", "<{'a': <1>}>", "<[1, 2]>", "<<1>>", "<[<[<1>]>]>", "<objectpath '/a'>",
        ]
        for value in values {
            let answer = xfconf.answer("SetProperty", ["c", "/n", value])
            #expect(answer == "org.xfce.Xfconf.Error.InternalError", "\(value)")
        }
        let long = "/" + String(repeating: "a", count: 1024)
        #expect(
            xfconf.answer("SetProperty", ["c", long, "<1>"])
                == "org.xfce.Xfconf.Error.InvalidProperty")
        // Above the size of a value; it is read on another thread.
        let large = try desktop.python(
            """
            from gi.repository import Gio, GLib
            bus = Gio.bus_get_sync(Gio.BusType.SESSION)
            def call(method, signature, *arguments):
                return bus.call_sync("org.xfce.Xfconf", "/org/xfce/Xfconf", "org.xfce.Xfconf", method,
                                     GLib.Variant(signature, arguments), None, 0, -1, None).unpack()
            for size in (1 << 20, 20 << 20):
                try:
                    call("SetProperty", "(ssv)", "c", "/n", GLib.Variant("s", "x" * size))
                    assert call("GetProperty", "(ss)", "c", "/n") == ("x" * size,)
                    assert call("GetAllProperties", "(ss)", "c", "/")[0]["/n"] == "x" * size
                    print("kept")
                except GLib.Error as error: print(Gio.DBusError.get_remote_error(error))
            try: call("SetProperty", "(ssv)", "c", "/m", GLib.Variant("as", ["x"] * 70000))
            except GLib.Error as error: print(Gio.DBusError.get_remote_error(error))
            """
        ).requireOutput()
        #expect(
            large
                == "kept\norg.xfce.Xfconf.Error.WriteFailure\norg.xfce.Xfconf.Error.InternalError\n"
        )
    }

    @Test func `Large values are properties if they have a type of Xfconf`() throws {
        let text = String(repeating: "x", count: 100_000)
        try desktop.tool("write", "xfconf.c", "/large", "-string", text).requireOutput()
        #expect(get("/large") == "(<'\(text)'>,)")
        #expect(xfconf.answer("PropertyExists", ["c", "/large"]) == "(true,)")
        try desktop.tool("write", "xfconf.c", "/large", "--json", #"{"a":"\#(text)"}"#)
            .requireOutput()
        #expect(get("/large") == Self.notFound)
        #expect(xfconf.answer("PropertyExists", ["c", "/large"]) == "(false,)")
        #expect(xfconf.answer("PropertyExists", ["c", "/other"]) == "(false,)")
    }

    @Test func `Many properties are read and reset at once`() throws {
        let entries = (0..<2000).map { "'/k\($0)': <\($0)>" }.joined(separator: ", ")
        try desktop.call("ApplyValues", "xfconf.c", "{\(entries)}", "[]", "@a{st} {}", "@a{sv} {}")
            .requireOutput()
        let all = xfconf.call("GetAllProperties", "c", "/").output
        #expect(all.matches(of: /'\/k\d+': <\d+>/).count == 2000)
        let monitor = try xfconf.listen()
        try xfconf.call("ResetProperty", "c", "/", "true").requireOutput()
        // They are sent in several portions, before the one for the later change.
        let signals = try xfconf.signals(monitor)
        #expect(signals.count == 2000)
        #expect(Set(signals) == Set((0..<2000).map { "PropertyRemoved ('c', '/k\($0)')" }))
        #expect(!xfconf.answer("ListChannels", []).contains("'c'"))
        monitor.send(SIGTERM)
    }

    @Test(.enabled(if: Desktop.sandboxIsAvailable, "bwrap cannot make a sandbox here"))
    func `A program in a sandbox sees only the channels that are granted to it`() throws {
        let sandbox = try desktop.wholeSandbox()
        let answer = { (method: String, arguments: [String]) in
            let result = xfconf.call(method, arguments, in: sandbox)
            return result.status == 0 ? result.output : result.errorName ?? result.error
        }
        for channel in ["shown", "secret"] {
            try xfconf.call("SetProperty", channel, "/n", "<1>").requireOutput()
        }
        #expect(answer("GetProperty", ["secret", "/n"]) == Self.notFound)
        #expect(answer("GetAllProperties", ["secret", "/"]) == "(@a{sv} {},)\n")
        #expect(answer("PropertyExists", ["secret", "/n"]) == "(false,)\n")
        #expect(answer("ListChannels", []) == "(@as [],)\n")
        #expect(answer("SetProperty", ["secret", "/n", "<2>"]) == Self.denied)
        #expect(answer("ResetProperty", ["secret", "/n", "false"]) == Self.denied)
        #expect(answer("ResetProperty", ["secret", "/", "true"]) == Self.denied)
        try desktop.tool("grant", "*", "read", "xfconf.shown").requireOutput()
        try desktop.tool("grant", "*", "read", "xfconf.mark").requireOutput()
        #expect(answer("GetProperty", ["shown", "/n"]) == "(<1>,)\n")
        #expect(answer("ListChannels", []) == "(['shown'],)\n")
        #expect(answer("SetProperty", ["shown", "/n", "<2>"]) == Self.denied)

        let (inside, outside) = (try xfconf.listen(in: sandbox), try xfconf.listen())
        for channel in ["secret", "shown"] {
            try xfconf.call("SetProperty", channel, "/n", "<3>").requireOutput()
        }
        let changed = ["secret", "shown"].map { "PropertyChanged ('\($0)', '/n', <3>)" }
        #expect(try xfconf.signals(outside) == changed)
        #expect(try xfconf.signals(inside) == [changed[1]])
        for monitor in [inside, outside] { monitor.send(SIGTERM) }
    }
}

/// The name of Xfconf on the bus.
@Suite(.startsPrograms, .serialized) struct XfconfNameTests {
    @Test func `Without the option, nothing of Xfconf is served`() throws {
        let desktop = try Desktop()
        let folder = desktop.directory.path + "/xdg/xfce4/xfconf/xfce-perchannel-xml"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try #"<channel name="c" version="1.0"><property name="a" type="int" value="1"/></channel>"#
            .write(toFile: folder + "/c.xml", atomically: true, encoding: .utf8)
        _ = try desktop.daemonPID()
        #expect(try desktop.askBus("NameHasOwner", "org.xfce.Xfconf") == "(false,)\n")
        #expect(try !desktop.introspect("/org").contains("xfce"))
        #expect(desktop.tool("read", "xfconf.c@system", "/a").status != 0)
    }

    @Test func `The tests of Xfconf have a name of their own`() throws {
        let desktop = try Desktop()
        var environment = desktop.environment
        environment["XFCONF_RUN_IN_TEST_MODE"] = "1"
        let daemon = try ChildProcess(
            [Desktop.programs + "/defaultsd", "--serve", "xfconf"], environment: environment)
        try wait { try desktop.askBus("NameHasOwner", "org.xfce.XfconfTest") == "(true,)\n" }
        #expect(try desktop.askBus("NameHasOwner", "org.xfce.Xfconf") == "(false,)\n")
        daemon.send(SIGTERM)
        #expect(daemon.waitUntilExit() == 0)
    }

    @Test func `The daemon waits for the name while another program has it`() throws {
        let desktop = try Desktop(daemonOptions: "--serve xfconf")
        let owner = try desktop.start(
            "/usr/bin/python3", "-c",
            """
            import sys
            from gi.repository import Gio, GLib
            bus = Gio.bus_get_sync(Gio.BusType.SESSION)
            print(bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                "RequestName", GLib.Variant("(su)", ("org.xfce.Xfconf", 0)), None, 0, -1, None), flush=True)
            GLib.MainLoop().run()
            """)
        #expect(owner.lines?.next() != nil)
        let first = try desktop.askBus("GetNameOwner", "org.xfce.Xfconf")
        _ = try desktop.daemonPID()
        let daemon = try desktop.askBus("GetNameOwner", "org.defaultsd.Defaults1")
        try wait {
            try desktop.askBus("ListQueuedOwners", "org.xfce.Xfconf").matches(of: /:\d+\.\d+/).count
                == 2
        }
        #expect(try desktop.askBus("GetNameOwner", "org.xfce.Xfconf") == first)
        owner.send(SIGTERM)
        try wait { desktop.run("true").status == 0 && !owner.isRunning }
        try wait { try desktop.askBus("GetNameOwner", "org.xfce.Xfconf") == daemon }
        let log = try String(contentsOfFile: desktop.directory.path + "/log", encoding: .utf8)
        #expect(log.contains("Another program owns org.xfce.Xfconf"))
    }

    @Test func `Callers notice nothing of a hand-over`() throws {
        let desktop = try Desktop()
        let output = try desktop.python(
            """
            \(Desktop.pythonHandOver)
            def start(*options):
                before = ask(bus, "NameHasOwner", name) and owner(bus)
                daemon = subprocess.Popen([sys.argv[1], "--serve", "xfconf", *options])
                while not ask(bus, "NameHasOwner", name) or owner(bus) == before: pass
                return daemon
            def xfconf(bus, method, signature, *arguments):
                return bus.call_sync("org.xfce.Xfconf", "/org/xfce/Xfconf", "org.xfce.Xfconf", method,
                                     GLib.Variant(signature, arguments), None, 0, -1, None).unpack()
            bus, isOver = connect(), threading.Event()
            daemons, failures, counts = [start()], [], {}
            while not ask(bus, "NameHasOwner", "org.xfce.Xfconf"): pass
            def write(number):
                mine, count = connect(), 0
                while not isOver.is_set():
                    count += 1
                    try:
                        xfconf(mine, "SetProperty", "(ssv)", f"c{number}", "/count", GLib.Variant("i", count))
                        counts[number] = count
                    except GLib.Error as error: failures.append(error.message)
            writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
            for writer in writers: writer.start()
            for _ in range(3):
                done = sum(counts.values())
                daemons.append(start("--replace"))
                while sum(counts.values()) < done + 100: pass
                assert daemons[-2].wait() == 0
            isOver.set()
            for writer in writers: writer.join()
            assert not failures, failures
            for number, count in counts.items():
                assert xfconf(bus, "GetProperty", "(ss)", f"c{number}", "/count") == (count,)
            owners = [ask(bus, "GetNameOwner", each) for each in (name, "org.xfce.Xfconf")]
            assert owners[0] == owners[1], owners
            daemons[-1].terminate()
            assert daemons[-1].wait() == 0
            print("nothing lost")
            """, Desktop.programs + "/defaultsd", desktop.bus.address
        ).requireOutput()
        #expect(output == "nothing lost\n")
    }

    @Test(arguments: [
        (["--serve"], "--serve needs names of services"),
        (["--serve", ""], "--serve needs names of services"),
        (["--serve=xfconf,"], "--serve needs names of services"),
        (["--serve", "xfconf,nope"], "'nope' is not one of them: xfconf"),
        (["--serve", "xfconf", "--peer", "0"], "--peer and --serve cannot be used together"),
        (["--peer", "0", "--serve", "xfconf"], "--peer and --serve cannot be used together"),
    ])
    func `A wrong option is refused`(options: [String], words: String) {
        let result = ProgramResult.run([Desktop.programs + "/defaultsd"] + options)
        #expect(result.status == 64)
        #expect(result.error.contains(words), "\(result.error)")
    }
}
