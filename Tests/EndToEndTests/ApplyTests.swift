import Foundation
import TestSupport
import TestTiers
import Testing

/// `defaultsctl apply`, and the options of other verbs for scripts.
@Suite(.startsPrograms) struct ApplyTests {
    private let desktop: Desktop

    init() throws {
        desktop = try Desktop()
    }

    private func apply(_ document: String, _ options: String...) -> ProgramResult {
        desktop.run(
            [Desktop.programs + "/defaultsctl", "apply"] + options, input: document)
    }

    private func json(_ arguments: String...) throws -> String {
        try desktop.tool(["read", "--json"] + arguments).requireOutput()
    }

    @Test func `JSON lines and commands make changes, all of a domain at once`() throws {
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
        #expect(try apply(document).requireOutput() == "")
        #expect(
            try json("org.example.Game") == """
                {"Level":3,"PlaySound":true,"Player":{"$class":"Account","name":"grace"},\
                "Two Words":"a \\"b\\" \\\\ c","Words":["one","two\\né","three four","five"]}

                """)
        #expect(try json("NSGlobalDomain", "Colour") == "\"red\\nand blue\"\n")
        _ = try apply(#"{"domain":"Apple Global Domain","key":"Colour","remove":true}"#)
            .requireOutput()
        #expect(desktop.tool("read", "NSGlobalDomain", "Colour").status == 1)
        let generations = try ["Level", "PlaySound", "Player", "Words"].map {
            try desktop.tool("read", "--generation", "org.example.Game", $0).requireOutput()
        }
        #expect(Set(generations).count == 1, "one change: \(generations)")
    }

    @Test
    func `Lines may end as on Windows, and characters that only look like line breaks end none`()
        throws
    {
        let document =
            "\u{FEFF}write a.b one -string 'x\u{301}'\u{301}y\r\n"
            + "{\"domain\":\"a.b\",\"key\":\"two\",\"value\":\"\u{2028}\u{85}\"}\r\n\r\n"
            + "write a.b three -string \u{301}abc"
        #expect(try apply(document).requireOutput() == "")
        #expect(
            try json("a.b")
                == "{\"one\":\"x\u{301}\u{301}y\",\"three\":\"\u{301}abc\","
                + "\"two\":\"\u{2028}\u{85}\"}\n")
    }

    @Test func `Very many lines and very many words are read in reasonable time`() throws {
        let lines = (0..<20_000).map { "write a.b key\($0) -int \($0)\n" }.joined()
        #expect(try apply(lines).requireOutput() == "")
        let words = (0..<20_000).map { "\($0)" }
        _ = try desktop.tool(["write", "a.c", "list", "-array"] + words).requireOutput()
        #expect(
            try desktop.tool("keys", "a.b").requireOutput().split(separator: "\n").count == 20_000)
        #expect(try json("a.c", "list").split(separator: ",").count == 20_000)
    }

    @Test func `A file is applied, and waits for the disk on request`() throws {
        let file = desktop.directory.path + "/changes"
        try #"{"domain":"org.example.Game","key":"Level","value":1}"#.write(
            toFile: file, atomically: true, encoding: .utf8)
        _ = try desktop.tool("apply", "--wait", "-f", file).requireOutput()
        #expect(try desktop.property("PendingChanges") == "<uint32 0>")
        #expect(try desktop.property("DurableGeneration") == "<uint64 2>")
    }

    @Test(arguments: ["", "\n \n"])
    func `An input without changes is not an error, and the tool says so`(_ input: String) {
        let result = apply(input)
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
    func `A document with a mistake changes nothing`(line: String, sentence: String) throws {
        let result = apply("write org.example.Game Level -int 1\n\(line)\n")
        #expect(result.status == 1)
        #expect(result.error.hasPrefix("defaultsctl: standard input, "), "\(result.error)")
        #expect(result.error.contains(sentence), "\(result.error)")
        #expect(result.error.split(separator: "\n").count == 1, "\(result.error)")
        #expect(desktop.tool("read", "org.example.Game").status == 1)
    }

    @Test func `If a generation does not match, none of the domain's changes is made`() throws {
        _ = try desktop.tool("write", "org.example.Game", "Level", "-int", "1").requireOutput()
        let refused = apply(
            """
            {"domain":"org.example.Game","key":"Other","value":2}
            {"domain":"org.example.Game","key":"Level","value":2,"ifGeneration":1}
            """)
        #expect(refused.status == 1 && refused.error.contains("expected at generation 1"))
        #expect(try json("org.example.Game") == "{\"Level\":1}\n")
        let level = try desktop.tool("read", "--generation", "org.example.Game", "Level")
            .requireOutput().trimmingCharacters(in: .newlines)
        _ = try apply(
            """
            {"domain":"org.example.Game","key":"New","value":2,"ifGeneration":0}
            {"domain":"org.example.Game","key":"Level","remove":true,"ifGeneration":\(level)}
            """
        ).requireOutput()
        #expect(try json("org.example.Game") == "{\"New\":2}\n")
    }

    @Test
    func
        `If a later domain is refused, no earlier one is changed, and the line is reported`()
        throws
    {
        _ = try desktop.tool("write", "c.d", "there", "-int", "1").requireOutput()
        try desktop.write(#"{"$locked": ["fixed"]}"#, to: "e.f.json", in: .managed)
        try desktop.awaitLock(of: "fixed", in: "e.f")
        for (line, sentence) in [
            ("write c.d k --if-generation 7 -int 2", "'k' of c.d was expected at generation 7"),
            ("write e.f fixed -int 2", "'fixed' of e.f is locked"),
            ("write c.d none --path x -int 2", "(c.d, none) does not exist"),
            ("write c.d there -array-add 2", "is not an array"),
        ] {
            let refused = apply(
                "write a.b k -int 1\nwrite c.d ok -int 1\nwrite e.f ok 1\n\(line)\n")
            #expect(refused.status == 1)
            #expect(refused.error.hasPrefix("defaultsctl: standard input, line 4: "), "\(refused)")
            #expect(refused.error.contains(sentence), "\(refused)")
            #expect(desktop.tool("domains").output == "c.d\n")
            #expect(try json("c.d") == "{\"there\":1}\n")
        }
    }

    @Test
    func `If one domain fails after all, no domain is changed, and its line is reported`() throws {
        _ = try desktop.tool("write", "a.b", "{ old = 1; kept = 2; }").requireOutput()
        // The names of a domain's keys have 16 MiB at most, which no check before the change looks at.
        let full = "\(desktop.directory.path)/full.json"
        _ = try desktop.python(
            """
            import json, sys
            json.dump({f"{n:01024}": n for n in range(16384)}, open(sys.argv[1], "w"))
            """, full
        ).requireOutput()
        _ = try desktop.tool("import", "c.d", full).requireOutput()
        let refused = apply(
            """
            write a.b old -int 9
            delete a.b kept
            write a.b new -int 9
            write e.f same -int 1
            write c.d more -int 1
            write g.h later -int 1
            """)
        #expect(refused.status == 1)
        #expect(refused.error.hasPrefix("defaultsctl: standard input, line 5: "), "\(refused)")
        #expect(try json("a.b") == "{\"kept\":\"2\",\"old\":\"1\"}\n")
        #expect(desktop.tool("domains").output == "a.b, c.d\n")
    }

    @Test func `A value that is too large is refused with its line, before anything is changed`() {
        let large = String(repeating: "x", count: 17 << 20)
        let refused = apply(
            """
            write a.b first -int 1
            {"domain":"a.b","key":"large","value":"\(large)"}
            """)
        #expect(refused.status == 1)
        #expect(
            refused.error.hasPrefix(
                "defaultsctl: standard input, line 2: The value of 'large' has "),
            "\(refused.error)")
        #expect(desktop.tool("domains").output == "\n")
    }

    @Test func `write and delete compare and set, and wait`() throws {
        func tool(_ words: String...) -> Int32 { desktop.tool(words).status }
        #expect(tool("write", "org.example.Game", "K", "-int", "1", "--if-generation", "0") == 0)
        #expect(tool("write", "org.example.Game", "K", "-int", "2", "--if-generation", "0") == 1)
        #expect(tool("write", "--if-generation", "2", "org.example.Game", "K", "-int", "3") == 0)
        #expect(try json("org.example.Game", "K") == "3\n")
        #expect(tool("delete", "org.example.Game", "K", "--if-generation", "2") == 1)
        #expect(tool("delete", "org.example.Game", "K", "--if-generation", "3", "--wait") == 0)
        #expect(try desktop.property("PendingChanges") == "<uint32 0>")
        #expect(try desktop.tool("read", "--generation", "a.b", "K").requireOutput() == "0\n")
    }

    @Test func `Many simultaneous edits of one value are all made`() throws {
        let writers = try (0..<8).map { number in
            try desktop.start(
                Desktop.programs + "/defaultsctl", "write", "org.example.Game", "List",
                "-array-add", "\(number)")
        }
        for writer in writers { #expect(writer.waitUntilExit() == 0) }
        let list = try json("org.example.Game", "List")
        #expect((0..<8).allSatisfy { list.contains("\"\($0)\"") }, "\(list)")
    }

    @Test func `Lists are separated by NUL, and raw values are exact`() throws {
        let keys = ["a b", "c\nd", "é"]
        for key in keys {
            _ = try desktop.tool("write", "org.example.Game", key, "-string", "x\u{1B}[1m\n")
                .requireOutput()
        }
        let listed = try desktop.tool("keys", "-0", "org.example.Game").requireOutput()
        #expect(listed == keys.map { $0 + "\0" }.joined())
        #expect(try desktop.tool("domains", "--null").requireOutput() == "org.example.Game\0")
        #expect(
            try desktop.tool("keys", "--json", "org.example.Game").requireOutput()
                == "[\"a b\",\"c\\nd\",\"é\"]\n")
        let raw = try desktop.tool("read", "--raw", "org.example.Game", "é").requireOutput()
        #expect(raw == "x\u{1B}[1m\n\n")
        _ = try desktop.tool("write", "org.example.Game", "D", "-data", "00ff0a").requireOutput()
        let bytes = try desktop.python(
            "import subprocess, sys; print(subprocess.check_output(sys.argv[1:]))",
            Desktop.programs + "/defaultsctl", "read", "--raw", "org.example.Game", "D"
        ).requireOutput()
        #expect(bytes == #"b'\x00\xff\n'"# + "\n")
        _ = try desktop.tool("write", "org.example.Game", "A", "-array", "x").requireOutput()
        let refused = desktop.tool("read", "--raw", "org.example.Game", "A")
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
    ) throws {
        _ = try desktop.tool("write", "org.example.Game", "Level", "-int", "1").requireOutput()
        let result = desktop.tool(words)
        #expect(result.status == status)
        #expect(result.error.contains(sentence), "\(result.error)")
    }
}
