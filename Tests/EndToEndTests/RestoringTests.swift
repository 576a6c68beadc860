import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// The restoration of a backup by a daemon that continues to serve.
@Suite(.startsPrograms, .serialized) struct RestoringTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    @Test
    func `A dry run with more keys than a reply can hold says so, and changes nothing`()
        throws
    {
        let output = try desktop.python(
            """
            \(Desktop.pythonEverything)
            names = {f"{n:01024}": GLib.Variant("b", True) for n in range(16000)}
            for domain in ["a.a", "b.b", "c.c"]:
                service.ApplyValues("(sa{sv}asa{st}a{sv})", domain, names, [], {}, {})
            name = maintenance.BackUp()
            for domain in service.ListDomains(): service.RemoveDomain("(s)", domain)
            try:
                maintenance.Restore("(ssasb)", name, "", [], True)
                print("restored")
            except GLib.Error as error:
                print(Gio.DBusError.get_remote_error(error), error.message.split(": ", 1)[1])
            undo, set, removed, damaged, locked, changes = maintenance.Restore(
                "(ssasb)", name, "", ["b.b"], True)
            assert undo == "" and set == 16000 and len(changes[0][1]) == 16000, (undo, set)
            assert service.ListDomains() == []
            """
        ).requireOutput()
        #expect(output.hasPrefix("org.defaultsd.Defaults1.Error.TooLarge "), "\(output)")
        #expect(output.hasSuffix("Restore fewer domains at a time.\n"), "\(output)")
        #expect(try desktop.backupNames("undo").isEmpty)
    }

    @Test func `Others write and read while a large backup is restored, and memory stays bounded`()
        throws
    {
        let output = try desktop.python(
            """
            \(Desktop.pythonEverything)
            import threading
            text = {f"key{i}": GLib.Variant("s", "x" * 100) for i in range(5000)}
            for part in range(6):
                for domain in ["org.example.Large", f"org.example.Part{part}"]:
                    entries = {f"{part}-{key}": value for key, value in text.items()}
                    service.ApplyValues("(sa{sv}asa{st}a{sv})", domain, entries, [], {}, {})
            # GetAll gives the keys in order, so the bytes of its replies can be compared.
            def whole(domain):
                return service.get_connection().call_sync("org.defaultsd.Defaults1",
                    "/org/defaultsd/Defaults1", "org.defaultsd.Defaults1", "GetAll",
                    GLib.Variant("(s)", (domain,)), None, 0, -1, None
                    ).get_child_value(0).get_data_as_bytes().get_data()
            before = {domain: whole(domain) for domain in service.ListDomains()}
            assert len(before) == 7
            name = maintenance.BackUp()
            for domain in before: service.RemoveDomain("(s)", domain)
            done, written = threading.Event(), []
            def write():
                own = Gio.DBusConnection.new_for_address_sync(sys.argv[1],
                    Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
                    | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
                while not done.is_set():
                    n = len(written)
                    own.call_sync("org.defaultsd.Defaults1", "/org/defaultsd/Defaults1",
                        "org.defaultsd.Defaults1", "Set",
                        GLib.Variant("(ssay)", ("org.example.Other", f"key{n}", number(n))),
                        None, 0, -1, None)
                    written.append(n)
            writer = threading.Thread(target=write)
            writer.start()
            undo, set, removed, damaged, locked = maintenance.RestoreBackup("(s)", name)
            done.set()
            writer.join()
            # The domain is in no backup: what was there at the end of the restoration was removed.
            assert {domain: whole(domain) for domain in before} == before
            assert set == 60000 and damaged == 0, (set, removed)
            assert len(written) > 10, len(written)
            print("restored")
            """, desktop.bus.address
        ).requireOutput()
        #expect(output == "restored\n")
        #expect(try desktop.residentKilobytes() < 60_000)
    }
}
