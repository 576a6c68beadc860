import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// Whole domains and their changes, and how much of it one reply contains.
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
        def put(entries, domain=domain):
            set = GLib.VariantBuilder(GLib.VariantType("a{say}"))
            for key, content in entries.items():
                set.add_value(GLib.Variant.new_dict_entry(text(key), data(content)))
            empty = (GLib.Variant("as", []), GLib.Variant("a{st}", {}), GLib.Variant("a{sv}", {}))
            return call("Apply", text(domain), set.end(), *empty).unpack()[0]
        def contents(entries):
            pairs = [entries.get_child_value(number) for number in range(entries.n_children())]
            return {pair.get_child_value(0).get_string():
                    pair.get_child_value(1).get_data_as_bytes().get_data() for pair in pairs}
        def get_all(domain): return contents(call("GetAll", text(domain)).get_child_value(0))
        def get_changes(domain, since):
            reply = call("GetChanges", text(domain), GLib.Variant("t", since))
            return contents(reply.get_child_value(0)), *[
                reply.get_child_value(number).unpack() for number in range(1, 5)]
        def refusal(method, *arguments):
            try: return call(method, *arguments)
            except GLib.Error as error:
                return Gio.DBusError.get_remote_error(error).rpartition(".")[2], error.message
        """

    @Test func `GetAll gives every archive byte for byte, in the order of the keys`() throws {
        let output = try desktop.python(
            """
            \(BulkTests.python)
            entries = {f"key {number:03}": blob(number, number % 7) for number in range(300)}
            generation = put(dict(reversed(entries.items())))
            got = get_all(domain)
            assert got == entries and list(got) == sorted(entries)
            put({"x": blob(1)}, domain + "@host")
            assert list(get_all(domain + "@host")) == ["x"]
            print(generation, service.GetAll("(s)", "org.example.Absent"),
                  service.GetAll("(s)", domain + "@managed"))
            """
        ).requireOutput()
        #expect(output == "2 ({}, 3) ({}, 3)\n")
    }

    @Test
    func `If a reply would be larger than 32 MiB, TooLarge says what to call instead`() throws {
        let output = try desktop.python(
            """
            \(BulkTests.python)
            mebibyte = 1 << 20
            def set(key, size): call("Set", text(domain), text(key), data(blob(size)))
            for number in range(3): set(f"{number}", 10 * mebibyte)
            assert len(get_all(domain)) == 3
            set("3", 2 * mebibyte)
            for method in ("GetAll", "GetAllValues"):
                name, message = refusal(method, text(domain))
                assert name == "TooLarge" and "GetChanges" in message, (name, message)
            assert get_changes(domain, 0) == ({}, ["0", "1", "2", "3"], [], 5, False)
            assert call("Get", text(domain), text("2")).get_size() > 10 * mebibyte
            print("seen")
            """
        ).requireOutput()
        #expect(output == "seen\n")
    }

    @Test func `Entries above 64 KiB, and those after the first 4 MiB, are named in large`() throws
    {
        let output = try desktop.python(
            """
            \(BulkTests.python)
            overhead = len(blob(60000)) - 60000
            limit = 64 << 10
            put({"at": blob(limit - overhead), "above": blob(limit - overhead + 1)})
            changed, large, *_ = get_changes(domain, 1)
            assert len(changed["at"]) == limit and large == ["above"], large
            other = "org.example.Many"
            put({f"{number:03}": blob(60000) for number in range(100)}, other)
            changed, large, removed, at, complete = get_changes(other, 1)
            sent = sum(len(value) for value in changed.values())
            assert 4 * (1 << 20) - limit < sent <= 4 * (1 << 20), sent
            assert sorted(changed) + large == [f"{number:03}" for number in range(100)] and complete
            print("seen")
            """
        ).requireOutput()
        #expect(output == "seen\n")
    }

    @Test func `GetAllValues names what D-Bus cannot carry, and returns the rest`() throws {
        let output = try desktop.python(
            """
            \(BulkTests.python)
            def nested(depth):
                value = GLib.Variant("i", 1)
                for _ in range(depth): value = GLib.Variant("av", [value])
                return value
            service.Set("(ssay)", domain, "cycle", dumps({"$version": 100000,
                "$archiver": "NSKeyedArchiver", "$top": {"root": UID(1)}, "$objects": ["$null",
                {"$class": UID(2), "me": UID(1)}, {"$classname": "A", "$classes": ["A"]}]}))
            service.SetValue("(ssv)", domain, "deepest", nested(30))
            service.SetValue("(ssv)", domain, "plain", GLib.Variant("s", "text"))
            assert service.GetValue("(ss)", domain, "deepest")
            values, unrepresentable, at = service.GetAllValues("(s)", domain)
            print(sorted(values), unrepresentable, at)
            service.SetValue("(ssv)", domain, "deeper", nested(31))
            assert service.GetValue("(ss)", domain, "deeper")
            values, unrepresentable, at = service.GetAllValues("(s)", domain)
            print(sorted(values), unrepresentable, at)
            """
        ).requireOutput()
        #expect(
            output == """
                ['deepest', 'plain'] ['cycle'] 4
                ['deepest', 'plain'] ['cycle', 'deeper'] 5

                """)
    }

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

    /// 22 arrays, each twice the one before, in some hundred bytes.
    private static let bomb = """
        def bomb():
            objects = ["$null", "x", {"$classname": "NSArray", "$classes": ["NSArray", "NSObject"]}]
            for _ in range(22):
                last = UID(len(objects) - 1 if len(objects) > 3 else 1)
                objects.append({"NS.objects": [last, last], "$class": UID(2)})
            return dumps({"$version": 100000, "$archiver": "NSKeyedArchiver",
                "$top": {"root": UID(len(objects) - 1)}, "$objects": objects})
        """

    @Test func `GetAllValues limits its work on values that it leaves out`() throws {
        let output = try desktop.python(
            """
            \(BulkTests.python)
            \(BulkTests.bomb)
            put({"bomb": bomb(), "plain": blob(1)})
            values, unrepresentable, _ = service.GetAllValues("(s)", domain)
            assert list(values) == ["plain"] and unrepresentable == ["bomb"], unrepresentable
            # They are counted and not made, so that a hundred of them cost hardly more than one.
            put({f"bomb {number:02}": bomb() for number in range(100)})
            values, unrepresentable, _ = service.GetAllValues("(s)", domain)
            assert list(values) == ["plain"] and len(unrepresentable) == 101, unrepresentable
            print("seen")
            """
        ).requireOutput()
        #expect(output == "seen\n")
    }

    @Test func `The names of values that GetAllValues cannot show count for its reply`() throws {
        let output = try desktop.python(
            """
            \(BulkTests.python)
            cycle = dumps({"$version": 100000, "$archiver": "NSKeyedArchiver",
                "$top": {"root": UID(1)}, "$objects": ["$null",
                {"$class": UID(2), "me": UID(1)}, {"$classname": "A", "$classes": ["A"]}]})
            for part in range(10):
                put({f"{part} {number:03} " + "k" * 1000: cycle for number in range(1000)})
            put({"plain": blob(15 << 20)})
            put({"plain too": blob(8 << 20)})
            name, message = refusal("GetAllValues", text(domain))
            assert name == "TooLarge", (name, message)
            call("Remove", text(domain), text("plain too"))
            values, unrepresentable, _ = [
                call("GetAllValues", text(domain)).get_child_value(part) for part in range(3)]
            print(values.n_children(), unrepresentable.n_children())
            """
        ).requireOutput()
        #expect(output == "1 10000\n")
    }

    @Test func `Changes are known after a restart or a crash, but not after a lost journal`()
        throws
    {
        desktop.call("SetValue", "org.example.App", "a", "<1>")
        desktop.call("SetValue", "org.example.App", "b", "<1>")
        desktop.call("Remove", "org.example.App", "a")
        desktop.call("SetValue", "org.example.App@host", "c", "<1>")
        func changes(since generation: String, in domain: String = "org.example.App") throws
            -> String
        {
            let output = try desktop.python(
                """
                \(BulkTests.python)
                import sys
                changed, large, removed, at, complete = service.GetChanges(
                    "(st)", sys.argv[1], int(sys.argv[2]))
                print(sorted(changed), large, removed, complete)
                """, domain, generation
            ).requireOutput()
            return String(output.dropLast())
        }
        func check() throws {
            #expect(try changes(since: "2") == "['b'] [] ['a'] True")
            #expect(try changes(since: "3") == "[] [] ['a'] True")
            #expect(try changes(since: "5") == "[] [] [] True")
            #expect(try changes(since: "6") == "['b'] [] [] False")
            // It was removed for all that is known, and values before that may have been others.
            #expect(try changes(since: "0") == "['b'] [] ['a'] False")
            #expect(try changes(since: "4", in: "org.example.App@host") == "['c'] [] [] True")
        }
        try check()
        try desktop.killDaemon(SIGKILL)
        try check()
        try desktop.killDaemon(SIGTERM)
        try check()
        // As after a power cut: the runtime directory is gone.
        try desktop.killDaemon(SIGKILL)
        try FileManager.default.removeItem(atPath: desktop.directory.path + "/runtime/defaultsd")
        // What was on the disk is known; nobody can say what came after it.
        #expect(try changes(since: "5") == "[] [] [] True")
        #expect(try changes(since: "6") == "['b'] [] [] False")
        let landing = try #require(
            UInt64(desktop.property("Generation").filter(\.isNumber).dropFirst(2)))
        #expect(try changes(since: "\(landing)") == "[] [] [] True")
    }

    @Test func `A restored backup makes later changes incomplete`() throws {
        desktop.call("SetValue", "org.example.App", "a", "<1>")
        desktop.call("Synchronize")
        try desktop.stopDaemon()
        let backup = desktop.directory.path + "/backup.db"
        try FileManager.default.copyItem(atPath: desktop.databasePath, toPath: backup)
        desktop.call("SetValue", "org.example.App", "b", "<1>")
        try desktop.stopDaemon()
        try FileManager.default.removeItem(atPath: desktop.databasePath)
        try FileManager.default.copyItem(atPath: backup, toPath: desktop.databasePath)
        let answer = desktop.call("GetChanges", "org.example.App", "3").output
        #expect(answer.hasSuffix("false)\n"))
        #expect(answer.contains("'a': [") && !answer.contains("'b'"))
    }

    @Test func `A removed domain is reported key by key, a very large one as incomplete`() throws {
        let output = try desktop.python(
            """
            \(BulkTests.python)
            def fill(domain, count):
                service.ApplyValues("(sa{sv}asa{st}a{sv})", domain,
                    {f"{number:05}": GLib.Variant("i", number) for number in range(count)}, [], {}, {})
            fill("few.keys", 3); fill("many.keys", 3000)
            few = service.RemoveDomain("(s)", "few.keys")
            many = service.RemoveDomain("(s)", "many.keys")
            assert service.RemoveDomain("(s)", "many.keys") == many
            def told(domain, since):
                changed, large, removed, at, complete = service.GetChanges("(st)", domain, since)
                return len(changed), removed, complete
            def check():
                print(told("few.keys", 2), told("many.keys", 3), told("many.keys", many),
                      service.ListDomains(), service.ListKeys("(s)", "many.keys"))
            check()
            service.Synchronize()
            check()
            """
        ).requireOutput()
        let told = "(0, ['00000', '00001', '00002'], True) (0, [], False) (0, [], True) [] []\n"
        #expect(output == told + told)
    }
}
