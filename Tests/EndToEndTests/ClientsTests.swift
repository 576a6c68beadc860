import TestSupport
import TestTiers
import Testing

/// Programs of other projects store and read through the running service.
@Suite(.startsPrograms, .serialized) struct ClientsTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    @Test func `gdbus stores an object, busctl and dbus-send read it`() throws {
        let account = "<{'$class': <'Account'>, 'username': <'ada'>}>"
        #expect(
            desktop.call("SetValue", "org.example.App", "CurrentUser", account).output
                == "(uint64 2,)\n")
        #expect(
            desktop.call("GetValue", "org.example.App", "CurrentUser").output
                == "(<{'$class': <'Account'>, 'username': <'ada'>}>, uint64 2)\n")
        let busctl = try desktop.busctl("GetValue", "ss", "org.example.App", "CurrentUser")
            .requireOutput()
        #expect(busctl == "vt a{sv} 2 \"$class\" s \"Account\" \"username\" s \"ada\" 2\n")
        let dbusSend = try desktop.run(
            "dbus-send", "--print-reply=literal", "--dest=org.defaultsd.Defaults1",
            "/org/defaultsd/Defaults1", "org.defaultsd.Defaults1.GetValue",
            "string:org.example.App", "string:CurrentUser"
        ).requireOutput()
        #expect(dbusSend.contains("username") && dbusSend.contains("ada"))
    }

    @Test func `An archive by plistlib comes back byte for byte, and the reverse`() throws {
        let output = try desktop.python(
            """
            \(Desktop.pythonArchive)
            assert service.Set("(ssay)", "org.example.App", "Key", archive) == 2
            back, generation = service.Get("(ss)", "org.example.App", "Key")
            assert bytes(back) == archive and generation == 2
            assert service.GetValue("(ss)", "org.example.App", "Key") == (
                {"$class": "Account", "username": "ada"}, 2)
            service.SetValue("(ssv)", "org.example.App", "Ours", GLib.Variant(
                "a{sv}", {"$class": GLib.Variant("s", "Account"),
                          "username": GLib.Variant("s", "ada")}))
            ours, _ = service.Get("(ss)", "org.example.App", "Ours")
            print(plistlib.loads(bytes(ours))["$objects"])
            """
        ).requireOutput()
        #expect(
            output == """
                ['$null', {'$class': UID(3), 'username': UID(2)}, 'ada', \
                {'$classname': 'Account', '$classes': ['Account', 'NSObject']}]

                """)
    }

    @Test(arguments: [
        ("<true>", "<true>"), ("<byte 0x07>", "<int64 7>"), ("<int32 -5>", "<int64 -5>"),
        ("<uint64 18446744073709551615>", "<uint64 18446744073709551615>"), ("<1.5>", "<1.5>"),
        ("<'text'>", "<'text'>"), ("<objectpath '/a'>", "<'/a'>"), ("<signature 'as'>", "<'as'>"),
        ("<b'ab'>", "<b'ab'>"), ("<[1, 2]>", "<[<int64 1>, <int64 2>]>"),
        ("<('a', true)>", "<[<'a'>, <true>]>"), ("<<'nested'>>", "<'nested'>"),
        ("<{'b': 1, 'a': 2}>", "<{'a': <int64 2>, 'b': <int64 1>}>"),
        ("<{'$class': <'$null'>}>", "<{'$class': <'$null'>}>"),
        (
            "<{'$class': <'NSDate'>, 'NS.time': <725760000.0>}>",
            "<{'$class': <'NSDate'>, 'NS.time': <725760000.0>}>"
        ),
        (
            "<{'$class': <'NSSet'>, 'NS.objects': <[<'a'>]>}>",
            "<{'$class': <'NSSet'>, 'NS.objects': <[<'a'>]>}>"
        ),
        (
            "<{'$class': <'NSDictionary'>, 'NS.keys': <[<1>]>, 'NS.objects': <[<'one'>]>}>",
            "<{'$class': <'NSDictionary'>, 'NS.keys': <[<int64 1>]>, 'NS.objects': <[<'one'>]>}>"
        ),
        (
            "<{'$class': <'A'>, 'n': <{'$class': <'NSNumber'>, '$value': <42>}>}>",
            "<{'$class': <'A'>, 'n': <{'$class': <'NSNumber'>, '$value': <int64 42>}>}>"
        ),
        ("<@av []>", "<@av []>"), ("<@a{sv} {}>", "<@a{sv} {}>"),
    ])
    func `A D-Bus value comes back in the value form`(sent: String, expected: String) {
        #expect(desktop.call("SetValue", "org.example.App", "Key", sent).status == 0)
        let answer = desktop.call("GetValue", "org.example.App", "Key").output
        #expect(answer == "(\(expected), uint64 2)\n")
    }

    @Test func `Keys and domains are listed in order, and a removal takes them away`() {
        for key in ["Zebra", "apple", "Ärger"] {
            desktop.call("SetValue", "org.example.App", key, "<1>")
        }
        desktop.call("SetValue", "org.example.Game@host", "Key", "<1>")
        desktop.call("SetValue", "NSGlobalDomain", "Key", "<1>")
        #expect(
            desktop.call("ListKeys", "org.example.App").output == "(['Zebra', 'apple', 'Ärger'],)\n"
        )
        #expect(
            desktop.call("ListDomains").output
                == "(['NSGlobalDomain', 'org.example.App', 'org.example.Game@host'],)\n")
        #expect(desktop.call("Remove", "NSGlobalDomain", "Key").output == "(uint64 7,)\n")
        #expect(
            desktop.call("ListDomains").output
                == "(['org.example.App', 'org.example.Game@host'],)\n")
    }

    @Test func `Each change is reported once, and the same value not at all`() throws {
        let output = try desktop.python(
            """
            \(Desktop.pythonArchive)
            told = []
            bus.signal_subscribe(
                None, "org.defaultsd.Defaults1", "Changed", None, None, 0,
                lambda *call: told.append(call[5].unpack()))
            set_value = lambda domain, value: service.SetValue(
                "(ssv)", domain, "Key", GLib.Variant("b", value))
            assert set_value("org.example.App", True) == 2
            assert set_value("org.example.App", True) == 2
            assert set_value("org.example.App@host", True) == 3
            assert service.Remove("(ss)", "org.example.App", "Key") == 4
            assert service.Remove("(ss)", "org.example.App", "Key") == 4
            while len(told) < 3: GLib.MainContext.default().iteration(True)
            service.ListDomains()
            while GLib.MainContext.default().iteration(False): pass
            me = bus.get_unique_name()
            assert told == [
                ("org.example.App", "domain", ["Key"], [], 2, me),
                ("org.example.App", "host", ["Key"], [], 3, me),
                ("org.example.App", "domain", [], ["Key"], 4, me)], told
            print("as told")
            """
        ).requireOutput()
        #expect(output == "as told\n")
    }

    @Test func `An object whose field is named like an element before the first is an object`()
        throws
    {
        let output = try desktop.python(
            """
            \(Desktop.pythonArchive)
            odd = dumps({**contents, "$objects": ["$null", {"$class": UID(2), "NS.object.-1": UID(0)},
                {"$classname": "NSArray", "$classes": ["NSArray", "NSObject"]}]})
            service.Set("(ssay)", "org.example.App", "Key", odd)
            print(service.GetValue("(ss)", "org.example.App", "Key"))
            """
        ).requireOutput()
        #expect(
            output == "({'$class': 'NSArray', 'NS.object.-1': {'$class': '$null'}}, 2)\n")
    }

    @Test func `The same graph in other bytes is not a change`() throws {
        let output = try desktop.python(
            """
            \(Desktop.pythonArchive)
            def archive_of(order):
                return dumps({"$version": 100000, "$archiver": "NSKeyedArchiver",
                    "$top": {"root": UID(1)},
                    "$objects": ["$null", {"$class": UID(2), "NS.keys": [UID(3 + i) for i in order],
                        "NS.objects": [UID(5 + i) for i in order]},
                        {"$classname": "NSDictionary", "$classes": ["NSDictionary", "NSObject"]},
                        "a", "b", "one", "two"]})
            one, other = archive_of([0, 1]), archive_of([1, 0])
            assert one != other
            assert service.Set("(ssay)", "org.example.App", "Key", one) == 2
            assert service.Set("(ssay)", "org.example.App", "Key", other) == 2
            print("no change")
            """
        ).requireOutput()
        #expect(output == "no change\n")
    }
}
