import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// One daemon takes over from another while all callers continue.
@Suite(.startsPrograms, .serialized) struct HandOverTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    @Test func `Eight writers notice nothing of five hand-overs, and nothing is lost`() throws {
        let output = try desktop.python(
            """
            \(Desktop.pythonHandOver)
            bus, isOver = connect(), threading.Event()
            call(bus, "SetValue", "(ssv)", "org.example.First", "key", GLib.Variant("i", 0))
            failures, generations, last = [], [], {}
            def write(number):
                mine, count = connect(), 0
                while not isOver.is_set():
                    count += 1
                    try:
                        generations.append(call(mine, "SetValue", "(ssv)", f"org.example.Writer{number}",
                                                "count", GLib.Variant("i", count))[0])
                        last[number] = count
                    except GLib.Error as error: failures.append(error.message)
            writers = [threading.Thread(target=write, args=(number,)) for number in range(8)]
            for writer in writers: writer.start()
            daemons = []
            for _ in range(5):
                done = len(generations)
                daemons.append(replace(bus))
                while len(generations) < done + 200: pass
                # The one that was replaced ends by itself, having done all it had to.
                if len(daemons) > 1: assert daemons[-2].wait() == 0
            isOver.set()
            for writer in writers: writer.join()
            assert not failures, failures
            assert len(set(generations)) == len(generations) >= 1000
            for number, count in last.items():
                value, _ = call(bus, "GetValue", "(ss)", f"org.example.Writer{number}", "count")
                assert value == count, (number, value, count)
            daemons[-1].terminate()
            assert daemons[-1].wait() == 0
            print("nothing lost")
            """, Desktop.programs + "/defaultsd", desktop.bus.address
        ).requireOutput()
        #expect(output == "nothing lost\n")
    }

    @Test func `A first call during a hand-over is identified by the next daemon`() throws {
        let output = try desktop.python(
            """
            \(Desktop.pythonHandOver)
            bus, old = connect(), connect()
            assert request(old, ALLOW_REPLACEMENT | DO_NOT_QUEUE) == 1
            # It has the name, and waits for the end of the one that had it.
            new = replace(bus)
            loop, early = GLib.MainLoop(), connect()
            def answered(bus, result):
                # Those of whom nobody knows are told nothing by this method.
                try: print(len(bus.call_finish(result).unpack()), "facts")
                except GLib.Error as error: print(error.message)
                loop.quit()
            early.call(name, path, "org.defaultsd.Maintenance1", "GetStatistics", None, None, 0, FOREVER,
                       None, answered)
            early.flush_sync()
            # A round trip, after which the bus has passed it on.
            owner(early)
            old.close_sync()
            loop.run()
            new.terminate()
            assert new.wait() == 0
            """, Desktop.programs + "/defaultsd", desktop.bus.address
        ).requireOutput()
        #expect(output == "1 facts\n")
    }

    @Test func `Without another daemon --replace has no effect`() throws {
        let daemon = try ChildProcess(
            [Desktop.programs + "/defaultsd", "--replace"], environment: desktop.environment)
        try wait { try desktop.askBus("NameHasOwner", "org.defaultsd.Defaults1") == "(true,)\n" }
        #expect(desktop.call("SetValue", "a.b", "key", "<1>").output == "(uint64 2,)\n")
        daemon.send(SIGTERM)
        try daemon.requireSuccess()
    }

    @Test func `A name that another program keeps is not taken, and the database is not touched`()
        throws
    {
        let other = try desktop.start(
            "/usr/bin/python3", "-c",
            """
            import sys
            from gi.repository import Gio, GLib
            bus = Gio.bus_get_sync(Gio.BusType.SESSION)
            answer = bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus",
                "org.freedesktop.DBus", "RequestName", GLib.Variant("(su)",
                ("org.defaultsd.Defaults1", 4)), None, 0, -1, None).unpack()[0]
            print(answer, flush=True)
            GLib.MainLoop().run()
            """)
        #expect(other.lines?.next() == "1")
        let daemon = desktop.run(Desktop.programs + "/defaultsd", "--replace")
        #expect(daemon.status == 69)
        #expect(daemon.error.contains("another process owns org.defaultsd.Defaults1"))
        #expect(!FileManager.default.fileExists(atPath: desktop.databasePath))
    }

    @Test func `A daemon of an earlier version, which lets the name be taken, is replaced`() throws
    {
        let output = try desktop.python(
            """
            \(Desktop.pythonHandOver)
            bus, earlier = connect(), connect()
            assert request(earlier, ALLOW_REPLACEMENT | DO_NOT_QUEUE) == 1
            daemon = replace(bus)
            earlier.close_sync()
            print(call(bus, "SetValue", "(ssv)", "org.example.App", "key", GLib.Variant("i", 1))[0])
            daemon.terminate()
            assert daemon.wait() == 0
            """, Desktop.programs + "/defaultsd", desktop.bus.address
        ).requireOutput()
        #expect(output == "2\n")
    }

    @Test func `A stranger cannot take the name by force or by request, and gets no password`()
        throws
    {
        let output = try desktop.python(
            """
            \(Desktop.pythonHandOver)
            bus, stranger, heir = connect(), connect(), connect()
            call(bus, "SetValue", "(ssv)", "org.example.Bank", "password", GLib.Variant("s", "a"))
            daemon = owner(bus)
            print(request(stranger, REPLACE_EXISTING | DO_NOT_QUEUE), owner(bus) == daemon)
            def hand_over(to):
                try:
                    to.call_sync(name, path, "org.defaultsd.Maintenance1", "HandOver", None, None, 0,
                                 FOREVER, None)
                    return "given up"
                except GLib.Error as error: return Gio.DBusError.get_remote_error(error)
            print(hand_over(stranger))
            # It waits in the queue before the one that asks.
            print(request(stranger, 0), request(heir, 0), hand_over(heir), owner(bus) == daemon)
            value = GLib.Variant("s", "hunter2")
            print(call(bus, "SetValue", "(ssv)", "org.example.Bank", "password", value)[0])
            """, Desktop.programs + "/defaultsd", desktop.bus.address
        ).requireOutput()
        let conflict = "org.defaultsd.Defaults1.Error.Conflict"
        #expect(output == "3 True\n\(conflict)\n2 2 \(conflict) True\n3\n")
    }

    @Test(.enabled(if: Desktop.sandboxIsAvailable, "bwrap cannot make a sandbox here"))
    func `A sandboxed caller cannot request the name`() throws {
        #expect(desktop.call("SetValue", "a.b", "key", "<1>").status == 0)
        let refused = try desktop.callFromSandbox("org.defaultsd.Maintenance1.HandOver")
        #expect(refused.errorName == "org.freedesktop.DBus.Error.AccessDenied", "\(refused)")
    }
}
