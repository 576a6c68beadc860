import Foundation
import TestSupport
import TestTiers
import Testing

/// Whole domains that are exported to files and imported, compared with Python's plistlib.
@Suite(.startsPrograms, .serialized) struct ImportExportTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    /// Every kind of value, as the JSON of a domain.
    private static let domain =
        #"{"array":[1,"two",[],{"a":1.5}],"bool":true,"data":{"$data":"3q2+7w=="},"#
        + #""date":{"$class":"NSDate","NS.time":10.0},"dictionary":{"k":[{"l":false}]},"#
        + #""exact":{"$class":"NSDate","NS.time":0.1},"integer":-5,"large":18446744073709551615,"#
        + #""nothing":null,"object":{"$class":"Account","books":[{"$class":"Book","title":"Dune"}],"#
        + #""name":"ada"},"pairs":{"$class":"NSDictionary","NS.keys":["$class",1],"#
        + #""NS.objects":["a","b"]},"real":1.0,"#
        + #""set":{"$class":"NSSet","NS.objects":[1]},"text":"Café <&> \n😀"}"#

    private func value(_ domain: String) -> String {
        desktop.tool("read", domain, "--json").output
    }

    private func path(_ name: String) -> String { "\(desktop.directory.path)/\(name)" }

    private func fill() throws {
        let file = try desktop.directory.write(Self.domain, to: "domain.json")
        #expect(desktop.tool("import", "org.example.A", file).error == "")
        #expect(value("org.example.A") == Self.domain + "\n")
    }

    @Test func `Python reads exports: binary in a file, XML on standard output`() throws {
        try fill()
        for key in ["nothing", "object", "pairs", "set", "exact"] {
            desktop.tool("delete", "org.example.A", key)
        }
        let file = path("a.plist")
        #expect(desktop.tool("export", "org.example.A", file).status == 0)
        let xml = try desktop.tool("export", "org.example.A", "-").requireOutput()
        let answer = desktop.python(
            """
            import plistlib, sys
            one, other = plistlib.load(open(sys.argv[1], "rb")), plistlib.loads(sys.stdin.buffer.read())
            print(one == other, open(sys.argv[1], "rb").read(6), list(one))
            print(one["data"], one["date"], one["dictionary"], repr(one["real"]), one["large"])
            """, file, input: xml)
        #expect(
            answer.output == """
                True b'bplist' ['array', 'bool', 'data', 'date', 'dictionary', 'integer', 'large', \
                'real', 'text']
                b'\\xde\\xad\\xbe\\xef' 2001-01-01 00:00:10 {'k': [{'l': False}]} 1.0 \
                18446744073709551615

                """, "\(answer.error)")
    }

    @Test
    func `A date with a fraction of a second is a date in XML, truncated to the second`() throws {
        let dates =
            #"{"after":{"$class":"NSDate","NS.time":1.75},"#
            + #""before":{"$class":"NSDate","NS.time":-0.25},"in":[{"$class":"NSDate","NS.time":0.5}]}"#
        let file = try desktop.directory.write(dates, to: "dates.json")
        #expect(desktop.tool("import", "org.example.A", file).error == "")
        let xml = try desktop.tool("export", "org.example.A", "-").requireOutput()
        let answer = desktop.python(
            """
            import plistlib, sys
            print(*[str(value) for value in plistlib.loads(sys.stdin.buffer.read()).values()])
            """, input: xml)
        #expect(
            answer.output == """
                2001-01-01 00:00:01 2000-12-31 23:59:59 [datetime.datetime(2001, 1, 1, 0, 0)]

                """, "\(answer.error)")
        #expect(desktop.tool("export", "org.example.A", path("binary")).error == "")
        #expect(desktop.tool("import", "org.example.B", path("binary")).error == "")
        #expect(value("org.example.B") == dates + "\n")
    }

    @Test func `Values written by Python are imported with their types`() throws {
        for format in ["FMT_XML", "FMT_BINARY"] {
            let answer = desktop.python(
                """
                import datetime, plistlib, subprocess, sys
                values = {"a": True, "b": -1, "c": 0.5, "d": "é", "e": b"\\x0f", "f": [1, {"g": []}],
                          "h": datetime.datetime(2001, 1, 1, 0, 0, 1), "$i": {"$class": 1}}
                data = plistlib.dumps(values, fmt=plistlib.\(format))
                subprocess.run([sys.argv[1], "import", "org.example.A", "-"], input=data, check=True)
                """, Desktop.programs + "/defaultsctl")
            #expect(answer.error == "")
            #expect(
                value("org.example.A")
                    == #"{"$i":{"$class":"NSDictionary","NS.keys":["$class"],"NS.objects":[1]},"#
                    + #""a":true,"b":-1,"c":0.5,"d":"é","e":{"$data":"Dw=="},"f":[1,{"g":[]}],"#
                    + #""h":{"$class":"NSDate","NS.time":1.0}}"# + "\n")
            desktop.tool("delete", "org.example.A")
        }
    }

    @Test func `Ten thousand keys are imported as one change, and exported again`() throws {
        let program = """
            import plistlib, sys
            values = {"key%05d" % n: [n, {"a": "value %d" % n}] for n in range(10000)}
            plistlib.dump(values, open(sys.argv[1], "wb"), fmt=plistlib.FMT_BINARY)
            """
        let file = path("many.plist")
        _ = try desktop.python(program, file).requireOutput()
        #expect(desktop.tool("import", "org.example.A", file).error == "")
        #expect(try desktop.property("Generation") == "<uint64 2>")
        let out = path("out.plist")
        #expect(desktop.tool("export", "org.example.A", out).error == "")
        let same = desktop.python(
            """
            import plistlib, sys
            print(*[len(plistlib.load(open(path, "rb"))) for path in sys.argv[1:]])
            one, other = [plistlib.load(open(path, "rb")) for path in sys.argv[1:]]
            print(one == other)
            """, file, out)
        #expect(same.output == "10000 10000\nTrue\n")
    }

    /// Dictionaries of random keys, among them those of archives and of objects, nested and not.
    private static let lists = """
        import plistlib, random, sys
        random.seed(4)
        names = ["$a", "$class", "$archiver", "$objects", "$top", "$version", "$archive", "$null",
            "$0", "$$x", "NS.keys", "NS.objects", "NS.time", "plain", "root", "$data", "$ref"]
        def value(depth):
            kind = random.randrange(8)
            if depth and kind < 3:
                chosen = random.sample(names, random.randrange(len(names)))
                return {name: value(depth - 1) for name in chosen}
            if depth and kind == 3: return [value(depth - 1) for _ in range(3)]
            return [1, "NSDate", "NSKeyedArchiver", 2.5, True, b"bytes", 100000][kind % 7]
        def dictionary():
            return {name: value(2) for name in random.sample(names, random.randrange(len(names)))}
        """

    @Test(arguments: ["xml", "binary"])
    func `Plain lists with any keys are the same lists after import and export`(
        format: String
    ) throws {
        let (file, copy) = (path("lists"), path("copy"))
        let made = desktop.run([
            "/usr/bin/python3", "-c",
            Self.lists
                + "\nplistlib.dump({f'k{n}': dictionary() for n in range(200)}, open(sys.argv[1], 'wb'))",
            file,
        ])
        #expect(made.error == "")
        #expect(desktop.tool("import", "org.example.L", file).error == "")
        #expect(desktop.tool("export", "org.example.L", copy, "--format", format).error == "")
        let compared = desktop.run([
            "/usr/bin/python3", "-c",
            "import plistlib, sys; a, b = [plistlib.load(open(f, 'rb')) for f in sys.argv[1:]]; "
                + "print([k for k in a if a[k] != b[k]], len(b))", file, copy,
        ])
        #expect(compared.output == "[] 200\n")
        #expect(desktop.tool("read-type", "org.example.L", "k0").output == "Type is dictionary\n")
    }
}
