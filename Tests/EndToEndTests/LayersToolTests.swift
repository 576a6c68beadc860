import Foundation
import Glibc
import TestSupport
import Testing

/// The tool's verbs for layers and locks: what holds for an application, why, and what is locked.
@Suite(.serialized) struct LayersToolTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    private static let app = "org.example.App"

    /// Waits until the daemon has taken the files over.
    private func wait(for domain: String, toHave keys: String...) throws {
        try EndToEndTests.wait {
            let listed = desktop.tool("keys", domain).output.split(separator: "\n").map(String.init)
            return keys.allSatisfy(listed.contains)
        }
    }

    /// Waits until a key is locked, or is not.
    private func wait(for key: String, toBeLocked isLocked: Bool = true) throws {
        try EndToEndTests.wait {
            desktop.tool("locked", Self.app, key).status == (isLocked ? 0 : 1)
        }
    }

    private func json(_ words: String...) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(desktop.tool(words).requireOutput().utf8))
    }
}

// MARK: What holds

extension LayersToolTests {
    /// Each layer that has the key says its own name.
    @Test func `Of eight layers the strongest that has the key holds, down to the last`() throws {
        let global = "NSGlobalDomain"
        let own = [
            ("host", "\(Self.app)@host"), ("domain", Self.app), ("global-host", "\(global)@host"),
            ("global", global),
        ]
        let files: [(layer: String, file: String, place: Desktop.LayerPlace)] = [
            ("managed", "\(Self.app).json", .managed),
            ("global-managed", "\(global).json", .managed),
            ("system", "\(Self.app).json", .vendor), ("global-system", "\(global).json", .vendor),
        ]
        for (layer, domain) in own {
            _ = try desktop.tool("write", domain, "Key", "-string", layer).requireOutput()
        }
        for (layer, file, place) in files {
            try desktop.write(#"{"Key": "\#(layer)"}"#, to: file, in: place)
        }
        for domain in [Self.app, global] {
            try wait(for: "\(domain)@managed", toHave: "Key")
            try wait(for: "\(domain)@system", toHave: "Key")
        }
        let order = [
            "managed", "global-managed", "host", "domain", "global-host", "global", "system",
            "global-system",
        ]
        let told = try #require(json("explain", Self.app, "Key", "--json") as? [String: Any])
        let layers = try #require(told["layers"] as? [[String: Any]])
        #expect(layers.map { $0["layer"] as? String } == order)
        #expect(layers.map { $0["value"] as? String } == order)
        #expect(told["holds"] as? String == "managed" && told["locked"] as? Bool == true)
        #expect(
            layers.map { $0["locked"] as? Bool } == [true, true] + Array(repeating: false, count: 6)
        )
        let sources = layers.map { ($0["file"] as? String).map { URL(filePath: $0).path } }
        let paths = order.map { layer in
            files.first { $0.layer == layer }.map { desktop.path(of: $0.file, in: $0.place) }
        }
        #expect(sources == paths)

        for layer in order {
            let read = desktop.tool("read", "--effective", Self.app, "Key")
            #expect(read.output == "\(layer)\n", "\(read)")
            let holds = try #require(json("explain", Self.app, "Key", "--json") as? [String: Any])
            #expect(holds["holds"] as? String == layer)
            if let file = files.first(where: { $0.layer == layer }) {
                try desktop.remove(file.file, in: file.place)
                try EndToEndTests.wait {
                    desktop.tool("read", "--effective", Self.app, "Key").output != "\(layer)\n"
                }
            } else if let domain = own.first(where: { $0.0 == layer })?.1 {
                _ = try desktop.tool("delete", domain, "Key").requireOutput()
            }
        }
        for words in [["read", "--effective"], ["explain"], ["read-type", "--effective"]] {
            let missing = desktop.tool(words + [Self.app, "Key"])
            #expect(missing.status == 1 && missing.output == "")
            #expect(missing.error.contains("(org.example.App, Key) does not exist"))
        }
    }

    @Test func `read --effective shows a whole domain, merged, in every form`() throws {
        try desktop.write(#"{"Theme": "dark"}"#, to: "\(Self.app).json", in: .managed)
        try desktop.write(#"{"Theme": "auto", "Only": true}"#, to: "\(Self.app).json", in: .vendor)
        try desktop.write(#"{"Language": "de"}"#, to: "NSGlobalDomain.json", in: .recommended)
        desktop.tool("write", Self.app, "Size", "-int", "3")
        desktop.tool("write", Self.app, "Deep", "--json", #"{"a":[1,"x"]}"#)
        try wait(for: "\(Self.app)@managed", toHave: "Theme")
        try wait(for: "\(Self.app)@system", toHave: "Only")
        try wait(for: "NSGlobalDomain@system", toHave: "Language")
        #expect(
            desktop.tool("read", "--effective", Self.app, "--json").output
                == #"{"Deep":{"a":[1,"x"]},"Language":"de","Only":true,"Size":3,"Theme":"dark"}"#
                + "\n")
        let shown = desktop.tool("read", Self.app, "--effective").output
        #expect(shown.contains("    Only = 1;\n    Size = 3;\n    Theme = dark;\n"), "\(shown)")
        #expect(
            desktop.tool("keys", "--effective", Self.app).output
                == "Deep\nLanguage\nOnly\nSize\nTheme\n")
        #expect(
            desktop.tool("read", "--effective", Self.app, "Deep", "--path", "a[1]").output == "x\n")
        #expect(desktop.tool("read", "--effective", "--raw", Self.app, "Only").output == "true\n")
        #expect(
            desktop.tool("read-type", "--effective", Self.app, "Only").output
                == "Type is boolean\n")
        #expect(desktop.tool("read", "--effective", "-g").output.contains("Language = de;"))
        #expect(desktop.tool("read", "--effective", "-g", "Language").output == "de\n")
        // The user's own are as they were.
        #expect(desktop.tool("keys", Self.app).output == "Deep\nSize\n")
        #expect(desktop.tool("read", Self.app, "Theme").status == 1)
        let near = desktop.tool("read", "--effective", Self.app, "Them")
        #expect(near.error.contains("Did you mean 'Theme'?"), "\(near.error)")
    }

    @Test func `-app NAME names the domain that is looked up`() throws {
        let applications = desktop.directory.path + "/.local/share/applications"
        try FileManager.default.createDirectory(
            atPath: applications, withIntermediateDirectories: true)
        try "[Desktop Entry]\nType=Application\nName=Painter\nExec=true\n".write(
            toFile: "\(applications)/\(Self.app).desktop", atomically: true, encoding: .utf8)
        desktop.tool("write", "-g", "Colour", "-string", "red")
        for words in [
            ["read", "--effective", "-app", "Painter", "Colour"],
            ["explain", "-app", "Painter", "Colour"],
        ] {
            #expect(desktop.tool(words).output.contains("red"), "\(words)")
        }
    }

    @Test(arguments: [
        ["read", "--effective"], ["read", "--effective", "--generation", app, "Key"],
        ["read", "--effective", app + "@managed", "Key"],
        ["-currentHost", "read", "--effective", app], ["keys", "--effective", app + "@host"],
        ["read-type", "--effective", app + "@system", "Key"], ["explain", app + "@host", "Key"],
        ["-currentHost", "locked", app], ["explain", app],
    ])
    func `What names one layer, or no domain, is no question for all of them`(words: [String]) {
        let refused = desktop.tool(words)
        #expect(refused.status == 64 && refused.output == "", "\(refused)")
        #expect(refused.error.split(separator: "\n").count == 1, "\(refused.error)")
    }
}

// MARK: explain

extension LayersToolTests {
    @Test func `explain marks the layer that holds, and cuts values to one line`() throws {
        try desktop.write(#"{"Key": "dark"}"#, to: "\(Self.app).json", in: .managed)
        try wait(for: "\(Self.app)@managed", toHave: "Key")
        try desktop.write(
            #"{"Key": "\#(String(repeating: "long ", count: 50))"}"#,
            to: "\(Self.app).json", in: .vendor)
        try wait(for: "\(Self.app)@system", toHave: "Key")
        let lines = try desktop.tool("explain", Self.app, "Key").requireOutput()
            .split(separator: "\n")
        #expect(lines.count == 2)
        let managed = desktop.path(of: "\(Self.app).json", in: .managed)
        #expect(lines.first?.contains(/^->  managed +"dark" +locked +\//) == true, "\(lines)")
        #expect(lines.first?.hasSuffix(managed) == true)
        #expect(
            lines.last?.contains(/^    system +"long long .*…  +\/.*\.json$/) == true, "\(lines)")
    }

    @Test func `On a terminal a line fits, and nothing in it steers`() throws {
        let text = #"{"Key": "\u001b[31m\#(String(repeating: "long ", count: 50))"}"#
        try desktop.write(text, to: "\(Self.app).json", in: .vendor)
        try wait(for: "\(Self.app)@system", toHave: "Key")
        let shown = try desktop.onTerminal(["explain", Self.app, "Key"])
        #expect(!shown.contains(#"\x1b"#) && shown.contains("u001b"), "\(shown)")
        #expect(shown.hasSuffix("\n0\n"))
    }

    @Test func `A large value is told by its size, and whole in JSON`() throws {
        let text = String(repeating: "x", count: 100_000)
        try desktop.write(#"{"Key": "\#(text)"}"#, to: "\(Self.app).json", in: .recommended)
        try wait(for: "\(Self.app)@system", toHave: "Key")
        #expect(try desktop.tool("explain", Self.app, "Key").requireOutput().contains("97.8 KiB"))
        let told = try #require(json("explain", Self.app, "Key", "--json") as? [String: Any])
        let layers = try #require(told["layers"] as? [[String: Any]])
        #expect(layers.first?["value"] as? String == text)
    }

    @Test func `explain says where a lock freezes what holds, or that there is nothing`() throws {
        desktop.tool("write", Self.app, "Frozen", "-int", "7")
        try desktop.write(
            #"{"$locked": ["Frozen", "Empty*"]}"#, to: "\(Self.app).d/10-lock.json", in: .managed)
        try wait(for: "Frozen")
        let frozen = try desktop.tool("explain", Self.app, "Frozen").requireOutput()
        #expect(frozen.contains(/(?m)^    managed +- +locked +\/.*\/10-lock\.json$/), "\(frozen)")
        #expect(frozen.contains(/(?m)^->  domain +7$/), "\(frozen)")
        #expect(frozen.contains("what holds stays, and cannot be changed"))
        let empty = try desktop.tool("explain", Self.app, "EmptyKey").requireOutput()
        #expect(!empty.contains("->") && empty.contains("none can be set"), "\(empty)")
        let told = try #require(json("explain", Self.app, "EmptyKey", "--json") as? [String: Any])
        #expect(told["holds"] is NSNull && told["locked"] as? Bool == true)
    }
}

// MARK: Locks

extension LayersToolTests {
    @Test func `locked says yes or no by its status, and which file, and lists what is`() throws {
        try desktop.write(
            #"{"Theme": "dark", "$locked": ["Pre*"]}"#, to: "\(Self.app).json", in: .managed)
        try desktop.write(#"{"$locked": ["Every"]}"#, to: "NSGlobalDomain.json", in: .managed)
        try wait(for: "Theme")
        try wait(for: "Every")
        let file = desktop.path(of: "\(Self.app).json", in: .managed)
        let global = desktop.path(of: "NSGlobalDomain.json", in: .managed)
        for (key, path) in [("Theme", file), ("Prefixed", file), ("Every", global)] {
            let locked = desktop.tool("locked", Self.app, key)
            #expect(locked.status == 0)
            #expect(locked.output == "\(key) of \(Self.app) is locked by \(path)\n")
        }
        let free = desktop.tool("locked", Self.app, "Free")
        #expect(free.status == 1 && free.output == "Free of \(Self.app) is not locked\n")
        #expect(free.error == "")
        let notLocked = desktop.tool("locked", Self.app, "Free", "--json")
        #expect(
            notLocked.status == 1 && notLocked.output == #"{"locked":false,"file":null}"# + "\n")
        let list = try #require(json("locked", Self.app, "--json") as? [[String: String]])
        #expect(Set(list.compactMap { $0["key"] }) == ["Theme", "Pre*", "Every"])
        #expect(list.last == ["key": "Every", "file": global])
        let text = try desktop.tool("locked", Self.app).requireOutput()
        #expect(text.contains("Pre*   \(file)\n") && text.hasSuffix("Every  \(global)\n"))
        #expect(desktop.tool("locked", "-g").output == "Every  \(global)\n")
        #expect(desktop.tool("locked", "org.example.Other", "Theme").status == 1)
    }

    /// Commands that would change a locked key, and what they read.
    static let refused: [(words: [String], input: String)] = [
        (["write", app, "Locked", "-int", "2"], ""), (["delete", app, "Locked"], ""),
        (["write", app, "Locked", "--path", "a", "-int", "2"], ""),
        (["write", app + "@host", "Locked", "-int", "2"], ""),
        (["-currentHost", "write", app, "Locked", "-int", "2"], ""),
        (["rename", app, "Locked", "Other"], ""), (["rename", app, "Free", "Locked"], ""),
        (["delete", app], ""), (["delete-all", app], ""), (["delete-all", app, "Locked"], ""),
        (["write", app, "{ Locked = 2; Free = 3; }"], ""),
        (["import", app, "-"], #"{"Locked": 2, "Free": 3}"#),
        (["import", "--replace", app, "-"], #"{"New": 2}"#),
        (
            ["apply"],
            "write org.example.First Key -int 2\nwrite \(app) Free -int 3\ndelete \(app) Locked\n"
        ),
        (
            ["apply"],
            #"{"domain":"org.example.First","key":"Key","value":2}"# + "\n"
                + #"{"domain":"\#(app)","key":"Locked","value":2}"#
        ),
    ]

    @Test(arguments: refused)
    func `A write to a locked key names key and file, and nothing is changed`(
        words: [String], input: String
    ) throws {
        desktop.tool("write", Self.app, "Locked", "--json", #"{"a":1}"#)
        desktop.tool("write", Self.app, "Free", "-int", "1")
        desktop.tool("write", "\(Self.app)@host", "Free", "-int", "1")
        try desktop.write(
            #"{"$locked": ["Lock*"]}"#, to: "\(Self.app).d/10-lock.json", in: .managed)
        try wait(for: "Locked")
        let before = desktop.tool("read", "--json").output
        let answer = desktop.run([Desktop.programs + "/defaultsctl"] + words, input: input)
        #expect(answer.status == 1 && answer.output == "", "\(answer)")
        #expect(answer.error.split(separator: "\n").count == 1)
        #expect(answer.error.contains("Locked"))
        #expect(answer.error.contains(desktop.path(of: "\(Self.app).d/10-lock.json", in: .managed)))
        #expect(desktop.tool("read", "--json").output == before)
        // When the lock goes, so does the refusal.
        try desktop.remove("\(Self.app).d/10-lock.json", in: .managed)
        try wait(for: "Locked", toBeLocked: false)
        let done = desktop.run([Desktop.programs + "/defaultsctl"] + words, input: input)
        #expect(done.status == 0, "\(done)")
    }

    @Test func `An import in several changes is refused before the first`() throws {
        try desktop.write(#"{"$locked": ["Zlast"]}"#, to: "\(Self.app).json", in: .managed)
        try wait(for: "Zlast")
        let large = String(repeating: "x", count: 12 << 20)
        let values = ["A", "B", "C"].map { #""\#($0)": "\#(large)""# } + [#""Zlast": 1"#]
        let file = try desktop.directory.write("{\(values.joined(separator: ","))}", to: "large")
        let answer = desktop.tool("import", Self.app, file)
        #expect(answer.status == 1 && answer.error.contains("Zlast"), "\(answer.error)")
        #expect(desktop.tool("keys", Self.app).status == 1)
    }
}

// MARK: The layers of files

extension LayersToolTests {
    @Test func `@managed and @system are read as any domain, and written by none`() throws {
        try desktop.write(#"{"Theme": "dark"}"#, to: "\(Self.app).json", in: .managed)
        try desktop.write(#"{"Size": 3}"#, to: "\(Self.app).json", in: .recommended)
        try wait(for: "\(Self.app)@managed", toHave: "Theme")
        try wait(for: "\(Self.app)@system", toHave: "Size")
        #expect(desktop.tool("read", "\(Self.app)@managed", "Theme").output == "dark\n")
        #expect(desktop.tool("read", "\(Self.app)@system", "--json").output == "{\"Size\":3}\n")
        #expect(desktop.tool("keys", "\(Self.app)@managed").output == "Theme\n")
        let exported = desktop.tool("export", "\(Self.app)@managed", "-").output
        #expect(exported.contains("<string>dark</string>"))
        #expect(desktop.tool("domains", "--managed").output == "\(Self.app)@managed\n")
        #expect(
            desktop.tool("domains", "--managed", "--system", "--json").output
                == "[\"\(Self.app)@managed\",\"\(Self.app)@system\"]\n")
        // No key is the user's own.
        #expect(desktop.tool("domains").output == "\n")
        for words in [
            ["write", "\(Self.app)@managed", "Theme", "-string", "x"],
            ["delete", "\(Self.app)@system", "Size"], ["delete", "\(Self.app)@managed"],
        ] {
            let refused = desktop.tool(words)
            #expect(refused.status == 1 && refused.error.contains("read only"), "\(refused)")
        }
    }

    @Test func `watch shows a file's change as one of its layer, with the value`() throws {
        try desktop.write(#"{"Theme": "dark", "Gone": 1}"#, to: "\(Self.app).json", in: .managed)
        try wait(for: "\(Self.app)@managed", toHave: "Theme")
        let watchers = try [["--json"], ["--as-commands"], []].map { options in
            let process = try ChildProcess(
                [Desktop.programs + "/defaultsctl", "watch"] + options,
                environment: desktop.environment, output: .lines)
            return (process: process, lines: try #require(process.lines))
        }
        defer { for (process, _) in watchers { process.send(SIGTERM) } }
        try EndToEndTests.wait {
            let rules = try desktop.run(
                "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path",
                "/org/freedesktop/DBus", "--method",
                "org.freedesktop.DBus.Debug.Stats.GetAllMatchRules"
            ).requireOutput()
            return rules.matches(of: /member='Changed'/).count == watchers.count
        }
        try desktop.write(#"{"Theme": "light"}"#, to: "\(Self.app).json", in: .managed)
        try desktop.write(#"{"Size": 3}"#, to: "\(Self.app).json", in: .vendor)
        let objects = try (0..<3).map { _ in
            let line = try #require(watchers[0].lines.next())
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
            return try #require(object as? [String: Any])
        }
        #expect(objects.allSatisfy { $0["writer"] == nil })
        #expect(
            objects.map { "\($0["domain"] ?? "") \($0["key"] ?? "")" } == [
                "\(Self.app)@managed Theme", "\(Self.app)@managed Gone", "\(Self.app)@system Size",
            ])
        #expect(objects[0]["old"] as? String == "dark" && objects[0]["new"] as? String == "light")
        #expect(objects[1]["old"] as? Int == 1 && objects[1]["new"] == nil)
        let comments = (0..<3).compactMap { _ in watchers[1].lines.next() }
        #expect(comments.allSatisfy { $0.hasPrefix("# \(Self.app)@") }, "\(comments)")
        #expect(comments.allSatisfy { $0.contains("from a file") })
        #expect(watchers[2].lines.next() == "\(Self.app)@managed Theme = \"light\" (was \"dark\")")
        #expect(watchers[2].lines.next() == "\(Self.app)@managed Gone removed (was 1)")
        #expect(watchers[2].lines.next() == "\(Self.app)@system Size = 3 (new)")
    }

    @Test func `status lists the files with what is wrong, and doctor finds it`() throws {
        let text = try desktop.tool("status").requireOutput()
        #expect(text.contains(/layers' files +none\n/), "\(text)")
        try desktop.write(#"{"Theme": "dark"}"#, to: "\(Self.app).json", in: .managed)
        try desktop.write("{\n  \"Size\" 3\n}", to: "\(Self.app).d/bad.json", in: .recommended)
        try wait(for: "\(Self.app)@managed", toHave: "Theme")
        let bad = desktop.path(of: "\(Self.app).d/bad.json", in: .recommended)
        try EndToEndTests.wait { desktop.tool("status").output.contains(bad) }
        let status = try desktop.tool("status").requireOutput()
        #expect(status.contains(/layers' files +2, 1 of them bad\n/), "\(status)")
        #expect(status.contains("  managed  \(Self.app)  "))
        #expect(status.contains("\n    \(bad):2:"), "\(status)")
        let object = try #require(json("status", "--json") as? [String: Any])
        let files = try #require(object["layerFiles"] as? [[String: Any]])
        #expect(files.count == 2)
        let good = try #require(files.first { $0["layer"] as? String == "managed" })
        #expect(good["problem"] is NSNull && good["domain"] as? String == Self.app)
        let doctor = desktop.tool("doctor")
        #expect(doctor.status == 1)
        #expect(doctor.output.contains(/(?m)^problem +layers' files +.*bad\.json:2:/), "\(doctor)")
        #expect(!doctor.output.contains("managed files"))
        try desktop.remove("\(Self.app).d/bad.json", in: .recommended)
        try EndToEndTests.wait { !desktop.tool("status").output.contains(bad) }
        #expect(desktop.tool("doctor").output.contains(/(?m)^ok +layers' files +1, all good$/))
    }

    @Test(arguments: ["", "/org.example.App.json"])
    func `doctor warns where others can write what is mandatory`(place: String) throws {
        try desktop.write(#"{"Theme": "dark"}"#, to: "\(Self.app).json", in: .managed)
        try wait(for: "\(Self.app)@managed", toHave: "Theme")
        let path = "\(desktop.directory.path)/managed\(place)"
        chmod(path, 0o777)
        let doctor = desktop.tool("doctor").output
        #expect(doctor.contains("warning  managed files"), "\(doctor)")
        #expect(doctor.contains("chmod go-w \(path)") || doctor.contains("chown root"))
    }
}

// MARK: Completion, and no bus

extension LayersToolTests {
    private func candidates(_ words: String...) throws -> [String] {
        try desktop.tool(["complete", "--"] + words).requireOutput().split(separator: "\n")
            .map { String($0.prefix { $0 != "\t" }) }
    }

    @Test func `Completion knows layers that are only read, and keys that are only locked`() throws
    {
        try desktop.write(
            #"{"Theme": "dark", "$locked": ["Frozen", "Pre*"]}"#, to: "\(Self.app).json",
            in: .managed)
        try desktop.write(#"{"Size": 3}"#, to: "org.example.Other.json", in: .vendor)
        desktop.tool("write", "\(Self.app)@host", "Mine", "-int", "1")
        try wait(for: "\(Self.app)@managed", toHave: "Theme")
        try wait(for: "org.example.Other@system", toHave: "Size")
        let own = ["\(Self.app)@host"]
        let all = (own + ["\(Self.app)@managed", "org.example.Other@system"])
        for verb in ["read", "export", "keys", "watch", "inspect", "read-type"] {
            #expect(try candidates(verb, "org") == all, "\(verb)")
        }
        for verb in ["write", "delete", "import", "rename"] {
            #expect(try candidates(verb, "org") == own, "\(verb)")
        }
        for words in [["explain"], ["locked"], ["read", "--effective"], ["keys", "--effective"]] {
            let found = try desktop.tool(["complete", "--"] + words + ["org"]).requireOutput()
            #expect(found == "\(Self.app)\norg.example.Other\n", "\(words)")
        }
        #expect(try candidates("locked", Self.app, "") == ["Frozen", "Mine", "Theme"])
        #expect(try candidates("read", "--effective", Self.app, "Th") == ["Theme"])
        #expect(try candidates("read", "\(Self.app)@managed", "") == ["Theme"])
        #expect(try candidates("expl") == ["explain"])
        #expect(try candidates("read", "--eff") == ["--effective"])
    }

    /// Another `/etc` is put over the machine's for the tool and the daemon that it runs.
    @Test(.enabled(if: Desktop.sandboxIsAvailable, "bwrap cannot make a sandbox here"))
    func `Without a bus the tool's own daemon has the layers of the machine`() throws {
        try desktop.write(
            #"{"Theme": "dark", "$locked": ["Frozen"]}"#, to: "\(Self.app).json", in: .managed)
        func alone(_ words: String...) -> ProgramResult {
            desktop.run(
                [
                    "bwrap", "--dev-bind", "/", "/", "--tmpfs", "/etc", "--bind",
                    desktop.directory.path + "/managed", "/etc/defaultsd/managed",
                    Desktop.programs + "/defaultsctl",
                ] + words, environment: desktop.environmentWithoutBus)
        }
        #expect(alone("read", "--effective", Self.app, "Theme").output == "dark\n")
        #expect(alone("explain", Self.app, "Theme").output.contains("->  managed"))
        #expect(alone("locked", Self.app, "Frozen").status == 0)
        let refused = alone("write", Self.app, "Frozen", "-int", "1")
        #expect(refused.status == 1, "\(refused)")
        #expect(refused.error.contains("/etc/defaultsd/managed/\(Self.app).json"))
        #expect(alone("status").output.contains("/etc/defaultsd/managed/\(Self.app).json"))
    }
}
