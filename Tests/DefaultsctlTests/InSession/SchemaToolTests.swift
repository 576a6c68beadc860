import Foundation
import TestSupport
import Testing

@testable import ToolHarness

/// What the tool does with GSettings schemas.
@Suite(.inSession) struct SchemaToolTests {
    private let session = TestSession.current

    init() {
        session.environment["GSETTINGS_SCHEMA_DIR"] = TestSchemas.directory
    }

    /// What is stored, as JSON.
    private func value(_ key: String, in domain: String = "org.example.Pen") async -> String {
        await session.tool("read", domain, key, "--json").output
            .trimmingCharacters(in: .newlines)
    }

    /// The words that complete a line, each with its note after a tab.
    private func candidates(_ words: String..., adopting: Bool = false) async -> [String] {
        session.environment["GSETTINGS_BACKEND"] = adopting ? "defaultsd" : nil
        return await session.tool(["complete", "--"] + words).output.split(separator: "\n")
            .map(String.init)
    }

    /// What is said when a key is set that no schema of the domain has.
    private static func unseen(_ key: String, in domain: String, meant: String? = nil) -> String {
        "defaultsctl: Programs that use GSettings do not see the key '\(key)': no installed schema of "
            + "\(domain) has it.\(meant.map { " Did you mean '\($0)'?" } ?? "")\n"
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
    ) async throws {
        let result = await session.tool(["write", "org.example.Pen", key, word])
        #expect(result.status == 1 && result.error.contains(wanted), "\(result)")
        #expect(result.error.contains("put -string before it"))
        #expect(await value(key) == "")
        let forced = await session.tool(["write", "org.example.Pen", key, "-string", word])
        #expect(forced.status == 0 && forced.error.contains("Programs do not see this value"))
        #expect(await value(key) == "\"\(word)\"")
    }

    @Test func `A value of a given type is stored, with a remark if programs do not see it`()
        async throws
    {
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
            let result = await session.tool(["write", "org.example.Pen"] + words)
            #expect(result.status == 0, "\(result)")
            #expect(result.error.isEmpty == isSeen, "\(words) \(result)")
        }
    }

    @Test(arguments: [
        ("widht", "5", "width", "\"5\""), ("Color", "blue", "color", "\"blue\""),
        ("marsk", "(bold)", "marks", #"["bold"]"#), ("other", "true", nil, "\"true\""),
    ])
    func `A key that no schema of the domain has is stored with a remark`(
        key: String, word: String, meant: String?, stored: String
    ) async throws {
        for domain in ["org.example.Pen", "org.example.Pen@host"] {
            let result = await session.tool(["write", domain, key, word])
            #expect(result.status == 0, "\(result)")
            #expect(result.error == Self.unseen(key, in: domain, meant: meant))
            #expect(await value(key, in: domain) == stored)
        }
    }

    @Test func `Each verb that sets keys remarks on those that no schema has`() async throws {
        let domain = "org.example.Pen"
        let unseen = Self.unseen("naem", in: domain, meant: "name")
        for words in [
            ["write", domain, "naem", "-string", "a"], ["write", domain, "naem", "--json", "1"],
            ["write", domain, "naem", "-array", "a"], ["write", domain, "naem", "-array-add", "b"],
        ] {
            let result = await session.tool(words)
            #expect(result.status == 0 && result.error == unseen, "\(words) \(result)")
        }
        // It also says what it has replaced.
        let whole = await session.tool(["write", domain, "{naem = a; width = 2;}"])
        #expect(whole.status == 0 && whole.error.hasSuffix(unseen), "\(whole)")
        let document = await session.tool(["apply", "-f", "-"], input: "write \(domain) naem b\n")
        #expect(document.status == 0 && document.error == unseen, "\(document)")
        let list = await session.tool(
            ["import", domain, "-"], input: #"{"naem": "c", "width": 3}"#)
        #expect(list.status == 0 && list.error == unseen, "\(list)")
        let long = await session.tool(
            ["import", domain, "-"], input: "{a = 1; b = 1; c = 1; d = 1; e = 1;}")
        #expect(
            long.error
                == "defaultsctl: Programs that use GSettings do not see the keys 'a', 'b', 'c' and 2 "
                + "more: no installed schema of \(domain) has them.\n")
        try await session.tool(["write", domain, "name", "ink"]).requireOutput()
        let renamed = await session.tool(["rename", domain, "name", "nmae"])
        #expect(renamed.status == 0, "\(renamed)")
        #expect(renamed.error == Self.unseen("nmae", in: domain, meant: "name"))
        // Other domains, and a removal, are not remarked on.
        #expect(await session.tool(["write", "org.example.Ink", "naem", "a"]).error == "")
        #expect(await session.tool(["write", "org.example", "Pen", "a"]).error == "")
        #expect(await session.tool(["delete", domain, "naem"]).error == "")
    }

    @Test func `explain shows the default of a schema's key that has no value`() async throws {
        let result = await session.tool(["explain", "org.example.Pen", "width"])
        #expect(
            try result.requireOutput() == """
                No layer has a value, so programs use the schema's default.
                Schema org.example.Pen: Width of the line
                  type u, default 3, from 1 to 9

                """)
        #expect(
            try await session.tool(["explain", "org.example.Pen", "width", "--json"])
                .requireOutput()
                == #"{"domain":"org.example.Pen","key":"width","locked":false,"holds":null,"layers":[],"#
                + #""schema":{"id":"org.example.Pen","type":"u","default":3,"#
                + #""summary":"Width of the line","description":null,"range":[1,9]}}"# + "\n")
        let mistyped = await session.tool(["explain", "org.example.Pen", "widht"])
        #expect(mistyped.status == 1)
        #expect(
            mistyped.error
                == "defaultsctl: The domain/default pair of (org.example.Pen, widht) does not exist. Did "
                + "you mean 'width'?\n")
    }

    @Test func `Layers, documents, children and schemas elsewhere count, and other domains do not`()
        async throws
    {
        for (domain, key) in [
            ("org.example.Pen@host", "on"), ("org.example.Pen.cap", "closed"),
            ("elsewhere.pens", "on"),
        ] {
            try await session.tool(["write", domain, key, "yes"]).requireOutput()
            #expect(await value(key, in: domain) == "true", "\(domain)")
        }
        try await session.tool(["write", "org.example.Pen.cap.clip", "size", "7"]).requireOutput()
        #expect(await value("size", in: "org.example.Pen.cap.clip") == "7")
        for domain in ["org.example.Cap", "org.example.Moved", "org.example", "NSGlobalDomain"] {
            try await session.tool(["write", domain, "on", "yes"]).requireOutput()
            #expect(await value("on", in: domain) == "\"yes\"", "\(domain)")
        }
        let document = "write org.example.Pen width 4\nwrite org.example.Pen on 0\n"
        try await session.tool(["apply", "-f", "-"], input: document).requireOutput()
        #expect(await value("width") == "4")
        #expect(await value("on") == "false")
        let wrong = await session.tool(
            ["apply", "-f", "-"],
            input: "write org.example.Pen width 5\nwrite org.example.Pen on perhaps\n")
        #expect(wrong.status != 0)
        #expect(await value("width") == "4")
    }

    @Test func `Completion offers the keys, summaries and values of schemas`() async throws {
        try await session.tool(["write", "org.example.Pen", "zeal", "-int", "1"]).requireOutput()
        let keys = [
            "color\tColor: \"of\" the line", "list", "marks", "name", "on\tWhether it writes",
            "pair",
            "ratio", "width\tWidth of the line", "zeal",
        ]
        #expect(await candidates("write", "org.example.Pen", "") == keys)
        #expect(await candidates("explain", "org.example.Pen", "w") == ["width\tWidth of the line"])
        #expect(await candidates("write", "org.example.Pen@host", "o") == ["on\tWhether it writes"])
        #expect(await candidates("read", "org.example.Pen", "") == ["zeal"])
        #expect(await candidates("delete", "org.example.Pen", "") == ["zeal"])
        #expect(await candidates("write", "org.example.Pen.cap", "") == ["closed"])
        #expect(await candidates("write", "org.example.Pen", "color", "b") == ["blue"])
        #expect(
            await candidates("write", "org.example.Pen", "color", "").prefix(3)
                == ["red", "blue", "-string\ta string"])
        #expect(
            await candidates("write", "org.example.Pen", "color", "-string", "") == ["red", "blue"])
        #expect(await candidates("write", "org.example.Pen", "on", "t") == ["true"])
        #expect(await candidates("write", "org.example.Pen", "width", "1") == [])
    }

    @Test func `Domains of schemas are offered if programs use them here`() async throws {
        let domains = ["org.example.Pen"]
        #expect(await candidates("write", "org.e") == [])
        #expect(await candidates("write", "org.e", adopting: true) == domains)
        #expect(await candidates("write", "else", adopting: true) == ["elsewhere.pens"])
        #expect(await candidates("write", "", adopting: true) == ["NSGlobalDomain"])
        #expect(await candidates("read", "org.e", adopting: true) == [])
        try await session.tool(["write", "org.example.Pen", "on", "1"]).requireOutput()
        #expect(await candidates("write", "org.e", adopting: true) == domains)
        let place = session.directory.path + "/config/defaultsd"
        try FileManager.default.createDirectory(
            atPath: place, withIntermediateDirectories: true)
        try "".write(toFile: place + "/gsettings", atomically: true, encoding: .utf8)
        #expect(await candidates("explain", "else") == ["elsewhere.pens"])
    }
}
