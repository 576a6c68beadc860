import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// The interface of a backend of the Settings portal.
@Suite(.startsPrograms, .serialized) struct PortalTests {
    private let portal: PortalDesktop
    private var desktop: Desktop { portal.desktop }
    private static let notFound = "org.freedesktop.portal.Error.NotFound"

    init() throws { portal = try PortalDesktop() }

    @Test func `What people write is what programs get, with the types of the portal`() throws {
        #expect(portal.read("color-scheme") == Self.notFound)
        #expect(portal.readAll() == "@a{sa{sv}} {}")
        try portal.write("color-scheme", "-int", "1")
        #expect(portal.read("color-scheme") == "uint32 1")
        try portal.write("color-scheme", "prefer-light")
        #expect(portal.read("color-scheme") == "uint32 2")
        try portal.write("contrast", "-bool", "true")
        try portal.write("reduced-motion", "0")
        for words in [
            ["-array", "-float", "0", "-float", "0.5", "-int", "1"], ["(0, 0.5, 1)"],
            ["--json", "[0, 0.5, 1]"],
            ["--json", #"{"$class":"GVariant","type":"(ddd)","value":[0.0,0.5,1.0]}"#],
        ] {
            try desktop.tool(["write", PortalDesktop.domain, "accent-color"] + words)
                .requireOutput()
            #expect(portal.read("accent-color") == "(0.0, 0.5, 1.0)", "\(words)")
        }
        try desktop.tool("delete", PortalDesktop.domain, "accent-color").requireOutput()
        try portal.write("accent-color", "#00ff33")
        #expect(
            portal.readAll()
                == "{'org.freedesktop.appearance': {'color-scheme': <uint32 2>, "
                + "'accent-color': <(0.0, 1.0, 0.20000000000000001)>, 'contrast': <uint32 1>, "
                + "'reduced-motion': <uint32 0>}}")
        let version = portal.call(
            "org.freedesktop.DBus.Properties.Get", "org.freedesktop.impl.portal.Settings", "version"
        )
        #expect(version.output == "(<uint32 1>,)\n")
    }

    @Test func `Hostile patterns are answered`() throws {
        let output = try desktop.python(
            """
            from gi.repository import Gio, GLib
            bus = Gio.bus_get_sync(Gio.BusType.SESSION)
            def all(patterns):
                return bus.call_sync("\(PortalDesktop.name)", "/org/freedesktop/portal/desktop",
                    "org.freedesktop.impl.portal.Settings", "ReadAll", GLib.Variant("(as)", (patterns,)),
                    None, 0, -1, None).unpack()[0]
            assert all(["x" * (8 << 20)]) == {}
            assert all(["*" * 100000]) == {}
            assert all(["é*", "\\U0001F600"] * 100000) == {}
            assert all(["org.example.*"] * 500000 + ["org.freedesktop.appearance"]) == {}
            for arguments in [GLib.Variant("(s)", ("*",)), GLib.Variant("(aas)", ([["*"]],)), None]:
                try:
                    bus.call_sync("\(PortalDesktop.name)", "/org/freedesktop/portal/desktop",
                        "org.freedesktop.impl.portal.Settings", "ReadAll", arguments, None, 0, -1, None)
                except GLib.Error as error: print(Gio.DBusError.get_remote_error(error))
            """
        ).requireOutput()
        #expect(
            output == String(repeating: "org.freedesktop.DBus.Error.InvalidArgs\n", count: 3))
    }

    @Test(.enabled(if: Desktop.sandboxIsAvailable, "bwrap cannot make a sandbox here"))
    func `A program in a sandbox that reaches the backend itself needs a grant`() throws {
        let sandbox = try desktop.wholeSandbox()
        try portal.write("color-scheme", "-int", "1")
        #expect(portal.read("color-scheme", in: sandbox) == Self.notFound)
        let (inside, outside) = (try portal.listen(in: sandbox), try portal.listen())
        try portal.write("color-scheme", "-int", "2")
        #expect(try portal.signal(outside) == "'color-scheme', <uint32 2>")
        try desktop.tool("grant", "*", "read", PortalDesktop.domain).requireOutput()
        #expect(portal.read("color-scheme", in: sandbox) == "uint32 2")
        try portal.write("color-scheme", "-int", "0")
        // The one before was not for it.
        #expect(try portal.signal(inside) == "'color-scheme', <uint32 0>")
        for monitor in [inside, outside] { monitor.send(SIGTERM) }
    }

    @Test func `Without the option, nothing of the portal is served`() throws {
        let desktop = try Desktop()
        _ = try desktop.daemonPID()
        #expect(try desktop.askBus("NameHasOwner", PortalDesktop.name) == "(false,)\n")
        #expect(try !desktop.introspect("/org").contains("name=\"freedesktop\""))
    }

    @Test func `Xfconf and the portal are served by one daemon`() throws {
        let desktop = try Desktop(daemonOptions: "--serve portal,xfconf")
        _ = try desktop.daemonPID()
        let daemon = try desktop.askBus("GetNameOwner", "org.defaultsd.Defaults1")
        for name in [PortalDesktop.name, "org.xfce.Xfconf"] {
            try wait { try desktop.askBus("NameHasOwner", name) == "(true,)\n" }
            #expect(try desktop.askBus("GetNameOwner", name) == daemon)
        }
    }
}
