import Foundation
import TestSupport
import TestTiers
import Testing

/// What the tool does with GSettings schemas.
@Suite(.startsPrograms) struct SchemaToolTests {
    /// A desktop with schemas, and the environment of programs that find them.
    private struct Pens {
        let desktop: Desktop
        let environment: [String: String]

        private static let schemas = """
            <schemalist>
              <enum id="org.example.Color"><value nick="red" value="0"/><value nick="blue" value="1"/></enum>
              <flags id="org.example.Mark"><value nick="bold" value="1"/><value nick="thin" value="2"/></flags>
              <schema id="org.example.Pen" path="/org/example/Pen/">
                <key name="width" type="u"><range min="1" max="9"/><default>3</default>
                  <summary>Width of the line</summary></key>
                <key name="color" enum="org.example.Color"><default>'red'</default>
                  <summary>Color: "of" the line</summary></key>
                <key name="on" type="b"><default>false</default><summary>Whether it writes</summary></key>
                <key name="ratio" type="d"><default>1.0</default></key>
                <key name="name" type="s"><default>'pen'</default></key>
                <key name="list" type="as"><default>[]</default></key>
                <key name="marks" flags="org.example.Mark"><default>[]</default></key>
                <key name="pair" type="(ii)"><default>(1, 2)</default></key>
                <child name="cap" schema="org.example.Cap"/>
              </schema>
              <schema id="org.example.Cap">
                <key name="closed" type="b"><default>true</default></key>
                <child name="clip" schema="org.example.Clip"/>
              </schema>
              <schema id="org.example.Clip"><key name="size" type="i"><default>1</default></key></schema>
              <schema id="org.example.Moved" path="/elsewhere/pens/">
                <key name="on" type="b"><default>true</default></key></schema>
            </schemalist>
            """

        init() throws {
            desktop = try Desktop()
            let folder = desktop.directory.path + "/schemas"
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false)
            try Self.schemas.write(
                toFile: folder + "/pens.gschema.xml", atomically: true, encoding: .utf8)
            try ProgramResult.run(["glib-compile-schemas", folder]).requireOutput()
            var environment = desktop.environment
            environment["GSETTINGS_SCHEMA_DIR"] = folder
            environment["XDG_DATA_DIRS"] = folder
            self.environment = environment
        }

        func tool(_ arguments: [String], input: String = "") -> ProgramResult {
            desktop.run(
                [Desktop.programs + "/defaultsctl"] + arguments, environment: environment,
                input: input)
        }

        /// What is stored, as JSON.
        func stored(_ key: String, in domain: String = "org.example.Pen") -> String {
            tool(["read", domain, key, "--json"]).output.trimmingCharacters(in: .newlines)
        }

        /// The words that complete a line, each with its note after a tab.
        func candidates(_ words: String..., adopting: Bool = false) -> [String] {
            var environment = environment
            if adopting { environment["GSETTINGS_BACKEND"] = "defaultsd" }
            return desktop.run(
                [Desktop.programs + "/defaultsctl", "complete", "--"] + words,
                environment: environment
            ).output.split(separator: "\n").map(String.init)
        }
    }

    @Test(arguments: [
        ("width", "5", "5"), ("color", "blue", "\"blue\""), ("on", "true", "true"),
        ("on", "no", "false"), ("on", "1", "true"), ("ratio", "2", "2.0"), ("ratio", "0.5", "0.5"),
        ("name", "5", "\"5\""), ("name", "true", "\"true\""), ("list", "(a, b)", #"["a","b"]"#),
        ("marks", "(bold)", #"["bold"]"#),
    ])
    func `A word without a type has the type of the schema`(
        key: String, word: String, stored: String
    ) throws {
        let pens = try Pens()
        let result = pens.tool(["write", "org.example.Pen", key, word])
        #expect(result.status == 0 && result.error == "", "\(result)")
        #expect(pens.stored(key) == stored)
    }

    @Test(arguments: [
        ("width", "x", "an integer of type u from 1 to 9"),
        ("width", "10", "an integer of type u from 1 to 9"), ("width", "0", "from 1 to 9"),
        ("color", "green", "one of red, blue"), ("on", "maybe", "true or false"),
        ("ratio", "much", "a number"), ("list", "a", "an array of strings, as -array writes it"),
        ("marks", "bold", "each one of bold, thin"), ("pair", "1", "a value of type (ii)"),
    ])
    func `A word that does not fit the schema is refused, and -string stores it`(
        key: String, word: String, wanted: String
    ) throws {
        let pens = try Pens()
        let result = pens.tool(["write", "org.example.Pen", key, word])
        #expect(result.status == 1 && result.error.contains(wanted), "\(result)")
        #expect(result.error.contains("put -string before it"))
        #expect(pens.stored(key) == "")
        let forced = pens.tool(["write", "org.example.Pen", key, "-string", word])
        #expect(forced.status == 0 && forced.error.contains("Programs do not see this value"))
        #expect(pens.stored(key) == "\"\(word)\"")
    }

    @Test func `A value of a given type is stored, with a remark if programs do not see it`() throws
    {
        let pens = try Pens()
        for (words, isSeen) in [
            (["width", "-int", "9"], true), (["width", "-int", "10"], false),
            (["width", "-float", "1"], false), (["on", "-bool", "true"], true),
            (["on", "-int", "1"], false), (["ratio", "-int", "1"], true),
            (["color", "-string", "blue"], true), (["color", "-string", "pink"], false),
            (["list", "-array", "a", "b"], true), (["list", "-array", "-int", "1"], false),
            (["marks", "-array", "bold"], true), (["marks", "-array", "wide"], false),
            (["pair", "--json", "[1, 2]"], true), (["pair", "--json", "[1]"], false),
            (["width", "--json", #"{"$class":"GVariant","type":"u","value":5}"#], true),
        ] {
            let result = pens.tool(["write", "org.example.Pen"] + words)
            #expect(result.status == 0, "\(result)")
            #expect(result.error.isEmpty == isSeen, "\(words) \(result)")
        }
    }

    /// What is said when a key is set that no schema of the domain has.
    private static func unseen(_ key: String, in domain: String, meant: String? = nil) -> String {
        "defaultsctl: Programs that use GSettings do not see the key '\(key)': no installed schema of "
            + "\(domain) has it.\(meant.map { " Did you mean '\($0)'?" } ?? "")\n"
    }

    @Test(arguments: [
        ("widht", "5", "width", "\"5\""), ("Color", "blue", "color", "\"blue\""),
        ("marsk", "(bold)", "marks", #"["bold"]"#), ("other", "true", nil, "\"true\""),
    ])
    func `A key that no schema of the domain has is stored with a remark`(
        key: String, word: String, meant: String?, stored: String
    ) throws {
        let pens = try Pens()
        for domain in ["org.example.Pen", "org.example.Pen@host"] {
            let result = pens.tool(["write", domain, key, word])
            #expect(result.status == 0, "\(result)")
            #expect(result.error == Self.unseen(key, in: domain, meant: meant))
            #expect(pens.stored(key, in: domain) == stored)
        }
    }

    @Test func `Each verb that sets keys remarks on those that no schema has`() throws {
        let pens = try Pens()
        let domain = "org.example.Pen"
        let unseen = Self.unseen("naem", in: domain, meant: "name")
        for words in [
            ["write", domain, "naem", "-string", "a"], ["write", domain, "naem", "--json", "1"],
            ["write", domain, "naem", "-array", "a"], ["write", domain, "naem", "-array-add", "b"],
        ] {
            let result = pens.tool(words)
            #expect(result.status == 0 && result.error == unseen, "\(words) \(result)")
        }
        // It also says what it has replaced.
        let whole = pens.tool(["write", domain, "{naem = a; width = 2;}"])
        #expect(whole.status == 0 && whole.error.hasSuffix(unseen), "\(whole)")
        let document = pens.tool(["apply", "-f", "-"], input: "write \(domain) naem b\n")
        #expect(document.status == 0 && document.error == unseen, "\(document)")
        let list = pens.tool(["import", domain, "-"], input: #"{"naem": "c", "width": 3}"#)
        #expect(list.status == 0 && list.error == unseen, "\(list)")
        let long = pens.tool(
            ["import", domain, "-"], input: "{a = 1; b = 1; c = 1; d = 1; e = 1;}")
        #expect(
            long.error
                == "defaultsctl: Programs that use GSettings do not see the keys 'a', 'b', 'c' and 2 "
                + "more: no installed schema of \(domain) has them.\n")
        try pens.tool(["write", domain, "name", "ink"]).requireOutput()
        let renamed = pens.tool(["rename", domain, "name", "nmae"])
        #expect(renamed.status == 0, "\(renamed)")
        #expect(renamed.error == Self.unseen("nmae", in: domain, meant: "name"))
        // Other domains, and a removal, are not remarked on.
        #expect(pens.tool(["write", "org.example.Ink", "naem", "a"]).error == "")
        #expect(pens.tool(["write", "org.example", "Pen", "a"]).error == "")
        #expect(pens.tool(["delete", domain, "naem"]).error == "")
    }

    @Test func `explain shows the default of a schema's key that has no value`() throws {
        let pens = try Pens()
        let result = pens.tool(["explain", "org.example.Pen", "width"])
        #expect(
            try result.requireOutput() == """
                No layer has a value, so programs use the schema's default.
                Schema org.example.Pen: Width of the line
                  type u, default 3, from 1 to 9

                """)
        #expect(
            try pens.tool(["explain", "org.example.Pen", "width", "--json"]).requireOutput()
                == #"{"domain":"org.example.Pen","key":"width","locked":false,"holds":null,"layers":[],"#
                + #""schema":{"id":"org.example.Pen","type":"u","default":3,"#
                + #""summary":"Width of the line","description":null,"range":[1,9]}}"# + "\n")
        let mistyped = pens.tool(["explain", "org.example.Pen", "widht"])
        #expect(mistyped.status == 1)
        #expect(
            mistyped.error
                == "defaultsctl: The domain/default pair of (org.example.Pen, widht) does not exist. Did "
                + "you mean 'width'?\n")
    }

    @Test func `Layers, documents, children and schemas elsewhere count, and other domains do not`()
        throws
    {
        let pens = try Pens()
        for (domain, key) in [
            ("org.example.Pen@host", "on"), ("org.example.Pen.cap", "closed"),
            ("elsewhere.pens", "on"),
        ] {
            try pens.tool(["write", domain, key, "yes"]).requireOutput()
            #expect(pens.stored(key, in: domain) == "true", "\(domain)")
        }
        try pens.tool(["write", "org.example.Pen.cap.clip", "size", "7"]).requireOutput()
        #expect(pens.stored("size", in: "org.example.Pen.cap.clip") == "7")
        for domain in ["org.example.Cap", "org.example.Moved", "org.example", "NSGlobalDomain"] {
            try pens.tool(["write", domain, "on", "yes"]).requireOutput()
            #expect(pens.stored("on", in: domain) == "\"yes\"", "\(domain)")
        }
        let document = "write org.example.Pen width 4\nwrite org.example.Pen on 0\n"
        try pens.tool(["apply", "-f", "-"], input: document).requireOutput()
        #expect(pens.stored("width") == "4" && pens.stored("on") == "false")
        let wrong = pens.tool(
            ["apply", "-f", "-"],
            input: "write org.example.Pen width 5\nwrite org.example.Pen on perhaps\n")
        #expect(wrong.status != 0 && pens.stored("width") == "4")
    }

    @Test func `Completion offers the keys, summaries and values of schemas`() throws {
        let pens = try Pens()
        try pens.tool(["write", "org.example.Pen", "zeal", "-int", "1"]).requireOutput()
        let keys = [
            "color\tColor: \"of\" the line", "list", "marks", "name", "on\tWhether it writes",
            "pair",
            "ratio", "width\tWidth of the line", "zeal",
        ]
        #expect(pens.candidates("write", "org.example.Pen", "") == keys)
        #expect(pens.candidates("explain", "org.example.Pen", "w") == ["width\tWidth of the line"])
        #expect(pens.candidates("write", "org.example.Pen@host", "o") == ["on\tWhether it writes"])
        #expect(pens.candidates("read", "org.example.Pen", "") == ["zeal"])
        #expect(pens.candidates("delete", "org.example.Pen", "") == ["zeal"])
        #expect(pens.candidates("write", "org.example.Pen.cap", "") == ["closed"])
        #expect(pens.candidates("write", "org.example.Pen", "color", "b") == ["blue"])
        #expect(
            pens.candidates("write", "org.example.Pen", "color", "").prefix(3)
                == ["red", "blue", "-string\ta string"])
        #expect(
            pens.candidates("write", "org.example.Pen", "color", "-string", "") == ["red", "blue"])
        #expect(pens.candidates("write", "org.example.Pen", "on", "t") == ["true"])
        #expect(pens.candidates("write", "org.example.Pen", "width", "1") == [])
    }

    @Test func `Domains of schemas are offered if programs use them here`() throws {
        let pens = try Pens()
        let domains = ["org.example.Pen"]
        #expect(pens.candidates("write", "org.e") == [])
        #expect(pens.candidates("write", "org.e", adopting: true) == domains)
        #expect(pens.candidates("write", "else", adopting: true) == ["elsewhere.pens"])
        #expect(pens.candidates("write", "", adopting: true) == ["NSGlobalDomain"])
        #expect(pens.candidates("read", "org.e", adopting: true) == [])
        try pens.tool(["write", "org.example.Pen", "on", "1"]).requireOutput()
        #expect(pens.candidates("write", "org.e", adopting: true) == domains)
        try "".write(
            toFile: pens.desktop.directory.path + "/config/defaultsd/gsettings", atomically: true,
            encoding: .utf8)
        #expect(pens.candidates("explain", "else") == ["elsewhere.pens"])
    }

    @Test func `explain shows what a schema says of a key`() throws {
        let desktop = try Desktop()
        let schemas = desktop.directory.path + "/schemas"
        try FileManager.default.createDirectory(
            atPath: schemas, withIntermediateDirectories: false)
        try """
        <schemalist>
          <enum id="org.example.Color"><value nick="red" value="0"/><value nick="blue" value="1"/></enum>
          <schema id="org.example.Pen" path="/org/example/Pen/">
            <key name="width" type="u"><range min="1" max="9"/><default>3</default>
              <summary>Width of the line</summary><description>In pixels.</description></key>
            <key name="color" enum="org.example.Color"><default>'red'</default></key>
          </schema>
        </schemalist>
        """.write(toFile: schemas + "/a.gschema.xml", atomically: true, encoding: .utf8)
        let compiled = ProgramResult.run(["glib-compile-schemas", schemas])
        try #require(compiled.status == 0, "\(compiled)")
        var environment = desktop.environment
        environment["GSETTINGS_SCHEMA_DIR"] = schemas
        func tool(_ arguments: String...) -> String {
            desktop.run([Desktop.programs + "/defaultsctl"] + arguments, environment: environment)
                .output
        }
        for (key, value) in [("width", "-int 5"), ("color", "-string blue"), ("other", "-int 1")] {
            let words = value.split(separator: " ").map(String.init)
            #expect(desktop.tool(["write", "org.example.Pen", key] + words).status == 0)
        }
        #expect(
            tool("explain", "org.example.Pen", "width").hasSuffix(
                "Schema org.example.Pen: Width of the line\n  type u, default 3, from 1 to 9\n"))
        #expect(
            tool("explain", "org.example.Pen", "color").hasSuffix(
                "Schema org.example.Pen\n  type s, default \"red\", one of red, blue\n"))
        #expect(!tool("explain", "org.example.Pen", "other").contains("Schema"))
        #expect(
            tool("explain", "org.example.Pen", "width", "--json").contains(
                #""schema":{"id":"org.example.Pen","type":"u","default":3,"summary":"Width of the line","#
                    + #""description":"In pixels.","range":[1,9]}"#))
        #expect(!tool("explain", "org.example.Pen", "other", "--json").contains("schema"))
    }
}
