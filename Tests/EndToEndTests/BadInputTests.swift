import TestSupport
import TestTiers
import Testing

/// Input of a hostile or careless caller: each is refused by name, and affects no other caller.
@Suite(.startsPrograms, .serialized) struct BadInputTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    /// An error under the contract's own prefix.
    static func own(_ name: String) -> String { "org.defaultsd.Defaults1.Error.\(name)" }

    @Test(
        arguments: [
            ("", "no name"), (String(repeating: "a", count: 256), "256"), ("org..app", "element"),
            (".org", "element"), ("org.", "element"), ("org/app", "/"), ("org app", " "),
            ("o\u{E9}", ""), ("org.app@host:", ""), ("org.app@other", "other"), ("a@b@c", ""),
        ])
    func `A wrongly spelled domain is InvalidDomain`(domain: String, fact: String) {
        let answer = desktop.call("ListKeys", domain)
        #expect(answer.errorName == Self.own("InvalidDomain"))
        #expect(answer.error.contains(fact))
    }

    @Test(arguments: ["", String(repeating: "k", count: 1025)])
    func `A key that is empty or too long is InvalidKey`(key: String) {
        for method in ["Get", "Remove", "GetValue"] {
            #expect(
                desktop.call(method, "org.example.App", key).errorName == Self.own("InvalidKey"))
        }
    }

    @Test(arguments: [
        ("b''", "nothing at all"),
        ("b'<?xml version=\"1.0\"?><plist version=\"1.0\"><dict/></plist>'", "XML"),
        ("bytes(range(200))", "random bytes"),
        ("archive[:-1]", "cut short"),
        ("archive[:40]", "cut shorter"),
        ("archive[:-1] + b'\\xff'", "a wrong trailer"),
        ("dumps({**contents, '$top': {'root': UID(99)}})", "a reference out of range"),
        ("dumps({'a': 1})", "a property list that is no archive"),
    ])
    func `Bytes that are not a keyed archive are InvalidArchive with the offset`(
        bytes: String, what: String
    ) throws {
        let answer = try desktop.python(
            """
            \(Desktop.pythonArchive)
            bytes_sent = \(bytes)
            try:
                service.Set("(ssay)", "org.example.App", "Key", bytes_sent)
                print("accepted")
            except GLib.Error as error:
                print(error.message)
            """
        ).requireOutput()
        #expect(answer.contains(Self.own("InvalidArchive")), "\(what): \(answer)")
        #expect(answer.contains("byte "), "\(what): \(answer)")
        #expect(desktop.call("ListDomains").output == "(@as [],)\n")
    }

    @Test func `A value over the limit is TooLarge, even far over it, and nothing changes`() throws
    {
        let answer = try desktop.python(
            """
            \(Desktop.pythonArchive)
            for size in (16 * 2**20 + 1, 60 * 2**20):
                # Built of bytes at once: a list of millions of variants takes minutes.
                value = GLib.Variant.new_from_bytes(
                    GLib.VariantType("ay"), GLib.Bytes(bytes(size)), True)
                names = [GLib.Variant("s", name) for name in ("org.example.App", "Key")]
                try:
                    service.call_sync("Set", GLib.Variant.new_tuple(*names, value), 0, -1, None)
                    print("accepted")
                except GLib.Error as error:
                    print(error.message)
            print(service.ListDomains())
            """
        ).requireOutput()
        let lines = answer.split(separator: "\n")
        #expect(lines.count == 3)
        for line in lines.dropLast() { #expect(line.contains(Self.own("TooLarge"))) }
        #expect(lines.last == "[]")
    }

    @Test func `A value with very many parts is TooLarge, and uses no memory afterwards`() throws {
        let before = try desktop.residentKilobytes()
        let output = try desktop.python(
            """
            \(Desktop.pythonArchive)
            for kind in ("an", "aai"):
                many = GLib.Variant.new_from_bytes(
                    GLib.VariantType(kind), GLib.Bytes(bytes(8 << 20)), True)
                names = [GLib.Variant("s", name) for name in ("org.example.App", "Key")]
                try:
                    service.call_sync("SetValue", GLib.Variant.new_tuple(
                        *names, GLib.Variant.new_variant(many)), 0, -1, None)
                    print("accepted")
                except GLib.Error as error:
                    print(error.message)
            service.SetValue("(ssv)", "org.example.App", "Small", GLib.Variant("b", True))
            service.Synchronize()
            """
        ).requireOutput()
        for line in output.split(separator: "\n") { #expect(line.contains(Self.own("TooLarge"))) }
        // A few megabytes are the buffers of the bus connection; the values would be a hundred.
        #expect(try desktop.residentKilobytes() < before + 16_384)
    }

    @Test func `Wrong signatures are InvalidArgs that name the right one`() {
        let answer = desktop.run(
            "dbus-send", "--print-reply", "--dest=org.defaultsd.Defaults1",
            "/org/defaultsd/Defaults1", "org.defaultsd.Defaults1.Get", "string:org.example.App",
            "uint32:7")
        #expect(answer.error.contains("org.freedesktop.DBus.Error.InvalidArgs"))
        #expect(answer.error.contains("'ss'") && answer.error.contains("'su'"))
    }

    @Test func `A write to a layer that is not the user's is Locked`() {
        for layer in ["managed", "system"] {
            let answer = desktop.call("SetValue", "org.example.App@\(layer)", "Key", "<true>")
            #expect(answer.errorName == Self.own("Locked"))
            let removal = desktop.call("Remove", "org.example.App@\(layer)", "Key")
            #expect(removal.errorName == Self.own("Locked"))
        }
    }

    @Test(arguments: [
        ("<handle 0>", "descriptor"), ("<{1: <true>}>", "keys"),
        ("<{'$class': <'A'>, '$mystery': <1>}>", "begins with $"), ("<{'$ref': <1>}>", "$ref"),
    ])
    func `A value that represents no archive is InvalidArgs`(value: String, fact: String) {
        let answer = desktop.call("SetValue", "org.example.App", "Key", value)
        #expect(answer.errorName == "org.freedesktop.DBus.Error.InvalidArgs")
        #expect(answer.error.contains(fact))
    }

    @Test func `Reading a missing key is NotFound with its name`() {
        for method in ["Get", "GetValue"] {
            let answer = desktop.call(method, "org.example.App", "Colour")
            #expect(answer.errorName == Self.own("NotFound"))
            #expect(answer.error.contains("Colour") && answer.error.contains("org.example.App"))
        }
        #expect(desktop.call("ListKeys", "org.example.App").output == "(@as [],)\n")
        #expect(desktop.call("Remove", "org.example.App", "Colour").output == "(uint64 1,)\n")
    }
}
