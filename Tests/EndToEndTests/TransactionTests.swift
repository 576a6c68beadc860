import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// Several keys at once, compare-and-set, tokens and durability, by GLib and gdbus.
@Suite(.startsPrograms, .serialized) struct TransactionTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    /// Applies in org.example.App.
    @discardableResult
    private func apply(
        _ set: String, _ remove: String = "[]", expected: String = "{}", options: String = "{}"
    ) -> ProgramResult {
        desktop.call("ApplyValues", "org.example.App", set, remove, expected, options)
    }

    @Test func `A transaction is one change with one generation and one signal`() throws {
        apply("{'a': <1>, 'b': <2>}")
        let monitor = try desktop.start(
            "gdbus", "monitor", "--session", "--dest", "org.defaultsd.Defaults1")
        try desktop.waitForMatchRule(containing: "org.defaultsd.Defaults1")
        #expect(apply("{'b': <3>, 'c': <4>}", "['a', 'absent']").output == "(uint64 3,)\n")
        apply("{'d': <5>}")
        var told: [String] = []
        while let line = monitor.lines?.next() {
            if line.contains("Changed") { told.append(line) }
            if line.contains("'d'") { break }
        }
        #expect(told.count == 2)
        #expect(told.first?.contains("'domain', ['b', 'c'], ['a'], uint64 3") == true)
        #expect(
            desktop.call("GetAllValues", "org.example.App").output
                == "({'b': <int64 3>, 'c': <int64 4>, 'd': <int64 5>}, @as [], uint64 4)\n")
        monitor.send(SIGTERM)
    }

    @Test func `A key that has its value already is not in the change`() throws {
        apply("{'a': <1>, 'b': <2>}")
        apply("{'a': <1>, 'b': <3>}")
        #expect(
            desktop.call("GetValue", "org.example.App", "a").output == "(<int64 1>, uint64 2)\n")
        #expect(apply("{'a': <1>}", "['absent']").output == "(uint64 3,)\n")
        #expect(apply("{}").output == "(uint64 3,)\n")
    }

    @Test(arguments: [
        ("{'a': uint64 2}", true), ("{'a': uint64 3}", false), ("{'a': uint64 0}", false),
        ("{'absent': uint64 0}", true), ("{'absent': uint64 2}", false),
        ("{'': uint64 2}", true), ("{'': uint64 3}", true), ("{'': uint64 1}", false),
        ("{'': uint64 4}", false), ("{'': uint64 0}", false),
        ("{'a': uint64 2, '': uint64 1}", false),
    ])
    func `All expectations are met, or nothing is changed`(expected: String, holds: Bool) throws {
        apply("{'a': <1>}")
        desktop.call("SetValue", "org.example.Other", "x", "<1>")
        // Checked before the rule of no change, too.
        for set in ["{'a': <1>}", "{'b': <2>}"] {
            let answer = apply(set, expected: expected)
            #expect(answer.errorName == (holds ? nil : BadInputTests.own("Conflict")))
        }
        let keys = desktop.call("ListKeys", "org.example.App").output
        #expect(keys == (holds ? "(['a', 'b'],)\n" : "(['a'],)\n"))
    }

    @Test(arguments: [
        // The generations: 2 sets a, b and c; 3 changes a and removes b; 4 is another domain's.
        ("{'a': <9>}", "[]", "2", "'a' of org.example.App"), ("{'a': <9>}", "[]", "3", nil),
        ("{'c': <9>}", "[]", "2", nil), ("{'c': <9>}", "['a']", "2", "generation 3"),
        ("{'b': <9>}", "[]", "2", "'b' of org.example.App"), ("{'b': <9>}", "[]", "3", nil),
        ("{'new': <9>}", "[]", "1", nil), ("{}", "['b']", "2", "generation 3"),
        ("{}", "[]", "2", nil), ("{'c': <1>}", "[]", "1", "generation 2"),
        ("{'c': <9>}", "[]", "4", nil), ("{'c': <9>}", "[]", "5", "unknown"),
        ("{'c': <9>}", "[]", "0", "generation 2"), ("{'new': <9>}", "[]", "0", "unknown"),
    ])
    func `With unchanged-since, no key of the change may have changed after that`(
        set: String, remove: String, since: String, conflict: String?
    ) throws {
        apply("{'a': <1>, 'b': <1>, 'c': <1>}")
        apply("{'a': <2>}", "['b']")
        desktop.call("SetValue", "org.example.Other", "c", "<1>")
        let options = "{'unchanged-since': <uint64 \(since)>, 'token': <'once'>}"
        let first = apply(set, remove, options: options)
        for signal in [nil, SIGKILL, SIGTERM] {
            if let signal { try desktop.killDaemon(signal) }
            let answer = apply(set, remove, options: options)
            guard let conflict else {
                // The token has the reply of the first one, which has changed its keys itself.
                #expect(answer.status == 0 && answer.output == first.output)
                continue
            }
            #expect(answer.errorName == BadInputTests.own("Conflict"))
            #expect(answer.error.contains(conflict) && answer.error.contains("Nothing was changed"))
            #expect(try desktop.property("Generation") == "<uint64 4>")
        }
    }

    @Test func `GetTimes has the last change of keys, also of removed ones and after SIGKILL`()
        throws
    {
        let begin = UInt64(Date().timeIntervalSince1970)
        apply("{'a': <1>, 'b': <1>}")
        apply("{'c': <1>}", "['b']")
        for signal in [nil, SIGKILL, SIGTERM] {
            if let signal { try desktop.killDaemon(signal) }
            let told = try desktop.call("GetTimes", "org.example.App", "['c', 'b', 'absent', 'a']")
                .requireOutput()
            let rows = told.matches(of: /\('(\w+)', (?:uint64 )?(\d+), (?:uint64 )?(\d+)\)/)
            #expect(rows.map { "\($0.1) \($0.2)" } == ["c 3", "b 3", "a 2"], "\(told)")
            let end = UInt64(Date().timeIntervalSince1970)
            #expect(rows.allSatisfy { (begin...end).contains(UInt64($0.3) ?? 0) }, "\(told)")
        }
        #expect(desktop.call("GetTimes", "org.example.None", "['a']").output == "(@a(stt) [],)\n")
        #expect(
            desktop.call("GetTimes", "org.example.App", "['']").errorName
                == BadInputTests.own("InvalidKey"))
    }

    @Test func `ApplyAll with unchanged-since changes all domains or none`() throws {
        apply("{'a': <1>}")
        desktop.call("SetValue", "org.example.Other", "b", "<1>")
        func applyAll(_ since: Int) -> ProgramResult {
            desktop.call(
                "ApplyAllValues",
                """
                [('org.example.App', {'a': <5>}, @as [], @a{st} {}),
                 ('org.example.Other', {'c': <5>}, ['b'], @a{st} {})]
                """, "{'unchanged-since': <uint64 \(since)>}")
        }
        let refused = applyAll(2)
        #expect(refused.errorName == BadInputTests.own("Conflict"))
        #expect(refused.error.contains("'b' of org.example.Other"))
        #expect(try desktop.property("Generation") == "<uint64 3>")
        #expect(applyAll(3).output == "(uint64 4,)\n")
        #expect(applyAll(3).errorName == BadInputTests.own("Conflict"))
    }

    @Test func `A domain without keys meets the expectation 0 for the whole domain`() throws {
        #expect(apply("{'a': <1>}", expected: "{'': uint64 0}").status == 0)
        #expect(
            apply("{'b': <1>}", expected: "{'': uint64 0}").errorName
                == BadInputTests.own("Conflict"))
        desktop.call("RemoveDomain", "org.example.App")
        #expect(apply("{'b': <1>}", expected: "{'': uint64 0}").status == 0)
    }

    @Test(arguments: [
        ("{'a': <1>}", "['a']", "{}", "{}", "The key 'a' is both in 'set' and in 'remove'."),
        ("{}", "['a', 'a']", "{}", "{}", "The key 'a' appears twice in 'remove'."),
        ("{}", "[]", "{}", "{'token': <''>}", "A token has 1 to 255 bytes"),
        ("{}", "[]", "{}", "{'token': <1>}", "The option 'token' must be a string (s)."),
        ("{}", "[]", "{}", "{'durable': <1>}", "The option 'durable' must be a boolean (b)."),
        (
            "{}", "[]", "{}", "{'list-locked': <1>}",
            "The option 'list-locked' must be a boolean (b)."
        ),
        (
            "{}", "[]", "{}", "{'unchanged-since': <1>}",
            "The option 'unchanged-since' must be a generation (t)."
        ),
        ("{}", "[]", "{}", "{'quick': <true>}", "There is no option 'quick'."),
    ])
    func `A contradiction is InvalidArgs, with the reason`(
        set: String, remove: String, expected: String, options: String, words: String
    ) throws {
        let answer = apply(set, remove, expected: expected, options: options)
        #expect(answer.errorName == "org.freedesktop.DBus.Error.InvalidArgs")
        #expect(answer.error.contains(words))
        #expect(try desktop.property("Generation") == "<uint64 1>")
    }

    @Test func `A key twice in set or in expected is InvalidArgs, too`() throws {
        let output = try desktop.python(
            """
            \(Desktop.pythonArchive)
            def twice(signature, builder):
                try:
                    bus.call_sync("org.defaultsd.Defaults1", "/org/defaultsd/Defaults1",
                        "org.defaultsd.Defaults1", "Apply", builder, None, 0, -1, None)
                except GLib.Error as error: print(Gio.DBusError.get_remote_error(error), error)
            text = archive.hex()
            value = "[" + ", ".join(f"byte {byte}" for byte in archive) + "]"
            for arguments in (f"('a.b', [{{'k', {value}}}, {{'k', {value}}}], [], @a{{st}} {{}}, @a{{sv}} {{}})",
                              "('a.b', @a{say} {}, [], [{'k', 1}, {'k', 2}], @a{sv} {})"):
                twice("", GLib.Variant.parse(GLib.VariantType("(sa{say}asa{st}a{sv})"), arguments))
            """
        ).requireOutput()
        let lines = output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.hasPrefix("org.freedesktop.DBus.Error.InvalidArgs") })
        #expect(lines.first?.contains("'k' appears twice in 'set'") == true)
        #expect(lines.last?.contains("'k' appears twice in 'expected'") == true)
    }

    @Test func `A refused archive is named by its key, and nothing is changed`() throws {
        let answer = desktop.call(
            "Apply", "org.example.App", "{'bad': [byte 1, 2, 3]}", "[]", "{}", "{}")
        #expect(answer.errorName == BadInputTests.own("InvalidArchive"))
        #expect(answer.error.contains("For the key 'bad': "))
        #expect(desktop.call("ListDomains").output == "(@as [],)\n")
    }

    @Test func `A repeated token gets the earlier reply, even after SIGKILL and SIGTERM`() throws {
        let options = "{'token': <'once'>}"
        #expect(apply("{'a': <1>}", options: options).output == "(uint64 2,)\n")
        #expect(apply("{'a': <2>}").output == "(uint64 3,)\n")
        for signal in [nil, SIGKILL, SIGTERM] {
            if let signal { try desktop.killDaemon(signal) }
            #expect(
                apply("{'a': <1>}", expected: "{'a': uint64 0}", options: options).output
                    == "(uint64 2,)\n")
        }
        #expect(
            desktop.call("GetValue", "org.example.App", "a").output == "(<int64 2>, uint64 3)\n")
        // Of another domain it is another token.
        #expect(
            desktop.call("ApplyValues", "org.example.Other", "{'a': <1>}", "[]", "{}", options)
                .output == "(uint64 4,)\n")
    }

    @Test
    func `A token without a change is remembered over SIGKILL; one of a Conflict is not`() throws {
        apply("{'a': <1>}")
        #expect(apply("{'a': <1>}", options: "{'token': <'same'>}").output == "(uint64 2,)\n")
        apply("{'a': <2>}")
        try desktop.killDaemon(SIGKILL)
        #expect(apply("{'a': <1>}", options: "{'token': <'same'>}").output == "(uint64 2,)\n")
        let refused = apply(
            "{'a': <3>}", expected: "{'a': uint64 2}", options: "{'token': <'refused'>}")
        #expect(refused.errorName == BadInputTests.own("Conflict"))
        #expect(apply("{'a': <3>}", options: "{'token': <'refused'>}").output == "(uint64 4,)\n")
    }

    @Test func `A token without a change delays nobody who waits for the disk`() throws {
        apply("{}", options: "{'token': <'alone'>}")
        #expect(desktop.call("Synchronize").output == "(uint64 1,)\n")
        apply("{}", options: "{'token': <'another'>}")
        #expect(apply("{}", options: "{'durable': <true>}").output == "(uint64 1,)\n")
        apply("{}", options: "{'token': <'last'>}")
        try desktop.killDaemon(SIGTERM)
        #expect(apply("{'a': <1>}", options: "{'token': <'last'>}").output == "(uint64 1,)\n")
    }

    @Test func `A token without a change goes to disk by itself`() throws {
        let options = "{'token': <'alone'>}"
        apply("{}", options: options)
        // No time is asserted: this ends when the daemon has flushed of its own accord.
        try wait {
            try desktop.gdbus("org.defaultsd.Maintenance1.GetStatistics").requireOutput()
                .contains("'Flushes': <uint64 1>")
        }
        _ = try desktop.killDaemon(SIGKILL)
        try FileManager.default.removeItem(atPath: desktop.directory.path + "/runtime/defaultsd")
        #expect(apply("{'a': <1>}", options: options).output == "(uint64 1,)\n")
    }

    @Test
    func `A durable transaction without a change waits for the flush that has its token`() throws {
        // It comes while another flush is under way, to which it would be too late.
        let output = try desktop.python(
            """
            \(Desktop.pythonArchive)
            loop = GLib.MainLoop()
            def replied(proxy, result):
                generation, = proxy.call_finish(result).unpack()
                facts, = bus.call_sync("org.defaultsd.Defaults1", "/org/defaultsd/Defaults1",
                    "org.defaultsd.Maintenance1", "GetStatistics", None, None, 0, -1, None).unpack()
                print(generation, facts["Flushes"])
                loop.quit()
            durable = {"token": GLib.Variant("s", "same"), "durable": GLib.Variant("b", True)}
            service.call("SetValue", GLib.Variant("(ssv)", ("org.example.App", "a", GLib.Variant("i", 1))),
                0, -1, None, None)
            service.call("Synchronize", None, 0, -1, None, None)
            service.call("ApplyValues",
                GLib.Variant("(sa{sv}asa{st}a{sv})", ("org.example.App", {}, [], {}, durable)),
                0, -1, None, replied)
            loop.run()
            """
        ).requireOutput()
        #expect(output == "2 2\n")
    }

    @Test func `A durable transaction is on disk when its reply comes`() throws {
        apply("{'a': <1>}", options: "{'durable': <true>}")
        #expect(try desktop.property("DurableGeneration") == "<uint64 2>")
        // No change is to be on disk, too.
        apply("{'a': <2>}")
        #expect(apply("{'a': <2>}", options: "{'durable': <true>}").output == "(uint64 3,)\n")
        #expect(try desktop.property("DurableGeneration") == "<uint64 3>")
    }

    @Test func `Both lists are empty if there are too many names`() throws {
        let output = try desktop.python(
            """
            \(Desktop.pythonArchive)
            loop, told = GLib.MainLoop(), []
            def changed(connection, sender, path, interface, name, arguments):
                told.append(arguments.unpack())
                if len(told) == 2: loop.quit()
            bus.signal_subscribe(None, "org.defaultsd.Defaults1", "Changed", None, None, 0, changed)
            few = {f"{number:04}": GLib.Variant("i", number) for number in range(1000)}
            many = {f"{number:0100}": GLib.Variant("i", number) for number in range(1000)}
            for keys in (few, many):
                service.ApplyValues("(sa{sv}asa{st}a{sv})", "org.example.App", keys, [], {}, {})
            loop.run()
            for _, _, changed, removed, generation, _ in told:
                print(len(changed), len(removed), generation)
            """
        ).requireOutput()
        #expect(output == "1000 0 2\n0 0 3\n")
    }

    @Test
    func `Rename moves a value, and refuses an existing new name or a missing old one`() throws {
        apply("{'old': <1>, 'taken': <2>}")
        func rename(_ old: String, _ new: String) -> ProgramResult {
            desktop.call("Rename", "org.example.App", old, new)
        }
        #expect(rename("old", "taken").errorName == BadInputTests.own("Conflict"))
        #expect(rename("old", "old").errorName == BadInputTests.own("Conflict"))
        #expect(rename("absent", "new").errorName == BadInputTests.own("NotFound"))
        #expect(rename("old", "").errorName == BadInputTests.own("InvalidKey"))
        #expect(rename("old", "new").output == "(uint64 3,)\n")
        #expect(
            desktop.call("GetAllValues", "org.example.App").output
                == "({'new': <int64 1>, 'taken': <int64 2>}, @as [], uint64 3)\n")
    }

    @Test(arguments: ["RemoveDomain", "Rename", "Apply"])
    func `The layers of others are locked`(method: String) throws {
        let arguments = [
            "RemoveDomain": [], "Rename": ["a", "b"], "Apply": ["{}", "[]", "{}", "{}"],
        ]
        for layer in ["managed", "system"] {
            let answer = desktop.gdbus(
                method: "org.defaultsd.Defaults1.\(method)",
                ["org.example.App@\(layer)"] + (arguments[method] ?? []))
            #expect(answer.errorName == BadInputTests.own("Locked"))
        }
    }

    // MARK: Several domains

    /// Applies to several domains.
    @discardableResult
    private func applyAll(_ changes: String, options: String = "{}") -> ProgramResult {
        desktop.call("ApplyAllValues", changes, options)
    }

    private func values(_ domain: String) -> String { desktop.call("GetAllValues", domain).output }

    @Test func `Several domains are one change with one generation and a signal for each`() throws {
        desktop.call("SetValue", "a.b", "old", "<0>")
        let monitor = try desktop.start(
            "gdbus", "monitor", "--session", "--dest", "org.defaultsd.Defaults1")
        try desktop.waitForMatchRule(containing: "org.defaultsd.Defaults1")
        let made = applyAll(
            "[('a.b', {'x': <1>}, ['old'], {}), ('a.c@host', {'y': <'z'>}, [], {}), ('a.d', {}, ['absent'], {})]"
        )
        #expect(made.output == "(uint64 3,)\n")
        desktop.call("SetValue", "a.e", "end", "<0>")
        var told: [String] = []
        while let line = monitor.lines?.next() {
            if line.contains("'end'") { break }
            if line.contains("Changed") { told.append(line) }
        }
        #expect(told.count == 2)
        #expect(told.contains { $0.contains("('a.b', 'domain', ['x'], ['old'], uint64 3") })
        #expect(told.contains { $0.contains("('a.c', 'host', ['y'], @as [], uint64 3") })
        #expect(values("a.b") == "({'x': <int64 1>}, @as [], uint64 4)\n")
        #expect(desktop.call("GetValue", "a.c@host", "y").output == "(<'z'>, uint64 3)\n")
        monitor.send(SIGTERM)
    }

    @Test(arguments: [
        "('a.c', {'y': <2>}, [], {'y': uint64 9})", "('a.c', {'y': <2>}, ['y'], {})",
        "('a.b', {'y': <2>}, [], {})", "('a c', {}, [], {})", "('a.c@managed', {'y': <2>}, [], {})",
        "('a.c', {'y': <handle 0>}, [], {})", "('a.c', {'': <2>}, [], {})",
    ])
    func `What is wrong with one domain leaves all as they were`(second: String) throws {
        desktop.call("SetValue", "a.b", "x", "<0>")
        let refused = applyAll("[('a.b', {'x': <1>}, [], {}), \(second)]")
        #expect(refused.status != 0 && refused.error.contains("Error"), "\(refused)")
        #expect(values("a.b") == "({'x': <int64 0>}, @as [], uint64 2)\n")
        #expect(values("a.c") == "(@a{sv} {}, @as [], uint64 2)\n")
    }

    @Test func `A repetition with the token of a change of several domains has its reply`() throws {
        let changes = "[('a.b', {}, ['absent'], {}), ('a.c', {'y': <1>}, [], {})]"
        for _ in 1...2 {
            #expect(
                applyAll(changes, options: "{'token': <'t'>, 'durable': <true>}").output
                    == "(uint64 2,)\n")
            desktop.call("SetValue", "a.d", "z", "<'\(UUID())'>")
        }
        desktop.call("SetValue", "a.c", "y", "<5>")
        #expect(applyAll(changes, options: "{'token': <'t'>}").output == "(uint64 2,)\n")
        #expect(desktop.call("GetValue", "a.c", "y").output.hasPrefix("(<int64 5>"))
        #expect(applyAll("@a(sa{sv}asa{st}) []").output == "(uint64 5,)\n")
    }

    @Test func `Each domain of a change counts as if those before it were made`() throws {
        desktop.call(
            "SetValue", "org.defaultsd.Quotas", "*", "<{'AllDomains': <3>}>")
        let changes = ["a.b", "a.c", "a.d"].map { "('\($0)', {'x': <1>}, [], {})" }
        let refused = applyAll("[\(changes.joined(separator: ", "))]")
        #expect(refused.error.contains("LimitsExceeded"), "\(refused)")
        #expect(desktop.call("ListDomains").output == "(['org.defaultsd.Quotas'],)\n")
        #expect(applyAll("[\(changes.prefix(2).joined(separator: ", "))]").status == 0)
    }
}
