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

    @Test func `A value that is no setting is no value`() throws {
        try portal.write("contrast", "-int", "1")
        for words in [["-int", "3"], ["-string", "purple"], ["-data", "00"], ["-int", "-1"]] {
            try desktop.tool(["write", PortalDesktop.domain, "color-scheme"] + words)
                .requireOutput()
            #expect(portal.read("color-scheme") == Self.notFound)
        }
        try portal.write("accent-color", "--json", "[0, 0.5, 1.5]")
        #expect(portal.read("accent-color") == Self.notFound)
        #expect(
            portal.readAll("") == "{'org.freedesktop.appearance': {'contrast': <uint32 1>}}")
    }

    @Test func `Nothing but the four settings can be read`() throws {
        try portal.write("color-scheme", "-int", "1")
        try portal.write("secret", "-int", "1")
        try desktop.tool("write", "org.example.App", "color-scheme", "-int", "1").requireOutput()
        try desktop.tool("write", "NSGlobalDomain", "contrast", "-int", "1").requireOutput()
        for (namespace, key) in [
            ("org.example.App", "color-scheme"), (PortalDesktop.domain, "secret"), ("", ""),
            ("org.freedesktop.*", "color-scheme"), (PortalDesktop.domain, "contrast"),
            (PortalDesktop.domain + "@host", "color-scheme"),
            (PortalDesktop.domain, "color-scheme\n"),
        ] { #expect(portal.read(key, of: namespace) == Self.notFound, "\(namespace) \(key)") }
        let settings = "{'org.freedesktop.appearance': {'color-scheme': <uint32 1>}}"
        for patterns in ["", "*", "org.freedesktop.*", "org.free*", PortalDesktop.domain] {
            #expect(portal.readAll(patterns) == settings, "\(patterns)")
        }
        #expect(portal.readAll("org.gnome.*", "*") == settings)
        for patterns in ["org.gnome.*", "**", "org.freedesktop", "org.*.appearance", "*e"] {
            #expect(portal.readAll(patterns) == "@a{sa{sv}} {}", "\(patterns)")
        }
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

    @Test func `The layers of the domain apply, and each change that shows has a signal`() throws {
        let monitor = try portal.listen()
        func expect(_ value: Int) throws {
            #expect(try portal.signal(monitor) == "'color-scheme', <uint32 \(value)>")
            #expect(portal.read("color-scheme") == "uint32 \(value)")
        }
        let file = PortalDesktop.domain + ".json"
        try desktop.write(#"{"color-scheme": 1}"#, to: file, in: .vendor)
        try expect(1)
        try portal.write("color-scheme", "-int", "2")
        try expect(2)
        try desktop.tool("write", PortalDesktop.domain + "@host", "color-scheme", "-int", "0")
            .requireOutput()
        try expect(0)
        // A stronger layer has the key, so this has no signal.
        try portal.write("color-scheme", "-int", "1")
        try desktop.write(#"{"color-scheme": 2}"#, to: file, in: .managed)
        try expect(2)
        try desktop.remove(file, in: .managed)
        try expect(0)
        try desktop.tool("delete", PortalDesktop.domain + "@host", "color-scheme").requireOutput()
        try expect(1)
        try portal.write("other", "-int", "1")
        try desktop.tool("write", "org.example.App", "contrast", "-int", "1").requireOutput()
        try portal.write("accent-color", "#ffffff")
        #expect(try portal.signal(monitor) == "'accent-color', <(1.0, 1.0, 1.0)>")
        monitor.send(SIGTERM)
    }

    @Test func `A setting that has no value any more is announced as none`() throws {
        let monitor = try portal.listen()
        try portal.write("color-scheme", "-int", "1")
        try portal.write("accent-color", "#ffffff")
        _ = try (portal.signal(monitor), portal.signal(monitor))
        try portal.write("color-scheme", "-string", "nonsense")
        #expect(try portal.signal(monitor) == "'color-scheme', <uint32 0>")
        try desktop.tool("delete", PortalDesktop.domain, "accent-color").requireOutput()
        #expect(try portal.signal(monitor) == "'accent-color', <(-1.0, -1.0, -1.0)>")
        #expect(portal.readAll() == "@a{sa{sv}} {}")
        monitor.send(SIGTERM)
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
