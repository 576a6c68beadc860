import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// What the administrator locks, by gdbus.
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

    @Test(arguments: [
        ["Set", "Theme", "b'x'"], ["SetValue", "Theme", "<1>"], ["Remove", "Theme"],
        ["SetValue", "Proxy.Host", "<1>"], ["SetValue", "Proxy.", "<1>"],
        ["SetValue", "Single", "<1>"], ["Remove", "Single"], ["Remove", "Proxy.Absent"],
        ["Rename", "Theme", "New"], ["Rename", "Free", "Single"],
        ["ApplyValues", "{'Theme': <1>, 'Free': <1>}", "@as []", "@a{st} {}", "@a{sv} {}"],
        ["ApplyValues", "{'Free': <1>}", "['Proxy.Host']", "@a{st} {}", "@a{sv} {}"],
        ["RemoveDomain"],
    ])
    func `A write to a locked key is refused with the file's name, and changes nothing`(
        call: [String]
    ) throws {
        let before = try desktop.property("Generation")
        for suffix in ["", "@host", "@host:elsewhere"] where suffix.isEmpty || call.count > 1 {
            let refused = desktop.gdbus(
                method: "org.defaultsd.Defaults1.\(call[0])",
                [Self.app + suffix] + bytes(call.dropFirst()))
            #expect(refused.errorName == "org.defaultsd.Defaults1.Error.Locked", "\(suffix)")
            #expect(
                refused.error.contains(
                    desktop.path(of: "org.example.App.json", in: .managed)
                        + ". Nothing was changed."))
        }
        #expect(try desktop.property("Generation") == before)
    }

    /// The name of the error of a call, and the list after its message.
    private func lockedKeys(_ method: String, _ arguments: String) throws -> String {
        try desktop.python(
            """
            \(Desktop.pythonArchive)
            import sys
            call = Gio.DBusMessage.new_method_call(
                service.props.g_name, service.props.g_object_path, service.props.g_interface_name,
                sys.argv[1])
            call.set_body(GLib.Variant.parse(None, sys.argv[2], None, None))
            answer, _ = bus.send_message_with_reply_sync(
                call, Gio.DBusSendMessageFlags.NONE, -1, None)
            message, locked = answer.get_body().unpack()
            print(answer.get_error_name().rpartition(".")[2], locked)
            """, method, arguments
        ).requireOutput()
    }

    @Test(arguments: [
        (
            "ApplyValues",
            """
            ('org.example.App', {'Free': <1>, 'Theme': <1>}, ['Proxy.Host'], @a{st} {},
             {'list-locked': <true>})
            """, "[('org.example.App', ['Theme', 'Proxy.Host'])]"
        ),
        (
            "ApplyAllValues",
            """
            ([('org.example.App', {'Single': <1>}, @as [], @a{st} {}),
              ('org.example.Other', {'Single': <1>}, @as [], {'': 7}),
              ('org.example.App@host', {'Free': <1>}, ['Theme'], @a{st} {})],
             {'list-locked': <true>})
            """, "[('org.example.App', ['Single']), ('org.example.App@host', ['Theme'])]"
        ),
        (
            "ApplyValues",
            "('org.example.App@managed', {'x': <1>}, ['y'], @a{st} {}, {'list-locked': <true>})",
            "[('org.example.App@managed', ['x', 'y'])]"
        ),
    ])
    func `With list-locked, the error has all locked keys of the change`(
        method: String, arguments: String, list: String
    ) throws {
        #expect(try lockedKeys(method, arguments) == "Locked \(list)\n")
    }

    @Test func `Of very many locked keys the error names the first`() throws {
        let names = (0..<1500).map { "Proxy.\(1000 + $0)" + String(repeating: "k", count: 990) }
        let quoted = names.map { "'\($0)'" }.joined(separator: ", ")
        let listed = try desktop.python(
            """
            \(Desktop.pythonArchive)
            import sys
            call = Gio.DBusMessage.new_method_call(
                service.props.g_name, service.props.g_object_path, service.props.g_interface_name,
                "ApplyValues")
            call.set_body(GLib.Variant.parse(
                None, f"('org.example.App', @a{{sv}} {{}}, [{sys.stdin.read()}], @a{{st}} {{}}, {{'list-locked': <true>}})",
                None, None))
            answer, _ = bus.send_message_with_reply_sync(
                call, Gio.DBusSendMessageFlags.NONE, -1, None)
            (domain, keys), = answer.get_body().unpack()[1]
            print("\\n".join(keys))
            """, input: quoted
        ).requireOutput().split(separator: "\n").map(String.init)
        #expect(listed == Array(names.prefix(listed.count)))
        #expect((1000 << 10..<1 << 20).contains(listed.count * 1000))
    }

    /// An archive in place of the text for one.
    private func bytes(_ arguments: ArraySlice<String>) -> [String] {
        let archive = desktop.call("Get", Self.app, "Free").output
        let bytes = archive.firstMatch(of: /\[(byte .*?)\]/).map { "[\($0.1)]" } ?? ""
        return arguments.map { $0 == "b'x'" ? bytes : $0 }
    }

    @Test(arguments: [
        ["SetValue", "Free", "<1>"], ["SetValue", "Proxy", "<1>"], ["SetValue", "Singles", "<1>"],
        ["Remove", "Free"], ["Rename", "Free", "Freed"],
    ])
    func `The user can set all other keys`(call: [String]) {
        let result = desktop.gdbus(
            method: "org.defaultsd.Defaults1.\(call[0])", [Self.app] + call.dropFirst())
        #expect(result.status == 0)
    }

    @Test func `The user's earlier value is kept, and visible again without the lock`() throws {
        func lookup(_ key: String) -> String {
            desktop.call("LookupValue", Self.app, key).output
        }
        #expect(lookup("Theme") == "(<'corporate'>, 'managed')\n")
        // A lock without a value leaves what holds.
        #expect(lookup("Proxy.Host") == "(<'mine'>, 'domain')\n")
        #expect(desktop.call("GetValue", Self.app, "Theme").output.hasPrefix("(<'mine'>,"))
        try desktop.stopDaemon()
        #expect(lookup("Theme") == "(<'corporate'>, 'managed')\n")
        #expect(desktop.call("IsLocked", Self.app, "Proxy.Host").output == "(true,)\n")
        try desktop.remove("org.example.App.json", in: .managed)
        try wait { lookup("Theme") == "(<'mine'>, 'domain')\n" }
        #expect(desktop.call("SetValue", Self.app, "Proxy.Host", "<1>").status == 0)
    }

    @Test func `A lock of the global domain is valid for every application`() throws {
        try desktop.write(
            #"{"$locked": ["*"]}"#, to: "NSGlobalDomain.json", in: .managed)
        try wait { desktop.call("IsLocked", "org.example.Another", "Any").output == "(true,)\n" }
        let refused = desktop.call("SetValue", "org.example.Another", "Any", "<1>")
        #expect(refused.errorName == "org.defaultsd.Defaults1.Error.Locked")
        #expect(refused.error.contains("NSGlobalDomain.json"))
        #expect(desktop.call("SetValue", "NSGlobalDomain", "Any", "<1>").status != 0)
        // The file of the domain itself is named first.
        #expect(desktop.call("Remove", Self.app, "Theme").error.contains("org.example.App.json"))
        let locks = desktop.gdbus("org.defaultsd.Maintenance1.ListLocks", Self.app).output
        #expect(
            locks.matches(of: /\('(.*?)', '.*?\/([\w.]+)'\)/).map { "\($0.1) \($0.2)" } == [
                "Proxy.* org.example.App.json", "Single org.example.App.json",
                "Theme org.example.App.json", "* NSGlobalDomain.json",
            ])
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

    @Test func `A repeated token gets its result, even if its keys are locked by then`() throws {
        func apply() -> String {
            desktop.call(
                "ApplyValues", Self.app, "{'Later': <1>}", "@as []", "@a{st} {}",
                "{'token': <'once'>}"
            ).output
        }
        let first = apply()
        try desktop.write(
            #"{"$locked": ["Later", "\u0600*"]}"#, to: "org.example.App.json", in: .managed)
        try wait { desktop.call("IsLocked", Self.app, "Later").output == "(true,)\n" }
        #expect(apply() == first && first.hasPrefix("(uint64"))
        // A prefix is bytes: this character and the following ones look like one.
        #expect(desktop.call("IsLocked", Self.app, "\u{600}x").output == "(true,)\n")
    }

    @Test(arguments: ["managed", "system"])
    func `Layers that are made of files are read only`(layer: String) throws {
        let domain = "\(Self.app)@\(layer)"
        for call in [
            ["SetValue", domain, "x", "<1>"], ["Remove", domain, "x"], ["RemoveDomain", domain],
            ["Rename", domain, "Theme", "x"],
            ["ApplyValues", domain, "{'x': <1>}", "@as []", "@a{st} {}", "@a{sv} {}"],
        ] {
            let refused = desktop.gdbus(
                method: "org.defaultsd.Defaults1.\(call[0])", Array(call.dropFirst()))
            #expect(refused.errorName == "org.defaultsd.Defaults1.Error.Locked")
            #expect(refused.error.contains("Write to org.example.App."))
        }
        #expect(desktop.call("ListDomains").output == "(['org.example.App'],)\n")
    }

    @Test func `Nobody can name the record of the files, and no list shows it`() throws {
        let managed = Self.app + "@managed"
        #expect(desktop.call("ListKeys", managed).output == "(['Theme'],)\n")
        #expect(desktop.call("GetAll", managed).output.matches(of: /'[^']*': \[/).count == 1)
        #expect(
            desktop.call("GetChanges", managed, "0").output.matches(of: /'[^']*': \[/).count == 1)
        #expect(desktop.call("Get", managed, "").errorName?.hasSuffix(".InvalidKey") == true)
    }

    @Test func `A restored backup does not change locked keys and layers made of files`() throws {
        try desktop.write("{}", to: "org.example.App.json", in: .managed)
        try wait { desktop.call("IsLocked", Self.app, "Theme").output == "(false,)\n" }
        desktop.call("SetValue", Self.app, "Theme", "<'older'>")
        #expect(desktop.tool("backup", "now").status == 0)
        for key in ["Theme", "Free"] { desktop.call("SetValue", Self.app, key, "<'newer'>") }
        try desktop.write(
            #"{"$locked": ["Theme"], "Added": 1}"#, to: "org.example.App.json", in: .managed)
        try wait { desktop.call("IsLocked", Self.app, "Theme").output == "(true,)\n" }
        let restored = desktop.tool("backup", "restore", "latest")
        #expect(restored.status == 0 && restored.output.contains("1 key set"))
        #expect(restored.output.contains("1 key locked"))
        #expect(desktop.call("GetValue", Self.app, "Free").output.hasPrefix("(<'mine'>,"))
        #expect(desktop.call("GetValue", Self.app, "Theme").output.hasPrefix("(<'newer'>,"))
        #expect(desktop.call("ListKeys", Self.app + "@managed").output == "(['Added'],)\n")
    }
}
