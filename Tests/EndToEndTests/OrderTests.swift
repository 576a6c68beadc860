import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// Journal, page, reply, signal: in this order for every change, and the signals of a domain by
/// generation.
@Suite(.startsPrograms, .serialized) struct OrderTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    /// Python that has `events`: what came to the one connection, in its order: ("reply", serial,
    /// generation, the page's generation at that moment) and ("signal", generation, the same).
    private static let python = """
        import mmap, struct, sys
        from gi.repository import Gio, GLib
        name, path = "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1"
        flags = Gio.DBusConnectionFlags
        def connect():
            return Gio.DBusConnection.new_for_address_sync(
                sys.argv[1], flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None)
        bus = connect()
        def attach(domain):
            answer, files = bus.call_with_unix_fd_list_sync(
                name, path, name, "Attach", GLib.Variant("(as)", ([domain],)), None, 0, -1, None, None)
            file, domains, _ = answer.unpack()
            return mmap.mmap(files.get(file), 0, mmap.MAP_SHARED, mmap.PROT_READ), domains[0][1]
        page, slot = attach("a.b")
        def shown(): return struct.unpack_from("=Q", page, 8 * slot)[0]
        events = []
        def note(connection, message, incoming):
            if incoming and message.get_message_type() == Gio.DBusMessageType.METHOD_RETURN:
                body = message.get_body()
                if body and body.get_type_string() == "(t)":
                    events.append(("reply", message.get_reply_serial(), body.unpack()[0], shown()))
            if incoming and message.get_member() == "Changed":
                events.append(("signal", message.get_body().unpack()[4], shown()))
            return message
        bus.add_filter(note)
        bus.signal_subscribe(None, name, "Changed", path, None, 0, lambda *_: None)
        def send(method, signature, *arguments):
            message = Gio.DBusMessage.new_method_call(name, path, name, method)
            message.set_body(GLib.Variant(signature, arguments))
            return bus.send_message(message, Gio.DBusSendMessageFlags.NONE)[1]
        def wait(done):
            context = GLib.MainContext.default()
            while not done(): context.iteration(False)
        """

    @Test func `The page is raised before each reply, and the signal comes after it`() throws {
        let output = try desktop.python(
            """
            \(OrderTests.python)
            for number in range(500):
                send("SetValue", "(ssv)", "a.b", f"key {number % 7}", GLib.Variant("i", number))
            send("RemoveDomain", "(s)", "a.b")
            wait(lambda: len(events) >= 1002)
            replies = [(at, event) for at, event in enumerate(events) if event[0] == "reply"]
            signals = [(at, event) for at, event in enumerate(events) if event[0] == "signal"]
            assert len(replies) == len(signals) == 501 and len(events) == 1002
            for number, (reply, signal) in enumerate(zip(replies, signals)):
                assert reply[0] < signal[0], (reply, signal)
                assert reply[1][2] == signal[1][1] == number + 2, (reply, signal)
                assert reply[1][3] >= reply[1][2], (reply, signal)
            print("in order")
            """, desktop.bus.address
        ).requireOutput()
        #expect(output == "in order\n")
    }

    @Test func `After a kill the next daemon announces what it took from the journal`() throws {
        let output = try desktop.python(
            """
            import os, signal
            \(OrderTests.python)
            heard = []
            bus.signal_subscribe(None, name, "Changed", path, None, 0,
                                 lambda *arguments: heard.append(arguments[5].unpack()))
            def ask(method, signature, *arguments):
                return bus.call_sync(name, path, name, method, GLib.Variant(signature, arguments),
                                     None, 0, -1, None)
            def daemon():
                return bus.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus",
                    "GetConnectionUnixProcessID", GLib.Variant("(s)", (name,)), None, 0, -1, None
                    ).unpack()[0]
            def try_once(number):
                ask("SetValue", "(ssv)", "a.b", "gone", GLib.Variant("i", 1))
                ask("Synchronize", "()")
                process = daemon()
                ask("SetValue", "(ssv)", "a.b", "set", GLib.Variant("i", number))
                last = ask("Remove", "(ss)", "a.b", "gone").unpack()[0]
                os.kill(process, signal.SIGKILL)
                while bus.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus",
                        "NameHasOwner", GLib.Variant("(s)", (name,)), None, 0, -1, None).unpack()[0]:
                    pass
                # It is served by the next daemon, and its signal comes after all that one announces.
                marker = ask("SetValue", "(ssv)", "c.d", "marker", GLib.Variant("i", number)).unpack()[0]
                wait(lambda: any(signal[4] == marker for signal in heard))
                return ("a.b", "domain", ["set"], ["gone"], last, "") in heard
            # A kill may come after the disk has everything.
            print(any(try_once(number) for number in range(1, 50)))
            """, desktop.bus.address
        ).requireOutput()
        #expect(output == "True\n")
    }

    @Test func `Signals of a domain keep the order of generations while a durable change waits`()
        throws
    {
        let output = try desktop.python(
            """
            \(OrderTests.python)
            empty = GLib.Variant("a{sv}", {})
            for round in range(20):
                events.clear()
                durable = send("ApplyValues", "(sa{sv}asa{st}a{sv})", "a.b",
                    {"slow": GLib.Variant("i", round)}, [], {}, {"durable": GLib.Variant("b", True)})
                for number in range(5):
                    send("SetValue", "(ssv)", "a.b", "quick", GLib.Variant("(ii)", (round, number)))
                wait(lambda: sum(event[0] == "signal" for event in events) == 6)
                signals = [event[1] for event in events if event[0] == "signal"]
                assert signals == sorted(signals) and len(set(signals)) == 6, events
                order = [event[:2] for event in events]
                assert order.index(("reply", durable)) < order.index(("signal", signals[0])), events
                for event in events:
                    if event[0] == "reply": assert event[3] >= event[2], events
            print("in order")
            """, desktop.bus.address
        ).requireOutput()
        #expect(output == "in order\n")
    }

    /// Python that has `begin()`, which has `a.b` changed over the daemon's socket from then on, with
    /// many calls under way, and `wait_for_silence()`, which waits until the bus has got no signal for
    /// a thousand changes.
    private static let burst = """
        import os
        def connect():
            return Gio.DBusConnection.new_for_address_sync(
                os.environ["DBUS_SESSION_BUS_ADDRESS"],
                flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None)
        # A monitor has no match rules.
        monitor = connect()
        # The daemon listens when it has answered.
        monitor.call_sync(name, path, "org.freedesktop.DBus.Peer", "Ping", None, None, 0, -1, None)
        changes, signals = [0], [0, 0]
        def note(connection, message, incoming):
            if message.get_member() == "Changed":
                signals[:] = [signals[0] + 1, changes[0]]
            return None if incoming else message
        monitor.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus",
            "org.freedesktop.DBus.Monitoring", "BecomeMonitor",
            GLib.Variant("(asu)", ([f"interface='{name}'"], 0)), None, 0, -1, None)
        monitor.add_filter(note)
        direct = Gio.DBusConnection.new_for_address_sync(
            "unix:path=" + os.environ["XDG_RUNTIME_DIR"] + "/defaultsd/direct",
            flags.AUTHENTICATION_CLIENT, None, None)
        def set_one(number):
            def answered(*_):
                changes[0] += 1
                set_one(number + 64)
            direct.call(None, path, name, "SetValue",
                GLib.Variant("(ssv)", ("a.b", "key", GLib.Variant("x", number))), None, 0, -1, None,
                answered)
        def begin():
            for number in range(64): set_one(number)
        def turn(): GLib.MainContext.default().iteration(True)
        def wait_for_silence():
            while changes[0] < signals[1] + 1000: turn()
        """

    @Test func `Changes that nobody listens to are no signals on the bus`() throws {
        expectDone(
            """
            begin()
            while changes[0] < 2000: turn()
            assert signals[0] == 0, signals
            """)
    }

    @Test func `A program that begins to listen in a burst has all signals from then on`() throws {
        expectDone(
            """
            class Listener:
                def __init__(self):
                    self.bus = connect()
                    self.heard = []
                    self.bus.signal_subscribe(None, name, "Changed", path, None,
                        Gio.DBusSignalFlags.NO_MATCH_RULE,
                        lambda *signal: self.heard.append(signal[5].unpack()[4]))
                    self.bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus",
                        "org.freedesktop.DBus", "AddMatch",
                        GLib.Variant("(s)", (f"interface='{name}',arg0='a.b'",)), None, 0, -1, None)
                    # The number of a change that was made when the rule was there.
                    self.first = self.bus.call_sync(name, path, "org.freedesktop.DBus.Properties",
                        "Get", GLib.Variant("(ss)", (name, "Generation")), None, 0, -1,
                        None).unpack()[0] + 1
            begin()
            for step in range(5):
                wait_for_silence()
                listener = Listener()
                last = listener.first + 500
                while not listener.heard or listener.heard[-1] < last: turn()
                heard = [number for number in listener.heard if number >= listener.first]
                assert signals[0] >= 500, signals
                assert heard[:501] == list(range(listener.first, last + 1)), (step, heard[:3], listener.first)
                listener.bus.close_sync()
            """)
    }

    private func expectDone(_ program: String) {
        let result = desktop.run([
            "/usr/bin/python3", "-c",
            """
            from gi.repository import Gio, GLib
            name, path = "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1"
            flags = Gio.DBusConnectionFlags
            \(Self.burst)
            \(program)
            print("done")
            """,
        ])
        #expect(result.output == "done\n", "\(result)")
    }
}
