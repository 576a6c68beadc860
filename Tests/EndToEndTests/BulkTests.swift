import TestSupport
import TestTiers
import Testing

/// Calls with very many names.
@Suite(.startsPrograms, .serialized) struct BulkTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    /// Python that has `blob(n)`, an archive of n bytes of data and some hundred more, and calls that
    /// hand bytes on as they are: PyGObject would make a number of each.
    static let python = """
        \(Desktop.pythonArchive)
        def blob(size, mark=0):
            return dumps({"$version": 100000, "$archiver": "NSKeyedArchiver",
                "$top": {"root": UID(1)}, "$objects": ["$null", bytes([mark]) * size]})
        domain = "org.example.App"
        def call(method, *arguments):
            return bus.call_sync("org.defaultsd.Defaults1", "/org/defaultsd/Defaults1",
                "org.defaultsd.Defaults1", method, GLib.Variant.new_tuple(*arguments), None, 0, -1, None)
        text = lambda string: GLib.Variant("s", string)
        data = lambda content: GLib.Variant.new_from_bytes(
            GLib.VariantType("ay"), GLib.Bytes.new(content), True)
        def refusal(method, *arguments):
            try: return call(method, *arguments)
            except GLib.Error as error:
                return Gio.DBusError.get_remote_error(error).rpartition(".")[2], error.message
        """

    @Test
    func `Calls with very many names are TooLarge before their contents are checked`() throws {
        let output = try desktop.python(
            """
            \(BulkTests.python)
            service.SetValue("(ssv)", domain, "key", GLib.Variant("i", 1))
            name, message = refusal("Attach", GLib.Variant("as", ["a"] * 16385))
            assert name == "TooLarge" and "16384" in message, (name, message)
            assert call("Attach", GLib.Variant("as", ["a"] * 16384)).get_child_value(1).n_children()
            strings = lambda number: [f"{key}" for key in range(number)]
            def apply(removed, expected):
                return refusal("Apply", text(domain), GLib.Variant("a{say}", {}),
                    GLib.Variant("as", removed), GLib.Variant("a{st}", expected),
                    GLib.Variant("a{sv}", {}))
            half = 1 << 17
            name, message = apply(["key", *strings(half)], dict.fromkeys(strings(half), 0))
            assert name == "TooLarge" and "262144" in message, (name, message)
            assert apply(strings(half), dict.fromkeys(strings(half), 0)).unpack() == (2,)
            print(service.ListKeys("(s)", domain))
            """
        ).requireOutput()
        #expect(output == "['key']\n")
    }
}
