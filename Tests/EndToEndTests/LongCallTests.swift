import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// Calls that take long, and what others can do meanwhile.
@Suite(.startsPrograms, .serialized) struct LongCallTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    @Test func `Programs that wait for the disk in a loop do not delay a long answer`()
        throws
    {
        // Each call of fdatasync or fsync takes 0.2 s more.
        let daemon = try desktop.startDaemon(
            by: "strace", "--follow-forks", "--trace=fsync,fdatasync", "--output=/dev/null",
            "--inject=fsync,fdatasync:delay_enter=200000")
        let output = try desktop.python(
            """
            \(Self.python(keys: 1000))
            durable, most = {"durable": GLib.Variant("b", True)}, 1000
            numbers = iter(range(most))
            writers = [connect(), connect()]
            def write(writer):
                def done(connection, result):
                    connection.call_finish(result)
                    events.append("written")
                    write(writer)
                entries = {"key": GLib.Variant("i", next(numbers))}
                writer.call(name, path, name, "ApplyValues", GLib.Variant(
                    "(sa{sv}asa{st}a{sv})", (f"a.b{writers.index(writer)}", entries, [], {}, durable)),
                    None, 0, -1, None, done)
            for writer in writers: write(writer)
            while len(events) < 4: GLib.MainContext.default().iteration(True)
            send("read", other, "GetAll", "(s)", huge)
            # A starved answer comes when the writers have run out of numbers, and not before.
            wait("read")
            assert len(answers["read"].unpack()[0]) == 1000
            print(events.count("written") < most)
            """, desktop.bus.address
        ).requireOutput()
        #expect(output == "True\n")
        daemon.send(SIGTERM)
    }

    /// Python that has `events`, the names of calls in the order of their replies, `huge`, a domain of
    /// so many keys, and `other`, the connection of another caller.
    private static func python(keys: Int = 20_000) -> String {
        """
        import ctypes, os, sys
        from gi.repository import Gio, GLib
        name, path = "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1"
        flags = Gio.DBusConnectionFlags
        def connect():
            return Gio.DBusConnection.new_for_address_sync(
                sys.argv[1], flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None)
        bus, other = connect(), connect()
        huge, events, answers = "org.example.Huge", [], {}
        def ask(connection, method, signature, *arguments):
            return connection.call_sync(
                name, path, name, method, GLib.Variant(signature, arguments), None, 0, -1, None)
        def send(label, connection, method, signature, *arguments):
            def done(connection, result):
                try: answers[label] = connection.call_finish(result)
                except GLib.Error as error: answers[label] = error
                events.append(label)
            connection.call(name, path, name, method, GLib.Variant(signature, arguments), None, 0,
                            -1, None, done)
            connection.flush_sync()
        def wait(*labels):
            while not set(labels) <= set(events): GLib.MainContext.default().iteration(True)
        def apply(domain, entries):
            return ask(bus, "ApplyValues", "(sa{sv}asa{st}a{sv})", domain, entries, [], {}, {})
        apply(huge, {f"key {number:06}": GLib.Variant("i", number) for number in range(\(keys))})
        ask(bus, "SetValue", "(ssv)", "org.example.Other", "key", GLib.Variant("i", 0))
        order = []
        def note(connection, message, incoming):
            if incoming and message.get_message_type() == Gio.DBusMessageType.METHOD_RETURN:
                if message.get_sender() != "org.freedesktop.DBus": order.append("long")
            if incoming and message.get_member() == "Changed":
                domain, _, _, _, generation, _ = message.get_body().unpack()
                if domain == "org.example.Other": order.append(generation)
            return message
        def overtakes(method, signature, *arguments):
            # The long call stops on its thread, where it has one. Where it holds the loop instead, it is
            # answered, and its answer comes before the signal of the change that was sent after it.
            bus.signal_subscribe(None, name, "Changed", path, None, 0, lambda *_: None)
            # The threads start at the first call.
            ask(bus, method, signature, *arguments)
            held = hold_lanes()
            filter = bus.add_filter(note)
            order.clear()
            events.clear()
            send("long", bus, method, signature, *arguments)
            # The bus answers in order, so it has passed the call on when it answers.
            bus.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId", None, None, 0, -1,
                          None)
            send("set", other, "SetValue", "(ssv)", "org.example.Other", "key", GLib.Variant("i", 1))
            send("get", other, "GetValue", "(ss)", "org.example.Other", "key")
            wait("set", "get")
            # The signal of an earlier change may still have been under way.
            while not {"long", answers["set"].unpack()[0]} & set(order):
                GLib.MainContext.default().iteration(False)
            found = "long" not in order + events or (order, events)
            for thread in held: assert ptrace(DETACH, thread, None, None) == 0
            wait("long")
            assert answers["get"].unpack()[0] == 1
            assert not isinstance(answers["long"], GLib.Error), answers["long"]
            bus.remove_filter(filter)
            ask(bus, "SetValue", "(ssv)", "org.example.Other", "key", GLib.Variant("i", 0))
            return found
        ptrace = ctypes.CDLL(None, use_errno=True).ptrace
        ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        ATTACH, DETACH, ANY_THREAD = 16, 17, 0x40000000
        def hold_lanes():
            place = "/proc/%d/task/" % bus.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus",
                "GetConnectionUnixProcessID", GLib.Variant("(s)", (name,)), None, 0, -1, None).unpack()[0]
            def read(thread, file):
                with open(place + thread + "/" + file) as opened: return opened.read()
            lanes = [thread for thread in os.listdir(place)
                     if read(thread, "comm").strip() in ("answers", "conversions")]
            assert lanes, "no thread for long calls"
            for lane in lanes:
                # Not in the middle of something that others wait for: it sleeps while others work.
                while True:
                    before = read(lane, "syscall")
                    ask(other, "GetValue", "(ss)", "org.example.Other", "key")
                    if before == read(lane, "syscall") and before != "running\\n": break
                assert ptrace(ATTACH, int(lane), None, None) == 0, os.strerror(ctypes.get_errno())
                os.waitpid(int(lane), ANY_THREAD)
            return [int(lane) for lane in lanes]
        """
    }

    @Test(arguments: [
        ("GetAllValues", "\"(s)\", huge"), ("GetAll", "\"(s)\", huge"),
        ("ListKeys", "\"(s)\", huge"), ("GetChanges", "\"(st)\", huge, 0"),
        ("Attach", "\"(as)\", [huge]"),
    ])
    func `While a huge domain is read, others change and read their own`(
        method: String, arguments: String
    ) throws {
        let output = try desktop.python(
            """
            \(Self.python())
            print(overtakes("\(method)", \(arguments)))
            """, desktop.bus.address
        ).requireOutput()
        #expect(output == "True\n")
    }

    @Test func `While very many domains are listed, others change and read their own`() throws {
        let output = try desktop.python(
            """
            \(Self.python(keys: 1))
            for number in range(8000):
                send("made", bus, "SetValue", "(ssv)", f"org.example.Made{number}", "key",
                     GLib.Variant("i", number))
                if number % 500 == 0:
                    while events.count("made") <= number: GLib.MainContext.default().iteration(True)
            while events.count("made") < 8000: GLib.MainContext.default().iteration(True)
            print(overtakes("ListDomains", "()"), len(answers["long"].unpack()[0]))
            """, desktop.bus.address
        ).requireOutput()
        #expect(output == "True 8002\n")
    }

    @Test func `While a value of many megabytes is set and shown, others continue`() throws {
        let output = try desktop.python(
            """
            \(Self.python(keys: 1))
            large = {f"key {number:06} {'x' * 60}": GLib.Variant("i", number)
                     for number in range(100_000)}
            value = GLib.Variant("a{sv}", large)
            print(overtakes("SetValue", "(ssv)", huge, "large", value),
                  overtakes("GetValue", "(ss)", huge, "large"),
                  overtakes("ApplyValues", "(sa{sv}asa{st}a{sv})", huge, {"large": value}, [], {}, {}))
            assert answers["long"].unpack()[0] > 1
            assert len(ask(bus, "GetValue", "(ss)", huge, "large").unpack()[0]) == 100_000
            """, desktop.bus.address
        ).requireOutput()
        #expect(output == "True True True\n")
    }

    @Test func `A caller's later change does not overtake its long read`() throws {
        let output = try desktop.python(
            """
            \(Self.python())
            for round in range(5):
                events.clear()
                send("read", bus, "GetAllValues", "(s)", huge)
                send("change", bus, "SetValue", "(ssv)", huge, "key 000001", GLib.Variant("i", -round))
                send("later", bus, "GetValue", "(ss)", huge, "key 000001")
                wait("read", "change", "later")
                assert events == ["read", "change", "later"], events
                values, _, generation = answers["read"].unpack()
                assert values["key 000001"] == (1 - round if round else 1), round
                assert generation < answers["change"].unpack()[0] or round == 0
                assert answers["later"].unpack()[0] == -round
            print("in order")
            """, desktop.bus.address
        ).requireOutput()
        #expect(output == "in order\n")
    }

    @Test func `A long answer has one generation while others keep changing the domain`() throws {
        let output = try desktop.python(
            """
            \(Self.python())
            made, number = {}, 0
            def change():
                global number
                number += 1
                generation = ask(other, "ApplyValues", "(sa{sv}asa{st}a{sv})", huge,
                    {"key 000000": GLib.Variant("i", -number), "key 019999": GLib.Variant("i", -number)},
                    [], {}, {}).unpack()[0]
                made[generation] = number
            for method in ("GetAllValues", "GetAll", "GetAllValues"):
                events.clear()
                change()
                send("read", bus, method, "(s)", huge)
                while not events:
                    change()
                    if number % 7 == 0: ask(other, "Synchronize", "()")
                    GLib.MainContext.default().iteration(False)
                if method == "GetAll": continue
                values, _, generation = answers["read"].unpack()
                assert values["key 000000"] == values["key 019999"] == -made[generation], generation
            print("one generation")
            """, desktop.bus.address
        ).requireOutput()
        #expect(output == "one generation\n")
    }

    @Test func `SIGTERM during a long call loses neither its answer nor those of later calls`()
        throws
    {
        let daemon = try desktop.startDaemon()
        let output = try desktop.python(
            """
            import os, signal
            \(Self.python())
            send("long", bus, "GetAllValues", "(s)", huge)
            send("behind", bus, "SetValue", "(ssv)", huge, "behind", GLib.Variant("i", 1))
            send("waits", other, "ListKeys", "(s)", huge)
            # It has come to the daemon when a call after it is answered.
            ask(connect(), "GetValue", "(ss)", "org.example.Other", "key")
            os.kill(int(sys.argv[2]), signal.SIGTERM)
            wait("long", "behind", "waits")
            print(len(answers["long"].unpack()[0]), len(answers["waits"].unpack()[0]) >= 20_000,
                  answers["behind"].unpack()[0] > 1)
            """, desktop.bus.address, "\(daemon.processIdentifier)"
        ).requireOutput()
        #expect(output == "20000 True True\n")
        #expect(daemon.waitUntilExit() == 0)
        #expect(
            desktop.call("GetValue", "org.example.Huge", "behind").output.hasPrefix("(<1>")
                || desktop.call("GetValue", "org.example.Huge", "behind").output.contains("1>"))
    }

    @Test func `A damaged value in a long answer is left out, and the store is repaired`()
        throws
    {
        _ = try desktop.python(
            "\(Self.python(keys: 2000))\nask(bus, 'Synchronize', '()')", desktop.bus.address
        ).requireOutput()
        _ = try desktop.waitForDailyBackup()
        try FileManager.default.removeItem(atPath: desktop.backupsPath)
        try desktop.stopDaemon()
        try desktop.damage("key 000777")
        let output = try desktop.python(
            """
            \(Desktop.pythonArchive)
            heard = []
            service.connect("g-signal", lambda _, sender, name, arguments:
                            heard.append(arguments.unpack()))
            print(len(service.GetAll("(s)", "org.example.Huge")[0]))
            while not heard: GLib.MainContext.default().iteration(True)
            print(heard[0][3], len(service.ListKeys("(s)", "org.example.Huge")))
            """
        ).requireOutput()
        #expect(output == "1999\n['key 000777'] 1999\n")
        #expect(desktop.tool("status").output.contains("1 key is lost"))
    }
}
