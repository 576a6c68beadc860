import Foundation
import TestSupport
import TestTiers
import Testing

/// What the verbs that change something have for scripts: `--changed`, `--wait`, `--skip-locked`,
/// and archives as values.
@Suite(.startsPrograms, .serialized) struct ChangeOptionsTests {
    private let desktop: Desktop
    private static let app = "org.example.App"

    init() throws { desktop = try Desktop() }

    private func json(_ words: String...) throws -> String {
        try desktop.tool(["read", "--json"] + words).requireOutput()
    }

    private func file(_ text: String, _ name: String) throws -> String {
        let path = "\(desktop.directory.path)/\(name)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test func `Each verb reports whether it has changed anything`() throws {
        let list = try file(#"{"a": 1, "b": [1, 2]}"#, "list.json")
        let lines = try file("write a.b k -int 1\nwrite c.d k -int 2\n", "lines")
        /// Runs a line until nothing is left to change.
        func expectOnce(_ words: String...) {
            for (number, expected) in ["changed\n", "unchanged\n"].enumerated() {
                let answer = desktop.tool(words + ["--changed"])
                #expect(
                    answer.output == expected && answer.status == 0,
                    "\(words) \(number): \(answer)")
            }
        }
        expectOnce("write", Self.app, "k", "-int", "1")
        expectOnce("write", Self.app, "k", "-int", "2")
        expectOnce("write", Self.app, "{ a = 1; k = 2; }")
        expectOnce("write", Self.app, "{ a = 1; }")
        expectOnce("import", Self.app, list)
        desktop.tool("write", Self.app, "other", "-int", "1")
        expectOnce("import", "--replace", Self.app, list)
        expectOnce("import", "--key", "whole", Self.app, list)
        expectOnce("write", Self.app, "b", "--path", "[0]", "-int", "7")
        expectOnce("apply", "-f", lines)
        expectOnce("delete", Self.app, "whole")
        expectOnce("delete", Self.app)
        expectOnce("delete-all", "a.b", "k")
        expectOnce("delete-all", "c.d")
        desktop.tool("write", Self.app, "old", "-int", "1")
        #expect(desktop.tool("rename", Self.app, "old", "new", "--changed").output == "changed\n")
        #expect(desktop.tool("rename", Self.app, "new", "new", "--changed").output == "unchanged\n")
        let name = try desktop.tool("backup", "now").requireOutput()
        desktop.tool("write", Self.app, "new", "-int", "2")
        expectOnce("backup", "restore", String(name.dropLast()))
        // Without the option nothing is printed, and what is missing is an error.
        #expect(desktop.tool("write", Self.app, "new", "-int", "3").output == "")
        #expect(desktop.tool("delete", Self.app, "none").status == 1)
    }

    @Test(arguments: [
        ["write", app, "k", "-int", "2"], ["write", app, "{ k = 2; }"], ["delete", app, "k"],
        ["delete", app], ["delete-all", app], ["rename", app, "k", "l"], ["import", app, "-"],
        ["apply"], ["factory-reset", "--yes"],
    ])
    func `After --wait the change is on disk`(words: [String]) throws {
        desktop.tool("write", Self.app, "k", "-int", "1")
        let input =
            words[0] == "apply" ? "write a.b k 1\nwrite c.d k 1\n" : #"{"imported": 1}"#
        let answer = desktop.run(
            [Desktop.programs + "/defaultsctl"] + words + ["--wait"], input: input)
        #expect(answer.status == 0, "\(answer)")
        #expect(try desktop.property("PendingChanges") == "<uint32 0>")
    }

    @Test func `A part that is already removed is unchanged, as a key is`() throws {
        desktop.tool("write", Self.app, "o", "--json", #"{"$class":"Account","username":"ada"}"#)
        desktop.tool("write", Self.app, "list", "-array", "a", "b")
        for (key, path) in [("o", "username"), ("list", "[1]")] {
            let words = ["delete", "--changed", Self.app, key, "--path", path]
            #expect(desktop.tool(words).output == "changed\n")
            let again = desktop.tool(words)
            #expect(again.status == 0 && again.output == "unchanged\n", "\(again)")
            let plain = desktop.tool("delete", Self.app, key, "--path", path)
            #expect(plain.status == 1, "\(plain)")
        }
        let wrong = desktop.tool("delete", "--changed", Self.app, "list", "--path", "name")
        #expect(wrong.status == 1, "\(wrong)")
    }

    @Test func `A key that only the managed layer has is locked, and not unknown`() throws {
        try desktop.write(#"{"Managed": 3}"#, to: "\(Self.app).json", in: .managed)
        try desktop.awaitLock(of: "Managed", in: Self.app)
        for verb in ["delete", "delete-all"] {
            let refused = desktop.tool(verb, Self.app, "Managed")
            #expect(refused.status == 1 && refused.error.contains("is locked by the administrator"))
            let skipped = desktop.tool(verb, Self.app, "Managed", "--skip-locked")
            #expect(skipped.status == 0 && skipped.error.contains("was left unchanged"))
        }
        #expect(desktop.tool("locked", "org.example.None").status == 0)
    }

    @Test func `A reset reports whether it has changed anything`() throws {
        desktop.tool("write", Self.app, "Free", "-int", "1")
        let reset = ["factory-reset", "--yes", "--changed", "--wait"]
        #expect(desktop.tool(reset).output == "changed\n")
        #expect(desktop.tool(reset).output == "unchanged\n")
        #expect(desktop.tool(reset + ["--json"]).status == 64)
    }

    @Test func `Locked keys are skipped on request, and reported`() throws {
        for key in ["Locked", "Free", "Other"] {
            desktop.tool("write", Self.app, key, "-int", "1")
        }
        let backup = try desktop.tool("backup", "now").requireOutput().dropLast()
        let list = try file(#"{"Locked": 2, "Free": 2}"#, "list.json")
        try desktop.write(#"{"$locked": ["Locked"]}"#, to: "\(Self.app).json", in: .managed)
        try desktop.awaitLock(of: "Locked", in: Self.app)
        #expect(desktop.tool("import", Self.app, list).status == 1)
        #expect(try json(Self.app) == #"{"Free":1,"Locked":1,"Other":1}"# + "\n")
        let imported = desktop.tool("import", Self.app, list, "--skip-locked", "--changed")
        #expect(imported.output == "changed\n")
        #expect(
            imported.error
                == "defaultsctl: 'Locked' of \(Self.app) is locked by the administrator, and was left "
                + "unchanged.\n")
        #expect(try json(Self.app) == #"{"Free":2,"Locked":1,"Other":1}"# + "\n")
        let replaced = desktop.tool("import", Self.app, list, "--skip-locked", "--replace")
        #expect(replaced.status == 0)
        #expect(try json(Self.app) == #"{"Free":2,"Locked":1}"# + "\n")
        let restored = desktop.tool("backup", "restore", String(backup), "--skip-locked").output
        #expect(restored.contains("2 keys set, 0 removed\n"), "\(restored)")
        let one = desktop.tool("delete", Self.app, "Locked", "--skip-locked", "--changed")
        #expect(one.status == 0 && one.output == "unchanged\n")
        #expect(desktop.tool("delete", Self.app).status == 1)
        #expect(desktop.tool("delete", Self.app, "--skip-locked").status == 0)
        #expect(try json(Self.app) == #"{"Locked":1}"# + "\n")
        #expect(desktop.tool("delete-all", Self.app).status == 1)
        #expect(
            desktop.tool("delete-all", Self.app, "--skip-locked", "--changed").output
                == "unchanged\n")
    }

    @Test
    func `All keys beside a locked one are removed, even if one change cannot name them all`()
        throws
    {
        let files = ["\(desktop.directory.path)/0.json", "\(desktop.directory.path)/1.json"]
        _ = try desktop.python(
            """
            import json, sys
            for part, file in enumerate(sys.argv[1:]):
                numbers = range(part * 131073, (part + 1) * 131073)
                with open(file, "w") as file: json.dump({f"{n:06}": True for n in numbers}, file)
            """, files[0], files[1]
        ).requireOutput()
        for file in files { _ = try desktop.tool("import", Self.app, file).requireOutput() }
        try desktop.write(#"{"$locked": ["000007"]}"#, to: "\(Self.app).json", in: .managed)
        try desktop.awaitLock(of: "000007", in: Self.app)
        let deleted = desktop.tool("delete", Self.app, "--skip-locked")
        #expect(deleted.status == 0, "\(deleted)")
        #expect(desktop.tool("keys", Self.app).output == "000007\n")
    }

    @Test func `A reset of nothing has the same members in JSON as any other`() throws {
        let reset = try desktop.tool("factory-reset", "--yes", "--json").requireOutput()
        #expect(reset == #"{"removed":0,"locked":0,"undo":null}"# + "\n")
    }

    @Test func `A keyed archive is stored as it is, from a file or standard input`() throws {
        let object = #"{"$class":"Account","username":"ada"}"#
        desktop.tool("write", Self.app, "User", "--json", object)
        for form in ["binary", "xml"] {
            let path = "\(desktop.directory.path)/archive.\(form)"
            let tool = Desktop.programs + "/defaultsctl"
            desktop.run("sh", "-c", "\(tool) inspect --\(form) \(Self.app) User > \(path)")
            let written = desktop.tool("write", Self.app, form, "--archive", path)
            #expect(written.status == 0, "\(written)")
            #expect(try json(Self.app, form) == object + "\n")
            desktop.run(
                "sh", "-c", "\(tool) write \(Self.app) input-\(form) --archive - < \(path)")
            #expect(try json(Self.app, "input-\(form)") == object + "\n")
            // A whole domain it is not.
            let refused = desktop.tool("import", "org.example.New", path)
            #expect(refused.status == 1 && refused.error.contains("is a keyed archive"))
            #expect(refused.error.contains("'defaultsctl import DOMAIN FILE --key KEY'"))
            #expect(desktop.tool("read", "org.example.New").status == 1)
            #expect(desktop.tool("import", "org.example.New", path, "--key", "User").status == 0)
            #expect(try json("org.example.New", "User") == object + "\n")
            desktop.tool("delete", "org.example.New")
        }
        let lines = try file(
            "write \(Self.app) line --archive \(desktop.directory.path)/archive.xml\n", "lines")
        #expect(desktop.tool("apply", "-f", lines).status == 0)
        #expect(try json(Self.app, "line") == object + "\n")
        let bad = desktop.tool("write", Self.app, "bad", "--archive", lines)
        #expect(bad.status == 1 && bad.error.contains("byte 0"), "\(bad)")
    }

    @Test func `A reset removes all of the user's values, and they can be restored`() throws {
        desktop.tool("write", Self.app, "Free", "-int", "1")
        desktop.tool("write", Self.app, "Locked", "-int", "1")
        desktop.tool("-currentHost", "write", Self.app, "Here", "-int", "1")
        desktop.tool("-host", "elsewhere", "write", "-g", "There", "-int", "1")
        try desktop.write(
            #"{"Managed": 3, "$locked": ["Locked"]}"#, to: "\(Self.app).json", in: .managed)
        try desktop.awaitLock(of: "Locked", in: Self.app)
        let before = try json()
        let asked = desktop.tool("factory-reset")
        #expect(asked.status == 64 && asked.error.contains("Give --yes"), "\(asked)")
        let plan = try desktop.tool("factory-reset", "--dry-run").requireOutput()
        #expect(plan.hasPrefix("3 keys would be removed\n"), "\(plan)")
        #expect(plan.contains("\n  \(Self.app): 1 key, 1 locked\n"), "\(plan)")
        let object = try desktop.tool("factory-reset", "--dry-run", "--json").requireOutput()
        #expect(object.hasPrefix(#"{"removed":3,"locked":1,"undo":null,"domains":["#), "\(object)")
        #expect(try json() == before)
        let reset = try desktop.tool("factory-reset", "--yes").requireOutput()
        #expect(reset.hasPrefix("3 keys removed from 3 domains\n1 key locked"), "\(reset)")
        #expect(desktop.tool("domains", "--json").output == "[\"\(Self.app)\"]\n")
        #expect(try json(Self.app) == #"{"Locked":1}"# + "\n")
        #expect(desktop.tool("read", "\(Self.app)@managed", "Managed").output == "3\n")
        let undo = try #require(reset.split(separator: "\n").last)
        #expect(undo.hasPrefix("to undo: defaultsctl backup restore "))
        #expect(desktop.tool(undo.split(separator: " ").dropFirst(3).map(String.init)).status == 0)
        #expect(try json() == before)
        #expect(desktop.tool("read", "-host", "elsewhere", "-g", "There").output == "1\n")
    }
}
