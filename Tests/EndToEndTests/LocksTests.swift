import Glibc
import TestSupport
import TestTiers
import Testing

/// What the administrator locks, as programs on the bus hear of it.
@Suite(.startsPrograms, .serialized) struct LocksTests {
    let desktop: Desktop
    private static let app = "org.example.App"

    init() throws {
        desktop = try Desktop()
        for key in ["Theme", "Proxy.Host", "Free"] {
            desktop.call("SetValue", Self.app, key, "<'mine'>")
        }
        try desktop.write(
            #"{"Theme": "corporate", "$locked": ["Proxy.*", "Single"]}"#,
            to: "org.example.App.json", in: .managed)
        try wait { desktop.call("IsLocked", Self.app, "Theme").output == "(true,)\n" }
    }

    @Test
    func `A change of locks is announced without names, and is in the reply of Attach`() throws {
        let monitor = try desktop.start(
            "gdbus", "monitor", "--session", "--dest", "org.defaultsd.Defaults1")
        try desktop.waitForMatchRule(containing: "org.defaultsd.Defaults1")
        try desktop.write(
            #"{"Theme": "corporate", "$locked": ["Free", "Proxy.*"]}"#,
            to: "org.example.App.json", in: .managed)
        while let line = monitor.lines?.next(), !line.contains("Changed") {}
        #expect(desktop.call("IsLocked", Self.app, "Free").output == "(true,)\n")
        let attached = desktop.python(
            """
            \(Desktop.pythonArchive)
            answer, files = bus.call_with_unix_fd_list_sync(
                service.props.g_name, service.props.g_object_path, service.props.g_interface_name,
                "Attach", GLib.Variant("(as)", (["org.example.App", "org.example.App@managed",
                    "NSGlobalDomain@managed"],)), None, 0, -1, None, None)
            for name, slot, entries, large, locked in answer.unpack()[1]:
                print(name, sorted(entries), large, sorted(locked))
            """)
        #expect(
            attached.output == """
                org.example.App ['Free', 'Proxy.Host', 'Theme'] [] ['Free', 'Proxy.*', 'Theme']
                org.example.App@managed ['Theme'] [] ['Free', 'Proxy.*', 'Theme']
                NSGlobalDomain@managed [] [] []

                """)
        monitor.send(SIGTERM)
    }
}
