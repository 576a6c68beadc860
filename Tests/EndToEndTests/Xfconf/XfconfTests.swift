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
        try daemon.requireSuccess()
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
