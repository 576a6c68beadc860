import DefaultsFiles
import DefaultsProtocol
import Foundation
import Glibc
import TestSupport
import Testing

@testable import ToolHarness

/// Documents with owners, by the tool and a real service.
@Suite(.inSession) struct DocumentTests {
    private static let app = "org.example.App"
    private let session = TestSession.current

    private func write(_ text: String, to name: String = "document.json") throws -> String {
        try session.directory.write(text, to: name)
    }

    private func document(_ domains: String, owner: String = "me") -> String {
        #"{"$defaults": 1, "owner": "\#(owner)", "domains": \#(domains)}"#
    }

    /// A document of the one app, which is applied.
    @discardableResult
    private func apply(
        _ entries: String, owner: String = "me", _ options: String...
    ) async throws -> ProgramResult {
        let file = try write(document(#"{"\#(Self.app)": \#(entries)}"#, owner: owner))
        return await session.tool(["apply", file] + options)
    }

    private func json(_ domain: String = app) async -> String {
        await session.tool("read", domain, "--json").output
    }

    @Test func `A document is applied, holds, and is taken back`() async throws {
        await session.tool("write", Self.app, "Theme", "light")
        let entries = #"{"Theme": "dark", "List": {"$ensure": ["a"]}, "$once": {"Size": 2}}"#
        #expect(try await apply(entries, "--check").status == 2)
        #expect(await json() == "{\"Theme\":\"light\"}\n")
        #expect(try await apply(entries, "--changed").output == "changed\n")
        #expect(await json() == #"{"List":["a"],"Size":2,"Theme":"dark"}"# + "\n")
        let before = try await session.generation()
        #expect(try await apply(entries, "--changed").output == "unchanged\n")
        #expect(try await apply(entries, "--check").status == 0)
        #expect(try await session.generation() == before)
        #expect(await session.tool("owners").output == "me  3\n")
        #expect(await session.tool("drift").status == 0)
        await session.tool("write", Self.app, "Theme", "blue")
        let drift = await session.tool("drift", "me")
        #expect(drift.status == 2 && drift.output == "me  \(Self.app)  Theme  changed\n")
        #expect(
            await session.tool("explain", Self.app, "Theme").output.contains(
                "Owned by the document of me."))
        let undone = await session.tool("unapply", "me")
        #expect(undone.status == 0 && undone.error.contains("stay as they are: Theme"), "\(undone)")
        #expect(await json() == "{\"Theme\":\"blue\"}\n")
        #expect(await session.tool("owners").output.isEmpty)
    }

    @Test func `The history says which document has made a change`() async throws {
        await session.tool("write", Self.app, "Theme", "light")
        #expect(try await apply(#"{"Theme": "dark"}"#, owner: "me/desktop").status == 0)
        #expect(await session.tool("unapply", "me/desktop").status == 0)
        let actions = try await session.actions(of: Self.app)
        #expect(actions.map(\.kind) == ["document", "document", "change"])
        #expect(actions.map(\.owner) == ["me/desktop", "me/desktop", ""])
    }

    @Test func `All domains are one change, and a fault changes nothing`() async throws {
        await session.tool("write", "org.example.B", "List", "-int", "5")
        let file = try write(
            document(
                #"{"org.example.A": {"K": 1}, "org.example.B": {"List": {"$ensure": ["a"]}}}"#))
        let refused = await session.tool("apply", file)
        #expect(refused.status == 1 && refused.error.contains("org.example.B 'List'"), "\(refused)")
        #expect(refused.error.contains("Nothing was changed."))
        #expect(await session.tool("keys", "org.example.A").status == 1)
        let both = try write(document(#"{"org.example.A": {"K": 1}, "org.example.B": {"K": 2}}"#))
        #expect(await session.tool("apply", both).status == 0)
        let generation = try await session.get("org.example.A", "K").generation
        #expect(try await session.get("org.example.B", "K").generation == generation)
    }

    @Test func `What is locked is named, and what programs see as wanted is nothing to do`()
        async throws
    {
        try await session.write(#"{"A": 1, "B": 2}"#, to: "\(Self.app).json", in: .managed)
        #expect(try await apply(#"{"A": 1, "C": 3}"#).status == 0)
        let refused = try await apply(#"{"A": 5, "B": 6, "C": 4}"#)
        #expect(
            refused.status == 1 && refused.error.contains("The administrator has locked 2 keys"))
        #expect(refused.error.contains("A of") && refused.error.contains("B of"))
        #expect(await json() == "{\"C\":3}\n")
        let skipped = try await apply(#"{"A": 5, "B": 6, "C": 4}"#, "--skip-locked")
        #expect(
            skipped.status == 0
                && skipped.error.contains("left unchanged: A of \(Self.app), B of \(Self.app)."),
            "\(skipped)")
        #expect(await json() == "{\"C\":4}\n")
        try await session.remove("\(Self.app).json", in: .managed)
        #expect(try await apply(#"{"A": 5, "B": 6, "C": 4}"#).status == 0)
        #expect(await json() == #"{"A":5,"B":6,"C":4}"# + "\n")
    }

    @Test func `A key of another owner is refused, and is taken over if that is meant`()
        async throws
    {
        try await apply(#"{"A": 1}"#)
        let refused = try await apply(#"{"A": 2}"#, owner: "you")
        #expect(
            refused.status == 1 && refused.error.contains("A of \(Self.app) (me)"), "\(refused)")
        #expect(try await apply(#"{"A": 2}"#, owner: "you", "--force-conflicts").status == 0)
        #expect(await session.tool("owners").output == "you  1\n")
    }

    @Test func `A mistyped owner is an error, and one that is gone is not`() async throws {
        try await apply(#"{"A": 1}"#, owner: "me/games")
        let mistyped = await session.tool("unapply", "me/game")
        #expect(mistyped.status == 1 && mistyped.error.contains("Did you mean 'me/games'?"))
        #expect(await session.tool("unapply", "me/games").status == 0)
        #expect(await session.tool("unapply", "me/games").status == 0)
    }

    @Test func `Half of a document needs a confirmation, and none at all is refused`() async throws
    {
        let keys = (0..<12).map { "\"K\($0)\": \($0)" }
        try await apply("{\(keys.joined(separator: ", "))}")
        let refused = try await apply(#"{"K0": 0}"#)
        #expect(
            refused.status == 1 && refused.error.contains("11 of the 12 keys of me"), "\(refused)")
        #expect(await session.tool("owners").output == "me  12\n")
        #expect(try await apply("{}").error.contains("defaultsctl unapply me"))
        #expect(try await apply(#"{"K0": 0}"#, "--yes").status == 0)
        #expect(await json() == "{\"K0\":0}\n")
    }

    @Test func `An exact type stays, and what a GTK program has set is equal`() async throws {
        let exact = #"{"$class": "GVariant", "type": "u", "value": 5}"#
        await session.tool("write", Self.app, "Number", "--json", exact)
        #expect(
            try await apply(#"{"Number": 5}"#, "--check").output.contains("own \(Self.app) Number"))
        try await apply(#"{"Number": 5}"#)
        #expect(await session.tool("read-type", Self.app, "Number").output.contains("type u)"))
        try await apply(#"{"Number": 6}"#)
        #expect(await session.tool("read-type", Self.app, "Number").output.contains("type u)"))
        #expect(try await apply(#"{"Number": 6}"#, "--changed").output == "unchanged\n")
        await session.tool("unapply", "me")
        #expect(await session.tool("read", Self.app, "Number").output == "5\n")
    }

    @Test func `A value that does not fit an exact type replaces it, with what schemas say of it`()
        async throws
    {
        let exact = #"{"$class": "GVariant", "type": "u", "value": 5}"#
        for key in ["A", "B"] { await session.tool("write", Self.app, key, "--json", exact) }
        let result = try await apply(#"{"A": "five", "B": "six", "C": 1}"#)
        #expect(result.status == 0, "\(result)")
        #expect(
            result.error.contains("do not fit them: A of \(Self.app), B of \(Self.app)."),
            "\(result)")
        await session.tool("unapply", "me")
        #expect(await session.tool("read-type", Self.app, "A").output.contains("type u)"))
    }

    @Test(arguments: ["document.yaml", "list.plist", "domains"])
    func `Other spellings and directories are read`(_ form: String) async throws {
        let path: String
        switch form {
        case "document.yaml":
            path = try write(
                "$defaults: 1\nowner: me\ndomains:\n  \(Self.app): {A: 1, B: \"007\"}\n", to: form)
        case "list.plist":
            path = try write(
                """
                <plist version="1.0"><dict><key>$defaults</key><integer>1</integer><key>owner</key>
                <string>me</string><key>domains</key><dict><key>\(Self.app)</key><dict><key>A</key>
                <integer>1</integer><key>B</key><string>007</string></dict></dict></dict></plist>
                """, to: form)
        default:
            path = session.directory.path + "/domains"
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false)
            _ = try write(#"{"A": 1}"#, to: "domains/\(Self.app).json")
            _ = try write("K: 2\n", to: "domains/org.example.Other.yaml")
            try await apply(#"{"B": "007"}"#, owner: "other")
        }
        let options = form == "domains" ? ["--owner", "me"] : []
        let result = await session.tool(["apply", path] + options)
        #expect(result.status == 0, "\(result)")
        #expect(await json() == #"{"A":1,"B":"007"}"# + "\n")
    }

    @Test func `A file of one domain needs a domain and an owner, and says so`() async throws {
        let file = try write(#"{"A": 1}"#)
        #expect(await session.tool("apply", file, "--domain", Self.app).status == 64)
        #expect(
            await session.tool("apply", file, "--domain", Self.app, "--owner", "me").status == 0)
        #expect(await session.tool("apply", file, "--owner", "me").error.contains("--domain"))
        let lines = try write(#"{"domain":"\#(Self.app)","key":"B","value":1}"#)
        #expect(await session.tool("apply", lines, "--check").status == 64)
        #expect(await session.tool("apply", lines).status == 0)
        #expect(await json() == #"{"A":1,"B":1}"# + "\n")
    }

    @Test func `Everything is exported as files, and applied again it changes nothing`()
        async throws
    {
        await session.tool(
            "write", Self.app, "Object", "--json", #"{"$class": "Account", "name": "ada"}"#)
        await session.tool("write", Self.app, "Date", "-date", "2026-03-01T12:00:00Z")
        await session.tool("-currentHost", "write", Self.app, "Screen", "-int", "2")
        await session.tool("write", "-g", "Language", "de")
        try await apply(#"{"Owned": 1}"#)
        let folder = session.directory.path + "/all"
        #expect(await session.tool("export", "--all", "--directory", folder).status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        let host = ProcessInfo.processInfo.hostName
        #expect(names == ["NSGlobalDomain.json", "\(Self.app).json", "\(Self.app)@\(host).json"])
        let first = try names.map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
        #expect(await session.tool("export", "--all", "--directory", folder).status == 0)
        #expect(
            try names.map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
                == first)
        await session.tool("unapply", "me")
        await session.tool("write", Self.app, "Owned", "-int", "1")
        let applied = await session.tool("apply", folder, "--owner", "everything", "--dry-run")
        #expect(applied.status == 0, "\(applied)")
        #expect(
            applied.output.split(separator: "\n").allSatisfy { $0.hasPrefix("own ") }, "\(applied)")
        #expect(applied.error.contains("becomes the owner of everything"))
        #expect(applied.output.contains("own \(Self.app)@host Screen: 2\n"))
    }

    @Test func `What JSON and XML cannot say is exported all the same`() async throws {
        for (key, value) in [
            ("Fraction", #"{"$class":"NSDate","NS.time":757382400.75}"#),
            ("Bare", #"{"$date":1.25}"#),
            ("Mutable", #"{"$class":"NSMutableString","NS.string":"t"}"#),
            ("Word", #"{"$class":"NSDictionary","NS.keys":["$merge"],"NS.objects":[{"a":1}]}"#),
            ("Class", #"[{"$class":"NSDictionary","NS.keys":["$class"],"NS.objects":["Foo"]}]"#),
            ("Other", #"{"$class":"NSDictionary","NS.keys":["$key"],"NS.objects":[1]}"#),
        ] {
            #expect(await session.tool("write", Self.app, key, "--json", value).status == 0)
        }
        let before = await shown()
        let folder = session.directory.path + "/all"
        #expect(await session.tool("export", "--all", "--directory", folder).status == 0)
        let plan = await session.tool("apply", folder, "--owner", "me", "--dry-run")
        #expect(plan.status == 0, "\(plan)")
        #expect(
            plan.output.split(separator: "\n").allSatisfy { $0.hasPrefix("own ") }, "\(plan)")
        // On another machine they are the same.
        await session.tool("delete", Self.app)
        #expect(await session.tool("apply", folder, "--owner", "me").status == 0)
        // A date has the form there that programs give it.
        let expected = before.replacing(
            #"{"$date":1.25}"#, with: #"{"$class":"NSDate","NS.time":1.25}"#)
        #expect(await shown() == expected)
    }

    private func shown() async -> String {
        let (word, all) = (await session.tool("inspect", Self.app, "Word"), await json())
        return word.output + all
    }

    @Test(arguments: [#"{"$class":"GVariant","type":"u"}"#, #"[{"$class":"GVariant"}]"#])
    func `A marker of an exact type without a value stops nobody`(_ marker: String) async throws {
        #expect(await session.tool("write", Self.app, "K", "--json", marker).status == 0)
        for words in [["read", Self.app], ["read-type", Self.app, "K"], ["find", "GVariant"]] {
            #expect(await session.tool(words).status == 0, "\(words)")
        }
        #expect(try await apply(#"{"K": 5}"#).status == 0)
        #expect(try await apply("{\"K\": \(marker)}").status == 0)
        #expect(await session.tool("drift").status == 0)
        #expect(await session.tool("unapply", "me").status == 0)
        #expect(await json() == "{\"K\":\(marker)}\n")
    }

    @Test func `A directory has the files of several machines, and each takes its own`()
        async throws
    {
        try FileManager.default.createDirectory(
            atPath: session.directory.path + "/dots", withIntermediateDirectories: false)
        let host = ProcessInfo.processInfo.hostName
        for (name, value) in [("", 1), ("@another-machine", 2), ("@\(host.uppercased())", 3)] {
            _ = try write("{\"K\": \(value)}", to: "dots/\(Self.app)\(name).json")
        }
        let path = session.directory.path + "/dots"
        #expect(await session.tool("apply", path, "--owner", "me").status == 0)
        #expect(await json() == "{\"K\":1}\n")
        #expect(await json("\(Self.app)@host") == "{\"K\":3}\n")
        #expect(
            await !session.tool("apply", path, "--owner", "me").error.contains("other machines"))
        // What is for other machines is checked, and stays where the export writes.
        #expect(
            await session.tool("export", "--all", "--directory", path).error.contains(
                host.uppercased()))
        _ = try write("{\"K\": }", to: "dots/\(Self.app)@another-machine.json")
        let refused = await session.tool("apply", path, "--owner", "me")
        #expect(refused.status == 1 && refused.error.contains("another-machine.json, line 1"))
    }

    @Test func `What is wrong in a document is said, and not that it has no header or owner`()
        async throws
    {
        let late = try write(#"{"owner": "me", "domains": {"a.b": {"K": 1,}}, "$defaults": 1}"#)
        let result = await session.tool("apply", late)
        #expect(result.status == 1 && result.error.contains("line 1, column 44"), "\(result)")
        let yaml = try write("# mine\n$defaults: 1\nowner: me\ndomains: {\(Self.app): {K: 1}}\n")
        #expect(await session.tool("apply", yaml).status == 0)
        #expect(await json() == "{\"K\":1}\n")
    }

    @Test func `A dry run says what apply asks`()
        async throws
    {
        let keys = (0..<12).map { "\"K\($0)\": \($0)" }
        try await apply("{\(keys.joined(separator: ", "))}")
        let planned = try await apply(#"{"K0": 0}"#, "--dry-run")
        #expect(planned.status == 0 && planned.error.contains("needs --yes"), "\(planned)")
    }
}
