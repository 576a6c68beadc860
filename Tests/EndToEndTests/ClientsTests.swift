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
}
