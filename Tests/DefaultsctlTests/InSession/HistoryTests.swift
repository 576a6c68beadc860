import DBus
import DefaultsProtocol
import DefaultsTerms
import Foundation
import TestSupport
import Testing

@testable import ServiceHarness
@testable import ToolHarness
@testable import defaultsctl

/// What `history` shows.
@Suite(.inSession) struct HistoryTests {
    private let session = TestSession.current

    private static let app = "org.example.App"
    private static let complete = "The history is complete from TIME on.\n"

    @Test func `The newest action is first, each key with its old and its new value`() async throws
    {
        await session.tool("write", Self.app, "Level", "-int", "1")
        await session.tool("write", Self.app, "Level", "-int", "2")
        await session.tool("delete", Self.app, "Level")
        try await session.attribute(1...3, to: "editor")
        #expect(
            try await session.shown("history") == """
                3  TIME  editor
                    org.example.App Level: 2 -> (not set)
                2  TIME  editor
                    org.example.App Level: 1 -> 2
                1  TIME  editor
                    org.example.App Level: (not set) -> 1
                \(Self.complete)
                """)
    }

    @Test func `Of a dictionary only the parts that differ are shown, and long values are cut`()
        async throws
    {
        let long = String(repeating: "long ", count: 100)
        await session.tool(
            "write", Self.app, "All", "--json", #"{"a":{"b":1,"c":2},"l":[1,2]}"#)
        await session.tool("write", Self.app, "All", "--path", "a.b", "-int", "5")
        await session.tool("write", Self.app, "All", "--path", "a.new", "-string", long)
        let lines = try await session.shown("history", "--limit", "2").split(separator: "\n")
        #expect(lines[3] == "    org.example.App All a.b: 1 -> 5")
        #expect(lines[1].hasPrefix("    org.example.App All a.new: (not set) -> \"long long"))
        #expect(lines[1].hasSuffix("…") && lines[1].count < 200)
        let (text, _) = await session.onTerminal(["history", "--limit", "1"])
        #expect(text.split(separator: "\n").allSatisfy { $0.terminalWidth <= 80 }, "\(text)")
    }

    @Test func `A domain and a key select what is shown of each action`() async throws {
        let caller = try await session.service.caller()
        try await caller.applyAll([
            caller.part(Self.app, ["One": 1, "Two": 2]),
            caller.part("org.example.Other", ["One": 3]),
        ])
        await session.tool("write", "org.example.Other", "Two", "-int", "4")
        await session.tool("write", Self.app + "@host", "One", "-int", "5")
        func lines(_ words: String...) async throws -> [String] {
            try await session.tool(["history"] + words).requireOutput().split(separator: "\n")
                .filter { $0.hasPrefix("    ") }.map { String($0.dropFirst(4)) }
        }
        #expect(
            try await lines(Self.app)
                == ["org.example.App One: (not set) -> 1", "org.example.App Two: (not set) -> 2"])
        #expect(try await lines(Self.app, "Two") == ["org.example.App Two: (not set) -> 2"])
        #expect(
            try await lines(Self.app + "@host") == ["org.example.App@host One: (not set) -> 5"])
        #expect(
            try await lines("--current-host", Self.app)
                == ["org.example.App@host One: (not set) -> 5"])
        #expect(try await lines("1").count == 3)
    }

    @Test func `What was there and back is left out unless all is asked for`() async throws {
        let caller = try await session.service.caller()
        try await caller.set(Self.app, "Key", 1)
        await session.service.advance(by: .seconds(3))
        try await caller.set(Self.app, "Key", 2)
        try await caller.set(Self.app, "Key", 1)
        #expect(try await !session.shown("history").contains("2  TIME"))
        let all = try await session.shown("history", "--all")
        #expect(all.contains("    org.example.App Key: 1 -> 1  (there and back)\n"), "\(all)")
        #expect(!all.contains("undone"))
        #expect(try await session.shown("history", "2").contains("(there and back)"))
    }

    @Test func `A time, a program and a number select actions`() async throws {
        session.useSystemTime()
        for number in 1...4 {
            await session.tool("write", Self.app, "Key", "-int", "\(number)")
        }
        try await session.date(1...1, hoursAgo: 48)
        try await session.date(2...2, hoursAgo: 5)
        try await session.attribute(4...4, to: "panel")
        func numbers(_ words: String...) async throws -> String {
            try await session.shown(["history"] + words).split(separator: "\n")
                .filter { $0.first?.isNumber == true }.map { $0.prefix { $0 != " " } }
                .joined(separator: " ")
        }
        #expect(try await numbers() == "4 3 2 1")
        #expect(try await numbers("--since", "6h") == "4 3 2")
        #expect(try await numbers("--since", "3d", "--until", "4h") == "2 1")
        #expect(try await numbers("--until", "1d") == "1")
        #expect(try await numbers("--program", "panel") == "4")
        #expect(try await numbers("--limit", "2") == "4 3")
        #expect(
            try await session.shown("history", "--limit", "2").hasSuffix(
                "Older actions are not shown: see --limit and --since.\n"))
        #expect(try await session.shown("history", "--limit", "4").hasSuffix(Self.complete))
    }

    @Test func `What a person has changed, and what has a text, can be asked for`() async throws {
        await session.tool("write", Self.app, "Font", "-string", "Mono 10")
        await session.tool("write", "org.example.Panel", "Size", "-int", "3")
        try await session.attribute(2...2, to: "xfce4-panel")
        let caller = try await session.service.caller()
        try await caller.apply(Self.app, ["Font": "Serif 12", "Level": 7])
        try await session.attribute(3...3, to: "editor")
        func found(_ words: String...) async throws -> [String] {
            try await session.tool(["history"] + words).requireOutput().withoutTimes
                .split(separator: "\n").filter { $0.hasPrefix("    ") }.map { $0.dropFirst(4) }
                .map(String.init)
        }
        #expect(try await found("--by-hand").count == 3)
        #expect(await session.tool("history", "--by-hand", "--find", "panel").status == 1)
        #expect(
            try await found("--find", "SERIF", "--limit", "1")
                == [
                    #"org.example.App Font: "Mono 10" -> "Serif 12""#,
                    "and 1 other key: defaultsctl history 3",
                ])
        let fonts = try await found("--find", "font")
        #expect(
            fonts.count == 3 && fonts[1] == "and 1 other key: defaultsctl history 3", "\(fonts)")
        let none = await session.tool("history", "--find", "kerning")
        #expect(none.status == 1 && none.error.contains("with 'kerning' in a domain, key or value"))
    }

    @Test func `An action with many keys is cut in a list, and whole by its number`() async throws {
        let caller = try await session.service.caller()
        for number in 0..<50 { try await caller.set(Self.app, "Key\(number)", 1) }
        let list = try await session.shown("history").split(separator: "\n")
        #expect(list.count == 15 && list[13] == "    and 38 other keys: defaultsctl history 1")
        #expect(try await session.shown("history", "1").split(separator: "\n").count == 51)
    }

    @Test func `What is not there is said, with the time from which on the history is complete`()
        async throws
    {
        await session.tool("write", Self.app, "Key", "-int", "1")
        let none = await session.tool("history", "org.example.None")
        #expect(none.status == 1 && none.output.isEmpty)
        #expect(
            none.error.withoutTimes
                == """
                defaultsctl: The history has no such change of org.example.None. It is complete from TIME on. \
                'defaultsctl history --find org.example.None' looks for it in all domains, keys and values.

                """)
        let number = await session.tool("history", "7")
        #expect(number.status == 1 && number.error.contains("The history has no action 7."))
        #expect(try await session.shown("history", "org.example.None", "--json") == "[]\n")
    }

    @Test func `A history that is switched off says so`() async throws {
        await session.tool("write", Self.app, "Key", "-int", "1")
        await session.tool("write", "org.defaultsd.History", "Days", "-int", "0")
        await session.tool("write", Self.app, "Key", "-int", "2")
        for words in [
            ["history"], ["undo", "--yes"], ["undo", Self.app, "--yes"], ["redo", "--yes"],
        ] {
            let result = await session.tool(words)
            #expect(
                result.status == 1
                    && result.error.contains("switched off: Days of org.defaultsd.History is 0"),
                "\(words): \(result)")
        }
    }

    @Test func `An application in a sandbox, a machine and a document are named`() async throws {
        let application = try await session.service.caller(.application("org.example.Boxed"))
        try await application.set("org.example.Boxed", "Key", 1)
        let document = #"{"$defaults":1,"owner":"dotfiles","domains":{"org.example.App":{"A":1}}}"#
        await session.tool(["apply", "-"], input: document)
        let caller = try await session.service.caller()
        try await caller.applyAll(
            [caller.part(Self.app, ["B": 2])],
            .init(sponsor: .init(kind: .roam, machine: "laptop")))
        let text = try await session.shown("history")
        #expect(text.contains("1  TIME  org.example.Boxed in a sandbox\n"), "\(text)")
        #expect(text.contains("2  TIME  document dotfiles\n"), "\(text)")
        #expect(text.contains("3  TIME  from laptop\n"), "\(text)")
        // What the document owns is a part of its action, and not of what a person has changed.
        #expect(!text.contains("org.defaultsd.Applied"))
        #expect(try await session.shown("history", "2", "--all").contains("org.defaultsd.Applied"))
    }

    @Test func `An application in a sandbox gets no history`() async throws {
        let result = await session.tool(
            ["history"], as: .application("org.example.Boxed"))
        #expect(result.status == 1 && result.output.isEmpty, "\(result)")
    }

    @Test func `JSON has all that is known`() async throws {
        await session.tool("write", Self.app, "Key", "-int", "1")
        await session.tool("delete", Self.app, "Key")
        let json = try await session.shown("history", "--json")
        let actions = try #require(
            try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]])
        #expect(actions.map { $0["number"] as? Int } == [2, 1])
        let changes = try #require(actions[0]["changes"] as? [[String: Any]])
        #expect(changes.count == 1)
        #expect(changes[0]["domain"] as? String == Self.app)
        #expect(changes[0]["key"] as? String == "Key")
        #expect(changes[0]["old"] as? Int == 1 && changes[0]["new"] == nil)
        #expect(changes[0]["state"] as? String == "holds")
        #expect(actions[0]["byHand"] as? Bool == true && actions[0]["undone"] as? Bool == false)
        #expect((actions[0]["began"] as? String)?.hasSuffix("Z") == true)
    }

    @Test(arguments: [true, false])
    func `A patch makes the same state elsewhere`(isWhole: Bool) async throws {
        for words in [
            [Self.app, "Number", "-float", "0.1"],
            [Self.app, "Odd key'", "-string", "it's\n\"odd\""],
            [Self.app, "Number", "-int", "3"], [Self.app, "-dash", "-bool", "true"],
            [Self.app, "Data", "-data", "0fbe"], [Self.app, "Gone", "-int", "1"],
            [Self.app, "Date", "-date", "2024-02-29 12:00:01 +0000"],
            ["org.example.Other@host", "Tree", "--json", #"{"a":[1,{"b":null}],"c":1.0}"#],
            ["-g", "Text", "-string", "\u{1B}[2J"],
        ] {
            #expect(await session.tool(["write"] + words).status == 0, "\(words)")
        }
        await session.tool("delete", Self.app, "Gone")
        func state(of session: TestSession) async throws -> [String] {
            var texts: [String] = []
            for domain in [Self.app, "org.example.Other@host", "-g"] {
                texts.append(try await session.tool("read", "--json", domain).requireOutput())
            }
            return texts
        }
        let patch = try await session.tool("history", "--patch").requireOutput()
        // Of each key, the last change counts.
        #expect(patch.ranges(of: "Number").count == 1)
        let other = try await TestSession()
        if isWhole {
            let applied = await other.tool(["apply", "-"], input: patch)
            #expect(applied.status == 0, "\(applied)")
        } else {
            for number in 1...10 {
                let patch = try await session.tool("history", "\(number)", "--patch")
                    .requireOutput()
                let applied = await other.tool(["apply", "-"], input: patch)
                #expect(applied.status == 0, "\(applied) \(patch)")
            }
        }
        #expect(try await state(of: other) == state(of: session))
        try await other.service.end()
    }

    @Test func `A value that the history does not have is unknown, and no command makes it`()
        async throws
    {
        let large = String(repeating: "x", count: 300 << 10)
        await session.tool("write", Self.app, "Key", "-string", large)
        await session.tool("write", Self.app, "Key", "-int", "1")
        let text = try await session.shown("history", Self.app)
        #expect(text.contains("(unknown)") || text.contains("not in the history"), "\(text)")
    }

    @Test func `explain and stats name the last action`() async throws {
        await session.tool("write", Self.app, "Key", "-int", "1")
        try await session.attribute(1...1, to: "editor")
        let text = try await session.shown("explain", Self.app, "Key")
        #expect(text.contains("Last changed TIME by editor, action 1.\n"), "\(text)")
        let json = try await session.tool("explain", "--json", Self.app, "Key").requireOutput()
        #expect(json.contains(#""lastAction":{"number":1,"program":"editor""#), "\(json)")
        let stats = try await session.shown("stats")
        #expect(stats.contains("1 action so far, complete from TIME on"), "\(stats)")
        let facts = try await session.tool("stats", "--json").requireOutput()
        #expect(facts.contains(#""historyActions":1"#))
    }

    @Test func `If the process of a change is not known any more, watch names the action`()
        async throws
    {
        await session.tool("write", Self.app, "Key", "-int", "1")
        try await session.attribute(1...1, to: "editor")
        try await session.service.restart()
        let generation = try await session.get(Self.app, "Key").generation
        let words = try await session.asking { defaults in
            var authors = WatchedAuthors(of: defaults)
            let author = await authors.author(
                of: generation, of: "Key", in: Self.app, from: nil)
            // Another change of the key is not this one.
            let other = await authors.author(of: 1, of: "Key", in: Self.app, from: nil)
            return [author?.words, other?.words]
        }
        #expect(words == ["editor, action 1", nil])
    }

    @Test func `Numbers, programs and times are completed`() async throws {
        await session.tool("write", Self.app, "Key", "-int", "1")
        await session.tool("undo", "--yes")
        try await session.attribute(1...1, to: "editor")
        func candidates(_ words: String...) async throws -> [String] {
            try await session.tool(["complete", "--"] + words).requireOutput()
                .split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
        }
        #expect(try await candidates("undo", "1") == ["1"])
        #expect(try await candidates("redo", "") == ["2"])
        #expect(try await candidates("history", "--program", "ed") == ["editor"])
        #expect(try await candidates("undo", "--since", "y") == ["yesterday"])
    }

    @Test(
        arguments: [
            ("history org.example.App --since 10", "has no unit"),
            ("history --since 2099-01-01", "is in the future"),
            ("history --since soon", "is not one"),
            ("history --since 1h --until 2h", "so nothing is between them"),
            ("history 1 Key", "which takes no key"),
            ("history 1 --since 1h", "--since means nothing"),
            ("history 0", "is not the number of an action"),
            ("history 99999999999999999999", "is not the number of an action"),
            ("history --json --patch", "cannot be used together"),
            ("history --limit 0", "--limit must"),
            ("history --program=", "--program needs"), ("undo --program x", "--since 10m"),
            ("undo 1 --to 1h", "--to means nothing"), ("undo --to 1h --since 1h", "mean the same"),
            ("undo --dry-run --yes", "mean nothing"), ("redo org.example.App", "is not the number"),
            ("redo 0", "is not the number"),
        ])
    func `Wrong command lines are refused`(line: String, sentence: String) async throws {
        let result = await session.tool(line.split(separator: " ").map(String.init))
        #expect(result.status == 64 && result.error.contains(sentence), "\(line): \(result)")
    }
}

extension TestSession {
    fileprivate func shown(_ words: [String]) async throws -> String {
        try await tool(words).requireOutput().withoutTimes
    }
}
