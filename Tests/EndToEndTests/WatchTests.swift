import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// `defaultsctl watch`.
@Suite(.startsPrograms, .serialized) struct WatchTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    /// Starts a watch, which has begun when this returns.
    private func watch(_ arguments: String...) throws -> (process: ChildProcess, lines: LineReader)
    {
        let process = try ChildProcess(
            [Desktop.programs + "/defaultsctl", "watch"] + arguments,
            environment: desktop.environment, output: .lines)
        try desktop.waitForMatchRule(containing: "member='Changed'")
        return (process, try #require(process.lines))
    }

    @Test func `A line has the new value, the old value, and the writer`() throws {
        desktop.tool("write", "org.example.Game", "Level", "-int", "1")
        let (watcher, lines) = try watch()
        desktop.tool("write", "org.example.Game", "Level", "-int", "2")
        #expect(
            lines.next()?.contains(
                /^org\.example\.Game Level = 2 \(was 1; defaultsctl \d+\)$/) == true)
        desktop.tool("write", "org.example.Game@host", "New\n", "-string", "a\u{1B}b")
        #expect(
            lines.next()?.contains(
                /^org\.example\.Game@host "New\\n" = "a\\u001[bB]b" \(new; defaultsctl \d+\)$/)
                == true)
        desktop.tool("delete", "org.example.Game", "Level")
        #expect(
            lines.next()?.contains(
                /^org\.example\.Game Level removed \(was 2; defaultsctl \d+\)$/) == true)
        watcher.send(SIGTERM)
        try watcher.requireSuccess()
        #expect(lines.next() == nil)
    }

    @Test func `With --json each line is an object, with the writer's program`() throws {
        let (watcher, lines) = try watch("--json")
        defer { watcher.send(SIGTERM) }
        desktop.tool("write", "a.b", "key", "--json", #"{"x":[1,null]}"#)
        let set = try object(lines.next())
        desktop.tool("delete", "a.b", "key")
        #expect(set["generation"] as? Int == 2 && set["domain"] as? String == "a.b")
        #expect(set["key"] as? String == "key" && set["old"] == nil)
        #expect(set["new"] as? [String: NSArray] == ["x": [1, NSNull()]])
        let writer = try #require(set["writer"] as? [String: Any])
        #expect(writer["name"] as? String == "defaultsctl")
        #expect((writer["executable"] as? String)?.hasSuffix("/defaultsctl") == true)
        #expect(writer["process"] as? Int != nil)
        let removed = try object(lines.next())
        #expect(removed["new"] == nil && removed["old"] != nil)
        #expect(removed["generation"] as? Int == 3)
    }

    private func object(_ line: String?) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(try #require(line).utf8))
        return try #require(object as? [String: Any])
    }

    /// The commands are run by a shell on another desktop, which has the same values then.
    @Test func `With --as-commands the lines make the same changes`() throws {
        let output = desktop.directory.path + "/commands"
        desktop.tool("write", "a.b", "gone", "-int", "1")
        desktop.tool("write", "a.b", "part", "--json", #"{"x":1,"y":2}"#)
        let other = try Desktop()
        for line in ["gone -int 1", #"part --json {"x":1,"y":2}"#] {
            other.tool(["write", "a.b"] + line.split(separator: " ").map(String.init))
        }
        let watcher = try ChildProcess(
            [Desktop.programs + "/defaultsctl", "watch", "--as-commands"],
            environment: desktop.environment, output: .file(output))
        try desktop.waitForMatchRule(containing: "member='Changed'")
        let values = [
            "true", "-7", "18446744073709551615", "1.5", "1e300", #"{"$real":"nan"}"#,
            #""it's \"quoted\" $HOME `id` \\ \n\t""#, #""\u0000""#, #""""#, #""-dash""#,
            #""--wait""#,
            #"{"$data":"AAEC"}"#, #"{"$date":725760000.0}"#, #"["a",{"b":[null,false]}]"#,
            #"{"$class":"Account","username":"ada","n":{"$class":"NSNumber","$value":4}}"#,
            #"{"$class":"NSSet","NS.objects":[1,2]}"#, #""ünïcödé 🎉""#,
            // A mark that joins the quotation mark before it, which a shell does not see.
            "\"x'\u{301}; exit 9; '\u{301}\"", "\"\u{301}abc\"",
        ]
        for (number, value) in values.enumerated() {
            desktop.tool("write", "a.b", "value \(number)'s", "--json", value)
        }
        desktop.tool("write", "--json", "1", "--", "a.b", "-key")
        desktop.tool("write", "--json", "[2]", "--", "a.b", "--key")
        desktop.tool("write", "a.b", "line\nbreak", "-string", "a\nb")
        desktop.tool("write", "a.b", "part", "--path", "x", "-int", "5")
        desktop.tool("delete", "a.b", "gone")
        desktop.tool("write", "the.end", "key", "-int", "1")
        try wait { try String(contentsOfFile: output, encoding: .utf8).contains("the.end") }
        watcher.send(SIGINT)
        try watcher.requireSuccess()
        var environment = other.environment
        environment["PATH"] = "\(Desktop.programs):/usr/bin:/bin"
        let script = other.run(["sh", "-e", output], environment: environment)
        #expect(script.status == 0, "\(script)")
        let expected = desktop.tool("read", "a.b", "--json")
        let made = other.tool("read", "a.b", "--json")
        #expect(expected.status == 0 && made.output == expected.output)
    }

    @Test func `A value that no command can write is a comment`() throws {
        let (watcher, lines) = try watch("--as-commands")
        defer { watcher.send(SIGTERM) }
        _ = try desktop.python(
            """
            \(Desktop.pythonArchive)
            circle = dumps({**contents, "$objects": ["$null",
                {"$class": UID(2), "NS.objects": [UID(1)]},
                {"$classname": "NSArray", "$classes": ["NSArray", "NSObject"]}]})
            service.Set("(ssay)", "a.b", "two\\nlines", circle)
            """
        ).requireOutput()
        #expect(
            lines.next()?.hasPrefix("# a.b two\\u{a}lines: no command makes this change: ") == true)
        desktop.tool("delete", "a.b", "two\nlines")
        #expect(lines.next() == "defaultsctl delete a.b 'two")
        #expect(lines.next() == "lines'")
    }

    @Test func `A key, a part of its value, or one layer can be watched alone`() throws {
        desktop.tool("write", "a.b", "key", "--json", #"{"x":1,"y":2}"#)
        let (part, lines) = try watch("a.b", "key", "--path", "x")
        defer { part.send(SIGTERM) }
        desktop.tool("write", "a.b", "other", "-int", "1")
        desktop.tool("write", "a.b@host", "key", "--json", #"{"y":1}"#)
        desktop.tool("write", "a.b", "key", "--path", "y", "-int", "3")
        desktop.tool("write", "a.b", "key", "--path", "x", "-int", "4")
        #expect(lines.next()?.hasPrefix("a.b key x = 4 (was 1; ") == true)
        desktop.tool("delete", "a.b", "key")
        #expect(lines.next()?.hasPrefix("a.b key x removed (was 4; ") == true)
        #expect(desktop.tool("watch", "a.b", "--path", "x").status == 64)
        #expect(desktop.tool("watch", "--json", "--as-commands").status == 64)
    }

    @Test func `A key that looks like something else is quoted`() throws {
        let (watcher, lines) = try watch("a.b")
        defer { watcher.send(SIGTERM) }
        let shown = [#""two words""#, #""x = 1""#, #""\"""#, "\"n\u{A0}b\"", "é-._:/"]
        for (key, shown) in zip(["two words", "x = 1", "\"", "n\u{A0}b", "é-._:/"], shown) {
            desktop.tool("write", "a.b", key, "-int", "1")
            #expect(lines.next()?.hasPrefix("a.b \(shown) = 1 (new; ") == true, "\(shown)")
        }
    }

    @Test func `A change for another host is shown under the name of that host only`()
        throws
    {
        desktop.tool("-currentHost", "write", "a.b", "key", "-int", "1")
        desktop.tool("-host", "other", "write", "a.b", "key", "-int", "2")
        let (all, lines) = try watch()
        defer { all.send(SIGTERM) }
        let (other, otherLines) = try watch("a.b@host:other")
        defer { other.send(SIGTERM) }
        let (own, ownLines) = try watch("a.b@host")
        defer { own.send(SIGTERM) }
        // All three rules stand where the bus answers the last of them.
        try wait {
            try desktop.askBus("Debug.Stats.GetAllMatchRules")
                .ranges(of: "member='Changed'").count >= 3
        }
        // They have read what is there when they tell of a change.
        desktop.tool("-host", "other", "write", "a.b", "probe", "-int", "0")
        desktop.tool("-currentHost", "write", "a.b", "probe", "-int", "0")
        for each in [lines, lines, otherLines, ownLines] {
            while let line = each.next(), !line.contains(" probe = 0 ") {}
        }
        func tell(_ words: String...) -> String? {
            desktop.tool(words)
            return lines.next().map { String($0.prefix { $0 != ";" }) }
        }
        #expect(
            tell("-host", "other", "delete", "a.b", "key") == "a.b@host:other key removed (was 2")
        #expect(
            tell("-host", "third", "write", "a.b", "q", "-int", "3") == "a.b@host:third q = 3 (new")
        #expect(
            tell("-host", "other", "write", "a.b", "z", "-int", "4") == "a.b@host:other z = 4 (new")
        #expect(tell("-currentHost", "delete", "a.b", "key") == "a.b@host key removed (was 1")
        #expect(otherLines.next()?.hasPrefix("a.b@host:other key removed (was 2; ") == true)
        #expect(otherLines.next()?.hasPrefix("a.b@host:other z = 4 (new; ") == true)
        #expect(ownLines.next()?.hasPrefix("a.b@host key removed (was 1; ") == true)
    }

    @Test func `watch continues after the death of the daemon, and misses nothing`() throws {
        let (watcher, lines) = try watch()
        defer { watcher.send(SIGTERM) }
        for round in 1...3 {
            desktop.tool("write", "a.b", "key", "-int", "\(round)")
            #expect(lines.next()?.hasPrefix("a.b key = \(round) (") == true)
            // Nobody hears of this one in time.
            watcher.send(SIGSTOP)
            desktop.tool("write", "a.b", "unseen", "-int", "\(round)")
            desktop.tool("delete", "a.b", "key")
            try desktop.killDaemon(SIGKILL)
            desktop.tool("write", "c.d", "key", "-int", "\(round)")
            watcher.send(SIGCONT)
            let told = Set((1...3).map { _ in lines.next()?.prefix { $0 != "(" } })
            #expect(
                told == ["a.b unseen = \(round) ", "a.b key removed ", "c.d key = \(round) "])
        }
    }

    @Test func `A change that is too large to be named is reported key by key`() throws {
        let (watcher, lines) = try watch("a.b")
        defer { watcher.send(SIGTERM) }
        _ = try desktop.python(
            """
            \(Desktop.pythonArchive)
            keys = {f"{number:04}" + "k" * 1000: GLib.Variant("i", number) for number in range(80)}
            service.ApplyValues("(sa{sv}asa{st}a{sv})", "a.b", keys, [], {}, {})
            """
        ).requireOutput()
        for number in 0..<80 {
            #expect(lines.next()?.contains("k = \(number) (new; python3") == true)
        }
        #expect(desktop.call("RemoveDomain", "a.b").status == 0)
        for number in 0..<80 {
            #expect(lines.next()?.contains("k removed (was \(number); gdbus ") == true)
        }
    }

    @Test func `A slow reader misses no key, and gets none twice`() throws {
        let (watcher, lines) = try watch("--json")
        defer { watcher.send(SIGTERM) }
        watcher.send(SIGSTOP)
        _ = try desktop.python(
            """
            \(Desktop.pythonArchive)
            for number in range(3000):
                service.SetValue("(ssv)", f"a.b{number % 3}", f"{number}", GLib.Variant("i", number))
            """
        ).requireOutput()
        watcher.send(SIGCONT)
        var keys: Set<Int> = []
        for _ in 0..<3000 {
            let change = try object(lines.next())
            #expect(change["old"] == nil)
            keys.insert(try #require(change["new"] as? Int))
        }
        #expect(keys == Set(0..<3000))
        desktop.tool("write", "a.b0", "end", "-int", "1")
        #expect(try object(lines.next())["key"] as? String == "end")
    }

    @Test func `A value that is too large to be kept is shown by its size`() throws {
        let text = String(repeating: "x", count: 100_000)
        desktop.tool("write", "a.b", "key", "-string", text)
        let (watcher, lines) = try watch()
        defer { watcher.send(SIGTERM) }
        desktop.tool("write", "a.b", "key", "-int", "1")
        #expect(lines.next()?.contains(#/^a\.b key = 1 \(was 100\d\d\d bytes;/#) == true)
    }

    @Test func `Without its bus it ends, and says so`() throws {
        let watcher = try ChildProcess(
            [Desktop.programs + "/defaultsctl", "watch"], environment: desktop.environment,
            output: .lines, error: .file(desktop.directory.path + "/error"))
        try desktop.waitForMatchRule(containing: "member='Changed'")
        // It reads all values before it reports a change.
        desktop.tool("write", "a.b", "key", "-int", "1")
        #expect(watcher.lines?.next()?.hasPrefix("a.b key = 1 ") == true)
        desktop.bus.stop()
        #expect(watcher.waitUntilExit() == 69)
        let error = try String(contentsOfFile: desktop.directory.path + "/error", encoding: .utf8)
        #expect(error == "defaultsctl: The bus has gone, so nothing more can be watched.\n")
    }

    @Test(arguments: ["close at once", "close later"])
    func `When nobody reads any more it ends silently with 0`(when: String) throws {
        let output = try desktop.python(
            """
            import subprocess, sys
            tool = subprocess.Popen([sys.argv[1], "watch"], stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True)
            if sys.argv[2] == "close later":
                while subprocess.run([sys.argv[1], "write", "a.b", "key", "-int",
                        str(tool.pid)]).returncode: pass
                while True:
                    subprocess.run([sys.argv[1], "delete", "a.b", "key"])
                    subprocess.run([sys.argv[1], "write", "a.b", "key", "-int", "1"])
                    if tool.stdout.readline(): break
            tool.stdout.close()
            print(tool.wait(), repr(tool.stderr.read()))
            """, Desktop.programs + "/defaultsctl", when
        ).requireOutput()
        #expect(output == "0 ''\n")
    }

    @Test(arguments: [[], ["--json"], ["--as-commands"]])
    func `No key and no value reaches a terminal unescaped`(form: [String]) throws {
        let tool = Desktop.programs + "/defaultsctl"
        desktop.tool("write", "a.b", "first", "-int", "1")
        let shown = try desktop.onTerminal(
            ["watch"] + form,
            during: """
                until gdbus call --session --dest org.freedesktop.DBus --object-path \
                /org/freedesktop/DBus --method org.freedesktop.DBus.Debug.Stats.GetAllMatchRules \
                | grep -q "member='Changed'"; do :; done
                \(tool) write a.b "$(printf 'k\\033[31m')" -string "$(printf 'v\\033[32m\\302\\233')"
                \(tool) write a.b z -string 'the end'
                """)
        #expect(shown.hasSuffix("\n0\n"), "\(shown)")
        #expect(!shown.contains(#"\x1b"#) && !shown.contains(#"\x9b"#), "\(shown)")
        #expect(shown.contains("[31m") && shown.contains("[32m"))
    }
}
