import DefaultsFiles
import Foundation
import TestSupport
import Testing

@testable import ToolHarness

/// `defaultsctl apply`, and the options of other verbs for scripts.
@Suite(.inSession) struct ApplyTests {
    private let session = TestSession.current

    private func apply(_ document: String, _ options: String...) async -> ProgramResult {
        await session.tool(["apply"] + options, input: document)
    }

    private func json(_ arguments: String...) async throws -> String {
        try await session.tool(["read", "--json"] + arguments).requireOutput()
    }

    @Test func `JSON lines and commands make changes, all of a domain at once`() async throws {
        let document = """
            {"domain":"org.example.Game","key":"PlaySound","value":true}
            {"domain":"org.example.Game","key":"Player","value":{"$class":"Account","name":"ada"}}

            # The next lines are those of a shell.
            defaults write org.example.Game Level -int 3
            write org.example.Game 'Two Words' -string "a \\"b\\" \\\\ c"
            write org.example.Game Words \\
                -array one $'two\\n\\303\\251' three\\ four
              defaultsctl write -g Colour -string 'red
            and blue'
            {"domain":"org.example.Game","key":"Player","path":"name","value":"grace"}
            write org.example.Game Words -array-add five
            """
        #expect(try await apply(document).requireOutput() == "")
        #expect(
            try await json("org.example.Game") == """
                {"Level":3,"PlaySound":true,"Player":{"$class":"Account","name":"grace"},\
                "Two Words":"a \\"b\\" \\\\ c","Words":["one","two\\né","three four","five"]}

                """)
        #expect(try await json("NSGlobalDomain", "Colour") == "\"red\\nand blue\"\n")
        _ = try await apply(#"{"domain":"Apple Global Domain","key":"Colour","remove":true}"#)
            .requireOutput()
        #expect(await session.tool("read", "NSGlobalDomain", "Colour").status == 1)
        var generations: Set<String> = []
        for key in ["Level", "PlaySound", "Player", "Words"] {
            let words = ["read", "--generation", "org.example.Game", key]
            generations.insert(try await session.tool(words).requireOutput())
        }
        #expect(generations.count == 1, "one change: \(generations)")
    }

    @Test
    func `Lines may end as on Windows, and characters that only look like line breaks end none`()
        async throws
    {
        let document =
            "\u{FEFF}write a.b one -string 'x\u{301}'\u{301}y\r\n"
            + "{\"domain\":\"a.b\",\"key\":\"two\",\"value\":\"\u{2028}\u{85}\"}\r\n\r\n"
            + "write a.b three -string \u{301}abc"
        #expect(try await apply(document).requireOutput() == "")
        #expect(
            try await json("a.b")
                == "{\"one\":\"x\u{301}\u{301}y\",\"three\":\"\u{301}abc\","
                + "\"two\":\"\u{2028}\u{85}\"}\n")
    }

    @Test func `A file is applied, and waits for the disk on request`() async throws {
        let file = session.directory.path + "/changes"
        try #"{"domain":"org.example.Game","key":"Level","value":1}"#.write(
            toFile: file, atomically: true, encoding: .utf8)
        try await session.tool("apply", "--wait", "-f", file).requireOutput()
        #expect(try await session.pendingChanges() == 0)
        #expect(try await session.durableGeneration() == 2)
    }

    @Test(arguments: ["", "\n \n"])
    func `An input without changes is not an error, and the tool says so`(_ input: String) async {
        let result = await apply(input)
        #expect(result.status == 0 && result.output.isEmpty)
        #expect(result.error == "defaultsctl: The input has no changes.\n")
    }

    @Test(arguments: [
        (#"{"domain":"a.b","key":"k"}"#, "line 2: A change needs either \"value\" or"),
        (#"{"domain":"a.b","key":"k","value":1,"remove":true}"#, "either \"value\" or"),
        (#"{"domain":"a.b","value":1}"#, "line 2: A change needs a \"key\""),
        (#"{"domain":"a.b","key":"k","valeu":1}"#, "'valeu' is not a member of a change"),
        (#"{"domain":"a.b","key":"k","value":1,"ifGeneration":-1}"#, "\"ifGeneration\" must be"),
        (#"{"domain":"a.b","key":"k","value":1"#, "line 2: "),
        (#"{"domain":"a.b","key":"k","path":"","value":1}"#, "line 2: A path must not be empty"),
        (#"{"domain":"-x","key":"k","value":1}"#, "'-x' is not a domain"),
        ("write a.b k -int 1 'x", "line 2: a single quote is not closed."),
        ("write a.b k \"x", "line 2: a double quote is not closed."),
        ("write a.b k $HOME", "'$' is special to a shell"),
        ("write a.b k -int 1; killall Dock", "';' is special to a shell"),
        ("write a.b k `date`", "'`' is special to a shell"),
        ("read a.b k", "line 2: 'read' cannot be a line of a document. Use write or delete."),
        ("delete a.b", "line 2: Each line needs a key"),
        ("write a.b '{k = 1;}'", "line 2: Each line needs a key"),
        ("write a.b k -bool perhaps", "line 2: "),
        ("frobnicate a.b", "line 2: There is no verb 'frobnicate'."),
        ("write 'bad domain' k -int 1", "line 2: Invalid domain 'bad domain'"),
        ("write a.b '' -int 1", "line 2: '' is not a valid key"),
        (#"{"domain":"a.b","key":"a\u0000b","value":1}"#, "line 2: 'a\\u{0}b' is not a valid key"),
        ("write a.b@managed k -int 1", "line 2: a.b@managed is read only"),
        ("write a.b k -int 1 --wait", "line 2: A line cannot have --wait"),
        (
            "{\"domain\":\"a.b\",\"key\":\"k\",\"value\":1,\"ifGeneration\":7}\n"
                + "{\"domain\":\"a.b\",\"key\":\"k\",\"value\":1,\"ifGeneration\":0}",
            "line 3: An earlier line expects a different generation of 'k'"
        ),
    ])
    func `A document with a mistake changes nothing`(line: String, sentence: String) async throws {
        let result = await apply("write org.example.Game Level -int 1\n\(line)\n")
        #expect(result.status == 1)
        #expect(result.error.hasPrefix("defaultsctl: standard input, "), "\(result.error)")
        #expect(result.error.contains(sentence), "\(result.error)")
        #expect(result.error.split(separator: "\n").count == 1, "\(result.error)")
        #expect(await session.tool("read", "org.example.Game").status == 1)
    }

    @Test func `If a generation does not match, none of the domain's changes is made`() async throws
    {
        try await session.tool("write", "org.example.Game", "Level", "-int", "1").requireOutput()
        let refused = await apply(
            """
            {"domain":"org.example.Game","key":"Other","value":2}
            {"domain":"org.example.Game","key":"Level","value":2,"ifGeneration":1}
            """)
        #expect(refused.status == 1 && refused.error.contains("expected at generation 1"))
        #expect(try await json("org.example.Game") == "{\"Level\":1}\n")
        let level = try await session.tool("read", "--generation", "org.example.Game", "Level")
            .requireOutput().trimmingCharacters(in: .newlines)
        _ = try await apply(
            """
            {"domain":"org.example.Game","key":"New","value":2,"ifGeneration":0}
            {"domain":"org.example.Game","key":"Level","remove":true,"ifGeneration":\(level)}
            """
        ).requireOutput()
        #expect(try await json("org.example.Game") == "{\"New\":2}\n")
    }

    @Test
    func
        `If a later domain is refused, no earlier one is changed, and the line is reported`()
        async throws
    {
        try await session.tool("write", "c.d", "there", "-int", "1").requireOutput()
        try await session.write(#"{"$locked": ["fixed"]}"#, to: "e.f.json", in: .managed)
        for (line, sentence) in [
            ("write c.d k --if-generation 7 -int 2", "'k' of c.d was expected at generation 7"),
            ("write e.f fixed -int 2", "'fixed' of e.f is locked"),
            ("write c.d none --path x -int 2", "(c.d, none) does not exist"),
            ("write c.d there -array-add 2", "is not an array"),
        ] {
            let refused = await apply(
                "write a.b k -int 1\nwrite c.d ok -int 1\nwrite e.f ok 1\n\(line)\n")
            #expect(refused.status == 1)
            #expect(refused.error.hasPrefix("defaultsctl: standard input, line 4: "), "\(refused)")
            #expect(refused.error.contains(sentence), "\(refused)")
            #expect(await session.tool("domains").output == "c.d\n")
            #expect(try await json("c.d") == "{\"there\":1}\n")
        }
    }

    @Test func `write and delete compare and set, and wait`() async throws {
        func tool(_ words: String...) async -> Int32 { await session.tool(words).status }
        #expect(
            await tool("write", "org.example.Game", "K", "-int", "1", "--if-generation", "0") == 0)
        #expect(
            await tool("write", "org.example.Game", "K", "-int", "2", "--if-generation", "0") == 1)
        #expect(
            await tool("write", "--if-generation", "2", "org.example.Game", "K", "-int", "3") == 0)
        #expect(try await json("org.example.Game", "K") == "3\n")
        #expect(await tool("delete", "org.example.Game", "K", "--if-generation", "2") == 1)
        #expect(
            await tool("delete", "org.example.Game", "K", "--if-generation", "3", "--wait") == 0)
        #expect(try await session.pendingChanges() == 0)
        #expect(try await session.tool("read", "--generation", "a.b", "K").requireOutput() == "0\n")
    }

    @Test func `Lists are separated by NUL, and raw values are exact`() async throws {
        let keys = ["a b", "c\nd", "é"]
        for key in keys {
            try await session.tool("write", "org.example.Game", key, "-string", "x\u{1B}[1m\n")
                .requireOutput()
        }
        let listed = try await session.tool("keys", "-0", "org.example.Game").requireOutput()
        #expect(listed == keys.map { $0 + "\0" }.joined())
        #expect(try await session.tool("domains", "--null").requireOutput() == "org.example.Game\0")
        #expect(
            try await session.tool("keys", "--json", "org.example.Game").requireOutput()
                == "[\"a b\",\"c\\nd\",\"é\"]\n")
        let raw = try await session.tool("read", "--raw", "org.example.Game", "é").requireOutput()
        #expect(raw == "x\u{1B}[1m\n\n")
        try await session.tool("write", "org.example.Game", "D", "-data", "00ff0a").requireOutput()
        #expect(await session.bytes("read", "--raw", "org.example.Game", "D") == [0, 0xFF, 10])
        try await session.tool("write", "org.example.Game", "A", "-array", "x").requireOutput()
        let refused = await session.tool("read", "--raw", "org.example.Game", "A")
        #expect(refused.status == 1 && refused.error.contains("has type array"))
    }

    @Test(arguments: [
        (["raed", "a.b"], "There is no verb 'raed'. Did you mean 'read'?", 64),
        (["read", "org.example.Gane"], "Did you mean 'org.example.Game'?", 1),
        (["read", "org.example.Gaem", "Level"], "Did you mean 'org.example.Game'?", 1),
        (["read", "org.example.Game", "level"], "Did you mean 'Level'?", 1),
        (["keys", "org.exmaple.Game"], "Did you mean 'org.example.Game'?", 1),
        (["read", "com.other.Thing"], "Domain com.other.Thing does not exist\n", 1),
        (["read", "--jsno", "a.b"], "Did you mean '--json'?", 64),
        (["watch", "--for"], "Unknown option '--for'; see", 64),
        (["delete", "org.example.Nope"], "Defaults have not been changed.\n", 1),
    ])
    func `A mistyped name gets a suggestion`(
        words: [String], sentence: String, status: Int32
    ) async throws {
        try await session.tool("write", "org.example.Game", "Level", "-int", "1").requireOutput()
        let result = await session.tool(words)
        #expect(result.status == status)
        #expect(result.error.contains(sentence), "\(result.error)")
    }
}
