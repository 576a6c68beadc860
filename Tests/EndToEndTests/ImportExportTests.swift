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

    @Test(arguments: ["xml", "binary", "json"])
    func `A domain that is exported is the same when it is imported`(format: String) throws {
        try fill()
        let file = path("exported")
        #expect(
            desktop.tool("export", "org.example.A", file, "--format", format).error == "")
        #expect(desktop.tool("import", "org.example.B", file).error == "")
        // XML has dates to the second.
        let expected =
            format == "xml"
            ? Self.domain.replacing(#""NS.time":0.1"#, with: #""NS.time":0.0"#) : Self.domain
        #expect(value("org.example.B") == expected + "\n")
        let answer = desktop.run([
            "/bin/sh", "-c",
            "'\(Desktop.programs)/defaultsctl' export org.example.A - --format \(format)"
                + " | '\(Desktop.programs)/defaultsctl' import org.example.C -",
        ])
        #expect(answer.error == "")
        #expect(value("org.example.C") == expected + "\n")
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

    @Test(arguments: [
        "\n  <?xml version=\"1.0\"?>\n<plist><dict><key>a</key><integer>1</integer></dict></plist>",
        "<dict><key>a</key><integer>1</integer></dict>",
        "<!-- c --><dict><key>a</key><integer>1</integer></dict>",
    ])
    func `XML after white space and without a plist element is accepted`(text: String) throws {
        let file = try desktop.directory.write(text, to: "some.plist")
        #expect(desktop.tool("import", "org.example.A", file).error == "")
        #expect(value("org.example.A") == #"{"a":1}"# + "\n")
        #expect(desktop.tool("write", "org.example.B", "k", text).error == "")
        #expect(value("org.example.B") == #"{"k":{"a":1}}"# + "\n")
    }

    @Test(arguments: [
        "{ a = 1; b = 2; a = 3; }",
        "<dict><key>a</key><true/><key>b</key><string>2</string><key>a</key><string>3</string></dict>",
    ])
    func `Of equal keys in a file the last one counts, with a remark`(text: String) throws {
        let file = try desktop.directory.write(text, to: "some.plist")
        let answer = desktop.tool("import", "org.example.A", file)
        #expect(answer.status == 0)
        #expect(answer.error.hasSuffix("); the last one counts.\n"), "\(answer.error)")
        #expect(value("org.example.A") == #"{"a":"3","b":"2"}"# + "\n")
    }

    @Test func `Importing keeps the other keys, or removes them on request, in one change`() throws
    {
        desktop.tool("write", "org.example.A", "{ a = 1; b = 2; }")
        let before = try desktop.property("Generation")
        let file = try desktop.directory.write("{ b = 3; c = 4; }", to: "old.plist")
        #expect(desktop.tool("import", "org.example.A", file).status == 0)
        #expect(value("org.example.A") == #"{"a":"1","b":"3","c":"4"}"# + "\n")
        #expect(desktop.tool("import", "--replace", "org.example.A", file).status == 0)
        #expect(value("org.example.A") == #"{"b":"3","c":"4"}"# + "\n")
        #expect(try desktop.property("Generation") != before)
        let watcher = try desktop.start(
            "gdbus", "monitor", "--session", "--dest", "org.defaultsd.Defaults1")
        let lines = try #require(watcher.lines)
        defer { watcher.send(SIGTERM) }
        try desktop.waitForMatchRule(containing: "org.defaultsd.Defaults1")
        let other = try desktop.directory.write("{ x = 1; y = 2; }", to: "other.plist")
        #expect(desktop.tool("import", "--replace", "org.example.A", other).status == 0)
        var line = lines.next()
        // The signal of an earlier import may still be on its way.
        while let text = line, !text.contains("'x'") { line = lines.next() }
        #expect(line?.contains("['x', 'y'], ['b', 'c']") == true, "\(line ?? "")")
    }

    @Test(arguments: [
        ("{ a = 1", "Could not parse property list from"), ("{\"a\": 1", "Could not parse"),
        ("", "is empty"), (" {\n\"a\" : [1 2]}", "(line 2, column"),
        ("[1 2]", "The text is not a JSON object. (line 1, column 1"),
        ("{\"a\\u0000b\": 1}", "The key 'a"), ("{\"a\\000b\" = 1;}", "has a NUL, which is not"),
        ("(1, 2)", "was not a dictionary"), ("[1]", "Could not parse"),
        ("<plist><array/></plist>", "was not a dictionary"), ("bplist00", "Could not parse"),
        ("<plist><dict><key>a</key></dict></plist>", "line 1, column"),
        (
            "<plist><dict><key>a</key><dict><key>CF$UID</key><integer>1</integer></dict></dict></plist>",
            "reference (CF$UID)"
        ),
        ("{ \"\" = 1; b = 2; }", "key"),
    ])
    func `A file that is not a domain changes nothing`(text: String, sentence: String) throws {
        desktop.tool("write", "org.example.A", "a", "-int", "1")
        let file = try desktop.directory.write(text, to: "bad")
        let answer = desktop.tool("import", "--replace", "org.example.A", file)
        #expect(answer.status == 1)
        #expect(answer.error.contains(sentence), "\(answer.error)")
        #expect(answer.error.split(separator: "\n").count == 1)
        #expect(value("org.example.A") == #"{"a":1}"# + "\n")
    }

    @Test func `Invalid JSON is refused with its place`() throws {
        let file = try desktop.directory.write("{\"a\": 1,\n \"b\": [1 2]}", to: "bad.json")
        let answer = desktop.tool("import", "org.example.A", file, "--format", "json")
        #expect(answer.status == 1)
        #expect(answer.error.contains("(line 2, column 10)"), "\(answer.error)")
        let meant = try desktop.directory.write("{ a: 1 }", to: "meant.json")
        let sentence = desktop.tool("import", "org.example.A", meant).error
        #expect(sentence.contains("(line 1, column 3)") && !sentence.contains("= "), "\(sentence)")
        for text in [#"{"a":1,"a":2}"#, #"{"a":1}}"#, #"{"a" 1}"#, #"{"a":1 "b":2}"#, #"{"a\":1}"#]
        {
            let file = try desktop.directory.write(text, to: "bad.json")
            #expect(
                desktop.tool("import", "org.example.A", file, "--format", "json").status == 1)
        }
        #expect(desktop.tool("domains").output == "\n")
    }

    @Test
    func `An export replaces its file as a whole, keeps its mode, and follows a link`() throws {
        desktop.tool("write", "org.example.A", "a", "-int", "1")
        let file = try desktop.directory.write("old", to: "file")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
        try FileManager.default.createSymbolicLink(
            atPath: path("link"), withDestinationPath: "file")
        #expect(
            desktop.tool("export", "org.example.A", path("link"), "--format", "xml").status == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("<?xml"))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path("link")) == "file")
        #expect(desktop.run("stat", "-c", "%a", file).output == "640\n")
        #expect(desktop.tool("export", "org.example.A", path("new")).status == 0)
        #expect(desktop.run("stat", "-c", "%a", path("new")).output == "600\n")
        let refused = desktop.tool("export", "org.example.A", path("nowhere/file"))
        #expect(refused.status == 1)
        #expect(refused.error.contains("Could not export domain org.example.A to"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: desktop.directory.path)
                .allSatisfy { !$0.contains(".XX") && !$0.hasPrefix("file.") })
    }

    @Test
    func `A value that XML cannot represent is exported as data and imported as it was`() throws {
        desktop.tool("write", "org.example.A", "a", "-int", "1")
        desktop.tool("write", "org.example.A", "b", #"{"\033Window\033Zoom"="@~^\U2191";}"#)
        desktop.tool("write", "org.example.A", "c", "--json", #""\ud800""#)
        let file = path("xml")
        let answer = desktop.tool("export", "org.example.A", file, "--format", "xml")
        #expect(answer.status == 0)
        #expect(answer.error.contains("'b'") && answer.error.contains("'c'"))
        let keys = desktop.python(
            "import plistlib, sys; print(plistlib.load(open(sys.argv[1], 'rb')).keys())", file)
        #expect(keys.output == "dict_keys(['a', 'b', 'c'])\n", "\(keys.error)")
        #expect(desktop.tool("import", "org.example.B", file).error == "")
        #expect(value("org.example.B") == value("org.example.A"))
        #expect(desktop.tool("export", "org.example.A", path("file")).error == "")
    }

    @Test func `A key that XML cannot represent is named, and the others are exported`() throws {
        desktop.tool("write", "org.example.A", "a", "-int", "1")
        desktop.tool("write", "org.example.A", "b\u{1B}", "-int", "1")
        let answer = desktop.tool("export", "org.example.A", "-")
        #expect(answer.status == 1 && answer.output.contains("<key>a</key>"))
        #expect(answer.error.contains("Left out: 'b"), "\(answer.error)")
    }

    @Test func `Control characters that a Mac wrote into XML are accepted`() throws {
        let text = "<plist><dict><key>a</key><string>\u{1B}Zoom</string></dict></plist>"
        let file = try desktop.directory.write(text, to: "mac.plist")
        #expect(desktop.tool("import", "org.example.A", file).error == "")
        #expect(value("org.example.A") == #"{"a":"\u001bZoom"}"# + "\n")
    }

    @Test
    func `A value too large to show, or very deep, hides no other, and is exported completely`()
        throws
    {
        desktop.tool("write", "org.example.A", "word", "here")
        _ = try desktop.python(
            """
            \(Desktop.pythonArchive)
            def nested(levels, width):
                arrays = [{"$class": UID(levels + 2), "NS.objects": [UID(i + 2)] * width}
                          for i in range(levels)]
                return dumps({**contents, "$objects": ["$null", *arrays, True,
                    {"$classname": "NSArray", "$classes": ["NSArray", "NSObject"]}]})
            service.Set("(ssay)", "org.example.A", "bomb", nested(40, 2))
            service.Set("(ssay)", "org.example.A", "deep", nested(3000, 1))
            """
        ).requireOutput()
        #expect(desktop.tool("find", "here").output.contains("word = here;"))
        let json = desktop.tool("export", "org.example.A", "-", "--format", "json")
        #expect(json.status == 1 && json.output == "" && json.error.contains("'bomb'"))
        for format in ["xml", "binary"] {
            let file = path(format)
            #expect(desktop.tool("export", "org.example.A", file, "--format", format).error == "")
            // Setting a key to the value that it has is no change.
            let before = try desktop.property("Generation")
            #expect(desktop.tool("import", "org.example.A", file).error == "")
            #expect(try desktop.property("Generation") == before)
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

    @Test func `A dictionary with a key that begins with a dollar sign stays one`() throws {
        #expect(desktop.tool("write", "org.example.D", "d", "-dict", "$a", "b").error == "")
        #expect(desktop.tool("read-type", "org.example.D", "d").output == "Type is dictionary\n")
        let added = desktop.tool("write", "org.example.D", "d", "-dict-add", "$c", "-int", "4")
        #expect(added.error == "")
        #expect(
            desktop.tool("read", "org.example.D", "d").output
                == "{\n    \"$a\" = b;\n    \"$c\" = 4;\n}\n")
        #expect(
            value("org.example.D")
                == #"{"d":{"$class":"NSDictionary","NS.keys":["$a","$c"],"NS.objects":["b",4]}}"#
                + "\n")
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
