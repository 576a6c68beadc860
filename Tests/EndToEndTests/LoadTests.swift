import Glibc
import TestSupport
import TestTiers
import Testing

/// Very many keys, and very large values one after the other.
@Suite(.startsPrograms, .serialized) struct LoadTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    @Test func `100 000 keys are set, read in every way and removed, and leave no memory behind`()
        throws
    {
        let output = try desktop.python(
            """
            \(BulkTests.python)
            entries = GLib.VariantBuilder(GLib.VariantType("a{sv}"))
            for number in range(100_000):
                entries.add_value(GLib.Variant.new_dict_entry(
                    text(f"key {number:06}"), GLib.Variant.new_variant(GLib.Variant("i", number))))
            empty = (GLib.Variant("as", []), GLib.Variant("a{st}", {}), GLib.Variant("a{sv}", {}))
            call("ApplyValues", text(domain), entries.end(), *empty)
            for _ in range(2):
                assert call("ListKeys", text(domain)).get_child_value(0).n_children() == 100_000
                for method in ("GetAll", "GetAllValues"):
                    assert call(method, text(domain)).get_child_value(0).n_children() == 100_000
                for since in (0, 1):
                    reply = call("GetChanges", text(domain), GLib.Variant("t", since))
                    told = sum(reply.get_child_value(part).n_children() for part in (0, 1))
                    assert told == 100_000 and reply.get_child_value(4).unpack() == bool(since)
                attached = call("Attach", GLib.Variant("as", [domain]))
                assert attached.get_child_value(1).get_child_value(0).get_child_value(2).n_children()
                call("Synchronize")
            name, message = refusal("Attach", GLib.Variant("as", [domain] * 40))
            assert name == "TooLarge", (name, message)
            call("RemoveDomain", text(domain))
            call("Synchronize")
            print(call("ListDomains"))
            """
        ).requireOutput()
        #expect(output == "(@as [],)\n")
        try wait { try desktop.residentKilobytes() < 8_000 }
    }

    @Test func `Values of 15 MiB one after the other wait for the disk rather than fail`() throws {
        let output = try desktop.python(
            """
            \(BulkTests.python)
            value = data(blob(15 << 20))
            generations = [call("Set", text(domain), text(f"{number}"), value).unpack()[0]
                           for number in range(12)]
            assert generations == list(range(2, 14)), generations
            print(call("Synchronize"))
            """
        ).requireOutput()
        #expect(output == "(uint64 13,)\n")
        try wait { try desktop.residentKilobytes() < 8_000 }
    }

    @Test
    func `While changes wait for a slow disk they are not refused, and reads continue`() throws {
        let disk = try desktop.holdDisk()
        let output = try desktop.python(
            """
            \(BulkTests.python)
            import os, signal, sys
            flags = Gio.DBusConnectionFlags
            other = Gio.DBusConnection.new_for_address_sync(sys.argv[1],
                flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None)
            def ask(connection, method, arguments, done=None):
                asked = ("org.defaultsd.Defaults1", "/org/defaultsd/Defaults1",
                    "org.defaultsd.Defaults1", method, arguments, None, 0, -1, None)
                return connection.call(*asked, done) if done else connection.call_sync(*asked)
            events = []
            def note(name):
                def done(connection, result):
                    try: events.append((name, *connection.call_finish(result).unpack()))
                    except GLib.Error as error: events.append((name, error.message))
                return done
            # The first begins a flush, the second waits for the next one, and there is no room for
            # the third before that one has ended, too.
            call("Set", text(domain), text("a"), data(blob(9 << 20)))
            call("Set", text(domain), text("b"), data(blob(15 << 20)))
            entries = GLib.VariantBuilder(GLib.VariantType("a{say}"))
            for number in range(4):
                entries.add_value(
                    GLib.Variant.new_dict_entry(text(f"{number}"), data(blob(13 << 20))))
            empty = (GLib.Variant("as", []), GLib.Variant("a{st}", {}), GLib.Variant("a{sv}", {}))
            ask(bus, "Apply",
                GLib.Variant.new_tuple(text(domain), entries.end(), *empty), note("large"))
            bus.flush_sync()
            # On the same connection, behind it, and on another one.
            ask(bus, "ListKeys", GLib.Variant("(s)", (domain,)), note("behind"))
            # The bus answers in order, so it has passed them on when it answers.
            bus.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId", None, None, 0, -1,
                          None)
            for read in range(100):
                assert ask(other, "ListKeys", GLib.Variant("(s)", (domain,))).unpack() == (["a", "b"],)
                GLib.MainContext.default().iteration(False)
            assert not events, events
            os.kill(int(sys.argv[2]), signal.SIGKILL)
            while len(events) < 2: GLib.MainContext.default().iteration(True)
            print(events)
            """, desktop.bus.address, "\(disk.processIdentifier)"
        ).requireOutput()
        let keys = "['0', '1', '2', '3', 'a', 'b']"
        #expect(output == "[('large', 4), ('behind', \(keys))]\n")
        #expect(disk.waitUntilExit() == SIGKILL + 128)
    }

    @Test func `A transaction that could never wait for the disk is TooLarge, not StorageFailed`()
        throws
    {
        let output = try desktop.python(
            """
            \(BulkTests.python)
            small = data(blob(1))
            entries = GLib.VariantBuilder(GLib.VariantType("a{say}"))
            for number in range(260_000):
                entries.add_value(GLib.Variant.new_dict_entry(text(f"{number}"), small))
            empty = (GLib.Variant("as", []), GLib.Variant("a{st}", {}), GLib.Variant("a{sv}", {}))
            name, message = refusal("Apply", text(domain), entries.end(), *empty)
            assert name == "TooLarge" and message.endswith("smaller changes."), (name, message)
            print(call("ListDomains"))
            """
        ).requireOutput()
        #expect(output == "(@as [],)\n")
    }
}
