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
