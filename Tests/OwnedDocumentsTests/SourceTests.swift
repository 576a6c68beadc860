import KeyedArchive
import Testing
import YAMLDocuments

@testable import OwnedDocuments

/// Documents in JSON, as property lists and in YAML.
struct SourceTests {
    static let json = #"""
        { "$schema": "x", "owner": "me/desktop", "$comment": ["any", {"thing": 1}],
          "domains": {
            "org.example.Game": {
              "PlaySound": true, "Volume": 0.5, "Level": -3, "Name": "007", "Icon": {"$data": "AAE="},
              "Born": {"$class": "NSDate", "NS.time": 60.0}, "Nested": [1, {"a": ["b"]}],
              "List": {"$ensure": ["a", "b"], "$without": ["z"]},
              "Options": {"$merge": {"$class": "Options", "x": 1, "y": {"$merge": {"z": 2}}}},
              "$remove": ["Old", "Window*"], "$once": {"Theme": "dark"} } },
          "hosts": { "here": { "org.example.Game": { "Screen": 2 } }, "other": { "a.b": {"C": 1} } },
          "$defaults": 1 }
        """#

    static let yaml = #"""
        # The same in YAML.
        $defaults: 1
        $schema: x
        owner: me/desktop
        domains:
          org.example.Game:
            PlaySound: true
            Volume: 0.5
            Level: -3
            Name: "007"
            Icon: !!binary AAE=
            Born: {$class: NSDate, NS.time: 60.0}
            Nested: [1, &x {a: [b]}]
            List:
              $ensure: [a, b]
              $without: [z]
            Options:
              $merge:
                $class: Options
                x: 1
                y: {$merge: {z: 2}}
            $remove: [Old, "Window*"]
            $once: {Theme: dark}
        hosts:
          here:
            org.example.Game: {Screen: 2}
          other: {a.b: {C: 1}}
        """#

    static let list = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0"><dict>
        <key>$defaults</key><integer>1</integer><key>owner</key><string>me/desktop</string>
        <key>domains</key><dict><key>org.example.Game</key><dict>
        <key>PlaySound</key><true/><key>Volume</key><real>0.5</real><key>Level</key><integer>-3</integer>
        <key>Name</key><string>007</string><key>Icon</key><data>AAE=</data>
        <key>Born</key><date>2001-01-01T00:01:00Z</date>
        <key>Nested</key><array><integer>1</integer><dict><key>a</key><array><string>b</string></array></dict></array>
        <key>List</key><dict><key>$ensure</key><array><string>a</string><string>b</string></array>
          <key>$without</key><array><string>z</string></array></dict>
        <key>Options</key><dict><key>$merge</key><dict><key>$class</key><string>Options</string>
          <key>x</key><integer>1</integer><key>y</key><dict><key>$merge</key><dict><key>z</key><integer>2</integer>
          </dict></dict></dict></dict>
        <key>$remove</key><array><string>Old</string><string>Window*</string></array>
        <key>$once</key><dict><key>Theme</key><string>dark</string></dict>
        </dict></dict>
        <key>hosts</key><dict><key>here</key><dict><key>org.example.Game</key><dict><key>Screen</key>
          <integer>2</integer></dict></dict><key>other</key><dict><key>a.b</key><dict><key>C</key><integer>1</integer>
          </dict></dict></dict>
        </dict></plist>
        """

    private func document(_ source: some DocumentSource) throws(DocumentError) -> OwnedDocument {
        var reader = DocumentReader(source, onHost: "here")
        return try reader.document()
    }

    /// What a document says, in lines.
    private func lines(_ document: OwnedDocument) -> [String] {
        document.wishes.map { wish in
            let words =
                switch wish.demand {
                case .value(let value): text(of: value)
                case .absence: "absent"
                case .once(let value): "once \(text(of: value))"
                case .parts(let parts): parts.map(words).joined(separator: "; ")
                }
            return "\(wish.place.domain) \(wish.place.key) \(words)"
        }.sorted() + document.removals.map { "\($0.domain) \($0.prefix)*" }
    }

    private func words(_ part: PartDemand) -> String {
        switch part.content {
        case .value(let value): "\(part.path)=\(text(of: value))"
        case .elements(let ensured, let unwanted):
            "\(part.path)+\(ensured.map(text)) -\(unwanted.map(text))"
        case .object(let name): "\(part.path):\(name)"
        }
    }

    @Test func `A document says the same in each spelling`() throws {
        let json = try document(JSONSource(Array(Self.json.utf8)))
        #expect(json.owner.name == "me/desktop")
        #expect(lines(json).count == 13)
        #expect(lines(json).contains("org.example.Game@host Screen 2"))
        #expect(
            lines(json).contains(#"org.example.Game Options :Options; x=1; y.z=2"#),
            "\(lines(json))")
        let list = try document(PropertyListSource(Array(Self.list.utf8)))
        #expect(lines(list) == lines(json))
        let yaml = try document(YAMLSource(Array(Self.yaml.utf8)))
        #expect(lines(yaml) == lines(json))
    }

    @Test(arguments: [
        (#"{"$defaults": 2, "owner": "a", "domains": {}}"#, 1, 2),
        (#"{"$defaults": 1, "owner": "a b", "domains": {}}"#, 1, 18),
        ("{\"$defaults\": 1,\n \"owner\": \"a\", \"domain\": {}}", 2, 16),
        ("{\"$defaults\": 1, \"owner\": \"a\", \"domains\": {\n\"a b\": {}}}", 2, 1),
        ("{\"$defaults\": 1, \"owner\": \"a\", \"domains\": {\n\"a.b@host\": {}}}", 2, 1),
        ("{\"$defaults\": 1, \"owner\": \"a\", \"domains\": {\"a\": {\n\"$locked\": []}}}", 2, 1),
        ("{\"$defaults\": 1, \"owner\": \"a\", \"domains\": {\"a\": {\n\"$ensure\": []}}}", 2, 1),
        ("{\"$defaults\": 1, \"owner\": \"a\", \"domains\": {\"a\": {\n\"$foo\": []}}}", 2, 1),
        (
            "{\"$defaults\": 1, \"owner\": \"a\", \"domains\": {\"a\": {\n\"k\": {\"$ensure\": 5}}}}",
            2, 7
        ),
        (
            "{\"$defaults\": 1, \"owner\": \"a\", \"domains\": {\"a\": {\n\"k\": {\"$ensure\": [], \"b\": 1}}}}",
            2, 22
        ),
        (
            "{\"$defaults\": 1, \"owner\": \"a\", \"domains\": {\"a\": {\n\"k\": 1, \"k\": 2}}}", 2,
            9
        ),
        (
            "{\"$defaults\": 1, \"owner\": \"a\", \"domains\": {\"a\": {\n\"k\": 1, \"$remove\": [\"k\"]}}}",
            2, 9
        ),
        (
            "{\"$defaults\": 1, \"owner\": \"a\", \"hosts\": {\"other\": {\"a\": {\n\"k\": {\"$foo\": 1}}}}}",
            2, 7
        ),
        (
            "{\"$defaults\": 1, \"owner\": \"a\", \"domains\": {\"a\": {\n\"k\": [{\"$ensure\": []}]}}}",
            2, 8
        ),
        (
            "{\"$defaults\": 1, \"owner\": \"a\", \"domains\": {\"org.defaultsd.Applied\":\n {\"k\": 1}}}",
            1, 44
        ),
        ("{\"$defaults\": 1, \"owner\": \"a\", \"domains\": {\"a\": 5}}", 1, 44),
        ("{\"$defaults\": 1, \"owner\": \"a\", \"domains\": {\"-g\": {}}}", 1, 44),
        ("{\"$defaults\": 1, \"owner\": \"a\", \"domains\": {\"a.b.plist\": {}}}", 1, 44),
        ("{\"$defaults\": 1, \"owner\": \"a\", \"domains\": {\"--force\": {}}}", 1, 44),
    ])
    func `A fault has its place`(_ json: String, _ line: Int, _ column: Int) throws {
        let error = #expect(throws: DocumentError.self) {
            try document(JSONSource(Array(json.utf8)))
        }
        #expect(
            error?.place == .init(line: line, column: column), "\(error.map(\.description) ?? "")")
    }

    @Test func `A document needs its header and its owner`() throws {
        #expect(throws: DocumentError.self) {
            try document(JSONSource(Array(#"{"owner": "a"}"#.utf8)))
        }
        #expect(throws: DocumentError.self) {
            try document(JSONSource(Array(#"{"$defaults": 1}"#.utf8)))
        }
        for (text, hasHeader) in [
            (" {\"a\": [1], \"$defaults\": 1}", true),
            ("{\"domain\":\"a\"}\n{\"$defaults\": 1}", false),
        ] {
            #expect(try JSONSource(Array(text.utf8)).hasKey("$defaults") == hasHeader)
        }
    }

    @Test func `Keys are bytes, and one that begins with a dollar sign is escaped`() throws {
        let json = #"{"caf\u00e9": 1, "cafe\u0301": 2, "$$x": 3, "$$$y": 4}"#
        var reader = DocumentReader(try JSONSource(Array(json.utf8)), onHost: "here")
        let document = try reader.domain("a.b", of: try #require(Owner("a")))
        #expect(document.wishes.map(\.place.key.utf8.count) == [5, 6, 2, 3])
        #expect(document.wishes.last?.place.key == "$$y")
        let places = document.wishes.map(\.place)
        #expect(
            places[0] != places[1]
                && RowName(document.owner, places[0]) != RowName(document.owner, places[1]))
    }

    @Test func `A domain that commands read as another one is refused with its name`() {
        for (word, name) in [
            ("-globalDomain", "NSGlobalDomain"), ("a.b.plist", "a.b"),
            ("kCFPreferencesAnyApplication", "NSGlobalDomain"),
        ] {
            let json = #"{"$defaults": 1, "owner": "a", "domains": {"\#(word)": {"K": 1}}}"#
            let error = #expect(throws: DocumentError.self) {
                try document(JSONSource(Array(json.utf8)))
            }
            #expect(error?.message.contains("means the domain \(name).") == true, "\(word)")
        }
    }

    @Test func `A property list spells objects and data as the other forms do, at each depth`()
        throws
    {
        func entry(_ xml: String) -> String { "<dict><key>K</key>\(xml)</dict>" }
        let object =
            "<dict><key>name</key><string>ada</string><key>$class</key><string>Account</string></dict>"
        for (xml, json) in [
            (object, #"{"$class":"Account","name":"ada"}"#),
            ("<array>\(object)</array>", #"[{"$class":"Account","name":"ada"}]"#),
            ("<dict><key>$data</key><string>AAE=</string></dict>", #"{"$data":"AAE="}"#),
            (
                "<dict><key>a</key><dict><key>$real</key><string>inf</string></dict></dict>",
                #"{"a":{"$real":"inf"}}"#
            ),
        ] {
            var reader = DocumentReader(
                try PropertyListSource(Array("<plist>\(entry(xml))</plist>".utf8)), onHost: "here")
            let document = try reader.domain("a.b", of: try #require(Owner("a")))
            guard case .value(let value) = document.wishes.first?.demand else {
                Issue.record("\(xml)")
                continue
            }
            #expect(text(of: value) == json)
        }
        let unknown = "<dict><key>a</key><dict><key>$foo</key><true/></dict></dict>"
        #expect(throws: DocumentError.self) {
            var reader = DocumentReader(
                try PropertyListSource(Array("<plist>\(entry(unknown))</plist>".utf8)),
                onHost: "here")
            _ = try reader.domain("a.b", of: try #require(Owner("a")))
        }
    }

    @Test func `The name of a machine is the same in any case`() throws {
        let json = #"{"$defaults": 1, "owner": "a", "hosts": {"HERE": {"a.b": {"C": 1}}}}"#
        let document = try document(JSONSource(Array(json.utf8)))
        #expect(document.wishes.map(\.place.domain) == ["a.b@host"])
    }

    @Test func `A document for other machines has keys`() throws {
        let json = #"{"$defaults": 1, "owner": "a", "hosts": {"other": {"a.b": {"C": 1}}}}"#
        let document = try document(JSONSource(Array(json.utf8)))
        #expect(!document.isEmpty && document.wishes.isEmpty)
        #expect(
            try self.document(
                JSONSource(Array(#"{"$defaults": 1, "owner": "a", "hosts": {"other": {}}}"#.utf8))
            ).isEmpty)
    }

    // MARK: YAML

    @Test(arguments: [
        ("null", "null"), ("~", "null"), ("true", "true"), ("False", "false"), ("0", "0"),
        ("-12", "-12"), ("+7", "7"), ("0x1F", "31"), ("1.0e+3", "1000.0"),
        ("1.5", "1.5"), (".5", "0.5"), ("5.", "5.0"), ("-.inf", "{\"$real\":\"-inf\"}"),
        ("'1_000'", "\"1_000\""), ("\"12:30\"", "\"12:30\""), ("1:75", "\"1:75\""),
        ("08:30", "\"08:30\""),
        ("00:11:22:33:44:55", "\"00:11:22:33:44:55\""),
        ("2001-01-01", "\"2001-01-01\""),
        ("\"true\"", "\"true\""), ("'no'", "\"no\""), ("!!str 5", "\"5\""),
        ("!!binary aGk=", "{\"$data\":\"aGk=\"}"), ("x y", "\"x y\""),
        ("|\n  a\n  b\n", "\"a\\nb\\n\""),
        ("[&a 1, *a]", "[1,1]"), ("1.2.3", "\"1.2.3\""), ("-", "[null]"), ("e5", "\"e5\""),
        ("nan", "\"nan\""), ("inf", "\"inf\""), ("1e", "\"1e\""), ("0x", "\"0x\""),
    ])
    func `Scalars are those of the core schema`(_ yaml: String, _ json: String) throws {
        // A list that is empty would be a value without a text.
        guard yaml != "-" else { return }
        #expect(try value("a: \(yaml)") == json)
    }

    private func value(_ yaml: String) throws -> String? {
        var reader = DocumentReader(try YAMLSource(Array(yaml.utf8)), onHost: "here")
        let document = try reader.domain("a.b", of: try #require(Owner("a")))
        guard case .value(let value) = document.wishes.first?.demand else { return nil }
        return text(of: value)
    }

    @Test(arguments: [
        ("a: 007", 1, 4), ("a: -01", 1, 4), ("a: 00.5", 1, 4), ("a:\nb: 1", 1, 3), ("a: yes", 1, 4),
        ("a: {b: Off}", 1, 8), ("<<: {b: 1}", 1, 1), ("a: !!int 5", 1, 4), ("a: !x [1]", 1, 4),
        ("a: 1\n---\nb: 2", 2, 1), ("a: 1\nb: 2\na: 3", 3, 1), ("a: {x: 1, x: 2}", 1, 11),
        ("? [a]\n: 1", 1, 3), ("a: &x [*x]", 1, 8), ("a: *b", 1, 4), ("[a]", 1, 1), ("a: [b", 2, 1),
        ("a: 1e5", 1, 4), ("a: 12e03", 1, 4), ("a: 1.5e3", 1, 4), ("a: 0o17", 1, 4),
        ("a: 1_000", 1, 4), ("a: 0b101", 1, 4), ("a: -190:20:30", 1, 4), ("a: 1:30.5", 1, 4),
        ("a: [12:30]", 1, 5), ("a: +.5", 1, 4), ("a: 0:30.5", 1, 4), ("a: 0x1_F", 1, 4),
        ("a: !!binary '%'", 1, 4),
        ("a: 999999999999999999999999999999999999999999", 1, 4),
    ])
    func `What other readers read otherwise is refused`(
        _ yaml: String, _ line: Int, _ column: Int
    ) {
        let error = #expect(throws: DocumentError.self) { try value(yaml) }
        #expect(
            error?.place == .init(line: line, column: column), "\(error.map(\.description) ?? "")")
    }

    @Test func `Aliases count as what they mean`() throws {
        var text = "a: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...9 {
            let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "k\(level): &a\(level) [\(aliases)]\n"
        }
        let error = #expect(throws: DocumentError.self) { try value(text) }
        #expect(error?.message.contains("4194304") == true, "\(error.map(\.description) ?? "")")
        let deep = "a: " + String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000)
        #expect(throws: DocumentError.self) { try value(deep) }
    }

    @Test(arguments: [
        "", "\u{0}", "a: \u{1}", "\t", "%YAML 9.9\n--- a", "\u{FEFF}", "a: \"\\uD800\"",
    ])
    func `Other bytes are an error`(_ text: String) {
        #expect(throws: DocumentError.self) { try value(text) }
    }
}
