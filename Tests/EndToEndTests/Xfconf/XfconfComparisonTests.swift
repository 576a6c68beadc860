import Foundation
import TestSupport
import TestTiers
import Testing

/// What programs of Xfce see of defaultsd, compared with what they see of xfconfd.
@Suite(.startsPrograms, .serialized, .enabled(if: XfconfDesktop.isAvailable, XfconfDesktop.missing))
struct XfconfComparisonTests {
    private static let vendor = [
        "vendor.xml": """
        <?xml version="1.0" encoding="UTF-8"?>
        <channel name="vendor" version="1.0">
          <property name="a" type="int" value="1"/>
          <property name="u" type="uint" value="0x10"/>
          <property name="big" type="uint64" value="18446744073709551615"/>
          <property name="small" type="uchar" value="5"/>
          <property name="c" type="char" value="-5"/>
          <property name="d" type="double" value="2.5"/>
          <property name="b" type="bool" value="true"/>
          <property name="branch" type="empty">
            <property name="in" type="string" value="x &lt; y"/>
          </property>
          <property name="list" type="array">
            <value type="int" value="3"/><value type="string" value="y"/>
          </property>
          <property name="others" type="int" value="7" locked="nobody-else"/>
          <property name="mine" type="int" value="7" unlocked="nobody-else"/>
        </channel>
        """
    ]

    /// Runs the same on both, and compares what it returns.
    private func compare<Result: Equatable>(
        files: [String: String] = [:], _ run: (XfconfDesktop) throws -> [Result]
    ) throws {
        let ours = try run(XfconfDesktop(.defaultsd, files: files))
        let theirs = try run(XfconfDesktop(.xfconfd, files: files))
        #expect(ours.count == theirs.count && !ours.isEmpty)
        for (index, (our, their)) in zip(ours, theirs).enumerated() {
            #expect(our == their, "step \(index)")
        }
    }

    @Test func `Calls have the same replies and errors`() throws {
        try compare(files: Self.vendor) { xfconf in
            Self.calls.map { call in
                "\(call.joined(separator: " ")): " + xfconf.answer(call[0], Array(call.dropFirst()))
            }
        }
    }

    private static let calls: [[String]] =
        valueCalls + nameCalls + channelCalls + tree + vendorCalls

    private static let valueCalls: [[String]] = {
        let values = [
            "<byte 5>", "<true>", "<5>", "<uint32 6>", "<int64 7>", "<int64 5000000000>",
            "<uint64 8>", "<1.5>", "<'hello'>", "<''>", "<['a', 'b']>", "<@as []>", "<@av []>",
            "<[<1>, <'x'>, <uint32 4>, <byte 0x01>, <int64 5>, <2.5>, <true>]>",
        ]
        var calls: [[String]] = []
        for (index, value) in values.enumerated() {
            calls.append(["SetProperty", "types", "/p\(index)", value])
            calls.append(["GetProperty", "types", "/p\(index)"])
        }
        return calls + [["GetAllProperties", "types", "/"]]
    }()

    private static let nameCalls: [[String]] = {
        let names = [
            "x", "/", "//", "/a/", "/a//b", "/a b", "/{}|,[].:_-", "/é", "/<Primary>a", "/a@b",
            "/a'b", "/a&b", "/a*b", "/a\\b",
        ]
        var calls: [[String]] = []
        for name in names {
            calls.append(["SetProperty", "names", name, "<1>"])
            for method in ["GetProperty", "PropertyExists", "IsPropertyLocked", "GetAllProperties"]
            {
                calls.append([method, "names", name])
            }
            calls.append(["ResetProperty", "names", name, "false"])
            calls.append(["GetAllProperties", "names", name])
        }
        return calls
    }()

    private static let channelCalls: [[String]] = {
        var calls: [[String]] = []
        for name in ["a b", "a/b", "{}|,[].:_-", "é", "<x>", "a@b", "..", "a.b"] {
            calls.append(["SetProperty", name, "/x", "<1>"])
            calls.append(["GetProperty", name, "/x"])
            calls.append(["PropertyExists", name, "/x"])
            calls.append(["GetAllProperties", name, "/"])
            calls.append(["ResetProperty", name, "/x", "true"])
            calls.append(["IsPropertyLocked", name, "/x"])
        }
        return calls
    }()

    /// A property may have a value and properties below it.
    private static let tree = [
        ["GetProperty", "none", "/x"], ["GetAllProperties", "none", "/"],
        ["GetAllProperties", "none", "/x"], ["PropertyExists", "none", "/x"],
        ["ResetProperty", "none", "/x", "false"], ["ResetProperty", "none", "/x", "true"],
        ["SetProperty", "tree", "/t/a", "<1>"], ["SetProperty", "tree", "/t/a/b", "<2>"],
        ["SetProperty", "tree", "/t/a/c/d", "<3>"], ["SetProperty", "tree", "/tx", "<4>"],
        ["GetAllProperties", "tree", "/t"], ["GetAllProperties", "tree", "/t/a"],
        ["GetAllProperties", "tree", "/t/a/c"], ["GetProperty", "tree", "/t"],
        ["PropertyExists", "tree", "/t"], ["ResetProperty", "tree", "/t", "false"],
        ["ResetProperty", "tree", "/t/a", "false"], ["GetAllProperties", "tree", "/t"],
        ["ResetProperty", "tree", "/", "false"], ["ResetProperty", "tree", "/t", "true"],
        ["GetAllProperties", "tree", "/t"], ["GetAllProperties", "tree", ""],
    ]

    private static let vendorCalls = [
        ["GetAllProperties", "vendor", "/"], ["GetAllProperties", "vendor", "/branch"],
        ["IsPropertyLocked", "vendor", "/mine"], ["SetProperty", "vendor", "/mine", "<8>"],
        ["GetProperty", "vendor", "/mine"], ["IsPropertyLocked", "vendor", "/others"],
        ["SetProperty", "vendor", "/others", "<8>"], ["GetProperty", "vendor", "/others"],
        ["ResetProperty", "vendor", "/a", "false"], ["ResetProperty", "vendor", "/a", "true"],
        ["SetProperty", "vendor", "/a", "<1>"], ["ResetProperty", "vendor", "/a", "false"],
        ["SetProperty", "vendor", "/a", "<2>"], ["GetProperty", "vendor", "/a"],
        ["ResetProperty", "vendor", "/a", "false"], ["GetProperty", "vendor", "/a"],
        ["SetProperty", "vendor", "/new", "<2>"], ["ResetProperty", "vendor", "/branch", "true"],
        ["GetAllProperties", "vendor", "/"],
    ]

    @Test func `Changes have the same signals`() throws {
        try compare(files: Self.vendor) { xfconf in
            let monitor = try xfconf.listen()
            defer { monitor.send(SIGTERM) }
            // The files of vendors are announced when they are read.
            _ = try xfconf.signals(monitor)
            return try Self.changes.map { change in
                xfconf.call(change[0], Array(change.dropFirst()))
                let signals = try xfconf.signals(monitor).sorted()
                return "\(change.joined(separator: " ")): \(signals)"
            }
        }
    }

    private static let changes = [
        ["SetProperty", "c", "/a", "<1>"], ["SetProperty", "c", "/a", "<1>"],
        ["SetProperty", "c", "/a", "<uint32 1>"], ["SetProperty", "c", "/a", "<'x'>"],
        ["SetProperty", "c", "/a/b", "<[<1>, <'x'>]>"],
        ["ResetProperty", "c", "/a", "false"], ["ResetProperty", "c", "/a", "false"],
        ["SetProperty", "c", "/a b", "<1>"], ["SetProperty", "vendor", "/a", "<1>"],
        ["SetProperty", "vendor", "/a", "<2>"], ["SetProperty", "vendor", "/mine", "<2>"],
        ["ResetProperty", "vendor", "/a", "false"], ["ResetProperty", "vendor", "/u", "false"],
        ["ResetProperty", "vendor", "/u", "true"], ["SetProperty", "vendor", "/d", "<3.5>"],
        ["SetProperty", "vendor", "/d", "<2.5>"],
    ]

    @Test func `xfconf-query prints the same`() throws {
        try compare(files: Self.vendor) { xfconf in
            Self.queries.map { query in
                let result = xfconf.desktop.run(["xfconf-query"] + query)
                let lines = result.output.split(separator: "\n").sorted().joined(separator: "\n")
                return "\(query.joined(separator: " ")): \(result.status) \(lines) \(result.error)"
            }
        }
    }

    private static let queries: [[String]] = {
        let types = [
            ("int", "-5"), ("uint", "5"), ("bool", "true"), ("double", "1.25"), ("string", "a b"),
            ("uchar", "7"), ("char", "7"), ("uint64", "9"), ("int64", "-9"),
        ]
        var queries: [[String]] = []
        for (type, value) in types {
            let property = ["-c", "q", "-p", "/\(type)"]
            queries.append(property + ["-t", type, "-s", value])
            queries.append(property + ["-n", "-t", type, "-s", value])
            queries.append(property)
        }
        return queries + otherQueries.map { $0.split(separator: " ").map(String.init) }
    }()

    private static let otherQueries = [
        "-c q -l", "-c q -lv", "-c q -p /none", "-c none -l", "-c none -p /x", "-c vendor -lv",
        "-c vendor -p /mine -s 9", "-c vendor -p /a -s 9", "-c vendor -p /a", "-c vendor -p /a -r",
        "-c vendor -p /a", "-c q -p /list -n -t int -s 1 -t string -s two", "-c q -p /list",
        "-c q -p /one -n -a -t int -s 1", "-c q -p /one", "-c q -p /bool -T", "-c q -p /bool",
        "-c q -p /int -T", "-c q -p /int -r", "-c q -p /int", "-c q -p /list -r -R", "-c q -l",
    ]

    /// libxfconf has a cache of its own, so another process reads.
    @Test func `Programs with libxfconf see the same`() throws {
        try compare(files: Self.vendor) { xfconf in
            // The bindings for Python cannot set a list.
            xfconf.call("SetProperty", "lib", "/strings", "<[<'a'>, <'b'>]>")
            return [Self.writer, Self.reader, Self.resetter, Self.reader].map { program in
                let result = xfconf.desktop.python(Self.imports + program)
                return "\(result.status) \(result.output)"
            }
        }
    }

    private static let imports = """
        import gi
        gi.require_version("Xfconf", "0")
        from gi.repository import GLib, GObject, Xfconf
        Xfconf.init()
        channel = Xfconf.Channel.new("lib")
        panel = Xfconf.Channel.new_with_property_base("lib", "/panel")

        """

    private static let writer = """
        seen = []
        channel.connect("property-changed", lambda _, name, value: seen.append((name, value)))
        print(channel.set_int("/int", -5), channel.set_uint("/uint", 5),
              channel.set_uint64("/uint64", 2**64 - 1), channel.set_double("/double", 0.1),
              channel.set_bool("/bool", True), channel.set_string("/string", "a <b> é"),
              panel.set_int("/size", 9),
              channel.set_int("/string", 3), channel.set_string("/string", "again"))
        print(channel.set_int("/bad name", 1), Xfconf.Channel.new("vendor").set_int("/mine", 8))
        # What was set comes back as a signal, after the replies.
        context = GLib.MainContext.default()
        while ("/string", "again") not in seen: context.iteration(True)
        print(sorted(set(name for name, _ in seen)))
        """

    private static let reader = """
        vendor = Xfconf.Channel.new("vendor")
        print(channel.get_int("/int", 1), channel.get_uint("/uint", 1),
              channel.get_uint64("/uint64", 1), channel.get_double("/double", 1), channel.get_bool("/bool", False),
              channel.get_string("/string", "default"), channel.get_string_list("/strings"),
              panel.get_int("/size", 1), channel.get_int("/panel/size", 1))
        print("wrong types", channel.get_int("/uint", 77), channel.get_uint("/int", 77),
              channel.get_string("/int", "default"), channel.get_bool("/string", True))
        print([channel.has_property(name) for name in ("/int", "/panel", "/panel/size", "/none")])
        print(vendor.get_int("/a", 0), vendor.get_uint("/u", 0), vendor.get_double("/d", 0),
              vendor.get_string("/branch/in", ""), vendor.is_property_locked("/mine"),
              vendor.is_property_locked("/a"), vendor.get_int("/mine", 0))
        """

    private static let resetter = """
        channel.reset_property("/int", False)
        panel.reset_property("/", True)
        channel.reset_property("/strings", True)
        print(channel.has_property("/int"), channel.has_property("/panel/size"))
        """
}
