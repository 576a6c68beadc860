import DefaultsFiles
import Foundation
import TestSupport
import Testing

@testable import ToolHarness

/// The tool's verbs for effective values, and their explanation.
@Suite(.inSession) struct LayersToolTests {
    let session = TestSession.current

    private static let app = "org.example.App"

    private func json(_ words: String...) async throws -> Any {
        try JSONSerialization.jsonObject(with: Data(await session.tool(words).requireOutput().utf8))
    }
}

// MARK: What holds

extension LayersToolTests {
    /// Each layer that has the key says its own name.
    @Test
    func `Of eight layers the strongest that has the key is effective, down to the last`()
        async throws
    {
        let global = "NSGlobalDomain"
        let own = [
            ("host", "\(Self.app)@host"), ("domain", Self.app), ("global-host", "\(global)@host"),
            ("global", global),
        ]
        let files: [(layer: String, file: String, place: LayerPlace)] = [
            ("managed", "\(Self.app).json", .managed),
            ("global-managed", "\(global).json", .managed),
            ("system", "\(Self.app).json", .vendor), ("global-system", "\(global).json", .vendor),
        ]
        for (layer, domain) in own {
            try await session.tool("write", domain, "Key", "-string", layer).requireOutput()
        }
        for (layer, file, place) in files {
            try await session.write(#"{"Key": "\#(layer)"}"#, to: file, in: place)
        }
        let order = [
            "managed", "global-managed", "host", "domain", "global-host", "global", "system",
            "global-system",
        ]
        let told = try #require(await json("explain", Self.app, "Key", "--json") as? [String: Any])
        let layers = try #require(told["layers"] as? [[String: Any]])
        #expect(layers.map { $0["layer"] as? String } == order)
        #expect(layers.map { $0["value"] as? String } == order)
        #expect(told["holds"] as? String == "managed" && told["locked"] as? Bool == true)
        #expect(
            layers.map { $0["locked"] as? Bool } == [true, true] + Array(repeating: false, count: 6)
        )
        let sources = layers.map { ($0["file"] as? String).map { URL(filePath: $0).path } }
        let paths = order.map { layer in
            files.first { $0.layer == layer }.map { session.path(of: $0.file, in: $0.place) }
        }
        #expect(sources == paths)

        for layer in order {
            let read = await session.tool("read", "--effective", Self.app, "Key")
            #expect(read.output == "\(layer)\n", "\(read)")
            let holds = try #require(
                await json("explain", Self.app, "Key", "--json") as? [String: Any])
            #expect(holds["holds"] as? String == layer)
            if let file = files.first(where: { $0.layer == layer }) {
                try await session.remove(file.file, in: file.place)
            } else if let domain = own.first(where: { $0.0 == layer })?.1 {
                try await session.tool("delete", domain, "Key").requireOutput()
            }
        }
        for words in [["read", "--effective"], ["explain"], ["read-type", "--effective"]] {
            let missing = await session.tool(words + [Self.app, "Key"])
            #expect(missing.status == 1 && missing.output == "")
            #expect(missing.error.contains("(org.example.App, Key) does not exist"))
        }
    }

    @Test func `read --effective shows a whole domain, merged, in every form`() async throws {
        try await session.write(#"{"Theme": "dark"}"#, to: "\(Self.app).json", in: .managed)
        try await session.write(
            #"{"Theme": "auto", "Only": true}"#, to: "\(Self.app).json", in: .vendor)
        try await session.write(#"{"Language": "de"}"#, to: "NSGlobalDomain.json", in: .recommended)
        await session.tool("write", Self.app, "Size", "-int", "3")
        await session.tool("write", Self.app, "Deep", "--json", #"{"a":[1,"x"]}"#)
        #expect(
            await session.tool("read", "--effective", Self.app, "--json").output
                == #"{"Deep":{"a":[1,"x"]},"Language":"de","Only":true,"Size":3,"Theme":"dark"}"#
                + "\n")
        let shown = await session.tool("read", Self.app, "--effective").output
        #expect(shown.contains("    Only = 1;\n    Size = 3;\n    Theme = dark;\n"), "\(shown)")
        #expect(
            await session.tool("keys", "--effective", Self.app).output
                == "Deep\nLanguage\nOnly\nSize\nTheme\n")
        #expect(
            await session.tool("read", "--effective", Self.app, "Deep", "--path", "a[1]").output
                == "x\n")
        #expect(
            await session.tool("read", "--effective", "--raw", Self.app, "Only").output == "true\n")
        #expect(
            await session.tool("read-type", "--effective", Self.app, "Only").output
                == "Type is boolean\n")
        #expect(await session.tool("read", "--effective", "-g").output.contains("Language = de;"))
        #expect(await session.tool("read", "--effective", "-g", "Language").output == "de\n")
        // The user's own are as they were.
        #expect(await session.tool("keys", Self.app).output == "Deep\nSize\n")
        #expect(await session.tool("read", Self.app, "Theme").status == 1)
        let near = await session.tool("read", "--effective", Self.app, "Them")
        #expect(near.error.contains("Did you mean 'Theme'?"), "\(near.error)")
    }

    @Test func `A value that only the administrator has set is not called missing`() async throws {
        try await session.write(#"{"Theme": "dark"}"#, to: "\(Self.app).json", in: .managed)
        for words in [["read", Self.app], ["keys", Self.app], ["read", Self.app, "Theme"]] {
            let missing = await session.tool(words)
            #expect(missing.status == 1 && missing.output == "")
            #expect(
                missing.error.contains(
                    "does not exist in the user's own values; the layer managed has it. Give --effective"
                ),
                "\(missing)")
        }
        #expect(await session.tool("read", Self.app, "Other").error.contains("does not exist\n"))
        let deleted = await session.tool("delete", Self.app, "Theme", "--path", "a")
        #expect(!deleted.error.contains("--effective"), "\(deleted)")
    }

    @Test func `On a terminal, columns have headings`() async throws {
        try await session.write(#"{"Theme": "dark"}"#, to: "\(Self.app).json", in: .managed)
        await session.tool("backup", "now")
        for (words, heading) in [
            (["backup", "list"], #/name +time +generation +bytes +kind/#),
            (["explain", Self.app], #/key +layer +state +file/#),
            (["locked", Self.app], #/key +file/#),
        ] {
            let shown = await session.onTerminal(words)
            #expect(shown.text.contains(heading), "\(shown)")
            #expect(await !session.tool(words).output.contains(heading))
        }
    }

    @Test func `-app NAME names the domain that is looked up`() async throws {
        let applications = session.directory.path + "/.local/share/applications"
        try FileManager.default.createDirectory(
            atPath: applications, withIntermediateDirectories: true)
        try "[Desktop Entry]\nType=Application\nName=Painter\nExec=true\n".write(
            toFile: "\(applications)/\(Self.app).desktop", atomically: true, encoding: .utf8)
        await session.tool("write", "-g", "Colour", "-string", "red")
        for words in [
            ["read", "--effective", "-app", "Painter", "Colour"],
            ["explain", "-app", "Painter", "Colour"],
        ] {
            #expect(await session.tool(words).output.contains("red"), "\(words)")
        }
    }

    @Test(arguments: [
        ["read", "--effective"], ["read", "--effective", "--generation", app, "Key"],
        ["read", "--effective", app + "@managed", "Key"],
        ["-currentHost", "read", "--effective", app], ["keys", "--effective", app + "@host"],
        ["read-type", "--effective", app + "@system", "Key"], ["explain", app + "@host", "Key"],
        ["-currentHost", "locked", app],
    ])
    func `A layer or an invalid domain is refused by verbs for all layers`(words: [String]) async {
        let refused = await session.tool(words)
        #expect(refused.status == 64 && refused.output == "", "\(refused)")
        #expect(refused.complaint.split(separator: "\n").count == 1, "\(refused.error)")
    }
}

// MARK: explain

extension LayersToolTests {
    @Test func `explain marks the effective layer, and shortens values to one line`() async throws {
        try await session.write(#"{"Key": "dark"}"#, to: "\(Self.app).json", in: .managed)
        try await session.write(
            #"{"Key": "\#(String(repeating: "long ", count: 50))"}"#,
            to: "\(Self.app).json", in: .vendor)
        let lines = try await session.tool("explain", Self.app, "Key").requireOutput()
            .split(separator: "\n")
        #expect(lines.count == 2)
        let managed = session.path(of: "\(Self.app).json", in: .managed)
        #expect(lines.first?.contains(/^->  managed +"dark" +locked +\//) == true, "\(lines)")
        #expect(lines.first?.hasSuffix(managed) == true)
        #expect(
            lines.last?.contains(/^    system +"long long .*…  +\/.*\.json$/) == true, "\(lines)")
    }

    @Test func `explain says when the user has changed the value that applies`() async throws {
        try await session.write(#"{"Key": "auto"}"#, to: "\(Self.app).json", in: .vendor)
        let vendors = try await session.tool("explain", Self.app, "Key").requireOutput()
        #expect(!vendors.contains("changed"))
        await session.tool("write", Self.app, "Key", "dark")
        let changed = try await session.tool("explain", Self.app, "Key").requireOutput()
        #expect(
            changed.contains(/\nLast changed \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, action 1\.\n$/),
            "\(changed)")
        let told = try #require(await json("explain", Self.app, "Key", "--json") as? [String: Any])
        let layers = try #require(told["layers"] as? [[String: Any]])
        #expect(layers.map { $0["changed"] is String } == [true, false])
    }

    @Test func `On a terminal a line fits, and control characters have no effect`() async throws {
        let text = #"{"Key": "\u001b[31m\#(String(repeating: "long ", count: 50))"}"#
        try await session.write(text, to: "\(Self.app).json", in: .vendor)
        let shown = await session.onTerminal(["explain", Self.app, "Key"])
        #expect(!shown.text.contains("\u{1B}") && shown.text.contains("u001b"), "\(shown)")
        #expect(shown.text.split(separator: "\n").allSatisfy { $0.count <= 80 || $0.contains("/") })
        #expect(shown.status == 0)
    }

    @Test func `A large value is shown by its size, and completely in JSON`() async throws {
        let text = String(repeating: "x", count: 100_000)
        try await session.write(#"{"Key": "\#(text)"}"#, to: "\(Self.app).json", in: .recommended)
        #expect(
            try await session.tool("explain", Self.app, "Key").requireOutput().contains("97.8 KiB"))
        let told = try #require(await json("explain", Self.app, "Key", "--json") as? [String: Any])
        let layers = try #require(told["layers"] as? [[String: Any]])
        #expect(layers.first?["value"] as? String == text)
    }

    @Test
    func `explain says if a lock freezes the effective value, or that there is none`() async throws
    {
        await session.tool("write", Self.app, "Frozen", "-int", "7")
        try await session.write(
            #"{"$locked": ["Frozen", "Empty*"]}"#, to: "\(Self.app).d/10-lock.json", in: .managed)
        let frozen = try await session.tool("explain", Self.app, "Frozen").requireOutput()
        #expect(frozen.contains(/(?m)^    managed +- +locked +\/.*\/10-lock\.json$/), "\(frozen)")
        #expect(frozen.contains(/(?m)^->  domain +7$/), "\(frozen)")
        #expect(frozen.contains("the current value stays and cannot be changed"))
        let empty = try await session.tool("explain", Self.app, "EmptyKey").requireOutput()
        #expect(!empty.contains("->") && empty.contains("none can be set"), "\(empty)")
        let told = try #require(
            await json("explain", Self.app, "EmptyKey", "--json") as? [String: Any])
        #expect(told["holds"] is NSNull && told["locked"] as? Bool == true)
    }

    @Test func `A domain is explained by all its managed, locked and overridden keys`() async throws
    {
        for (domain, key) in [
            ("org.example.App", "Theme"), ("org.example.App", "Size"), ("org.example.App", "Mine"),
            ("org.example.App@host", "Size"), ("NSGlobalDomain", "Colour"),
        ] {
            await session.tool("write", domain, key, "-int", "1")
        }
        let plain = await session.tool("explain", "org.example.None")
        #expect(plain.status == 1 && plain.error.contains("Domain org.example.None does not exist"))
        try await session.write(
            #"{"Theme": "dark", "$locked": ["Frozen", "Pre*"]}"#, to: "org.example.App.json",
            in: .managed)
        try await session.write(#"{"Colour": "red"}"#, to: "org.example.App.json", in: .recommended)
        let managed = session.path(of: "org.example.App.json", in: .managed)
        let text = try await session.tool("explain", "org.example.App").requireOutput()
        let rows = text.split(separator: "\n").map {
            $0.split(separator: " ").joined(separator: " ")
        }
        #expect(
            rows == [
                "Colour global over system", "Frozen - locked \(managed)", "Size host over domain",
                "Theme managed managed over domain \(managed)", "Pre* locked \(managed)",
            ])
        let json = try await session.tool("explain", "org.example.App", "--json").requireOutput()
        #expect(
            json.contains(#""key":"Size","holds":"host","locked":false,"layers":[{"layer":"host""#))
        #expect(json.hasSuffix(#""locks":[{"key":"Pre*","file":"\#(managed)"}]}"# + "\n"))
        await session.tool("write", "org.example.Plain", "k", "-int", "1")
        #expect(
            await session.tool("explain", "org.example.Plain").output
                == "org.example.Plain: nothing is managed, locked or overridden\n")
    }
}
