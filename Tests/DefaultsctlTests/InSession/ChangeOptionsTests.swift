import DefaultsFiles
import Foundation
import TestSupport
import Testing

@testable import ToolHarness

/// What the verbs that change something have for scripts: `--changed`, `--wait`, `--skip-locked`,
/// and archives as values.
@Suite(.inSession) struct ChangeOptionsTests {
    private let session = TestSession.current
    private static let app = "org.example.App"

    private func json(_ words: String...) async throws -> String {
        try await session.tool(["read", "--json"] + words).requireOutput()
    }

    private func file(_ text: String, _ name: String) throws -> String {
        let path = "\(session.directory.path)/\(name)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test func `Each verb reports whether it has changed anything`() async throws {
        let list = try file(#"{"a": 1, "b": [1, 2]}"#, "list.json")
        let lines = try file("write a.b k -int 1\nwrite c.d k -int 2\n", "lines")
        /// Runs a line until nothing is left to change.
        func expectOnce(_ words: String...) async {
            for (number, expected) in ["changed\n", "unchanged\n"].enumerated() {
                let answer = await session.tool(words + ["--changed"])
                #expect(
                    answer.output == expected && answer.status == 0,
                    "\(words) \(number): \(answer)")
            }
        }
        await expectOnce("write", Self.app, "k", "-int", "1")
        await expectOnce("write", Self.app, "k", "-int", "2")
        await expectOnce("write", Self.app, "{ a = 1; k = 2; }")
        await expectOnce("write", Self.app, "{ a = 1; }")
        await expectOnce("import", Self.app, list)
        await session.tool("write", Self.app, "other", "-int", "1")
        await expectOnce("import", "--replace", Self.app, list)
        await expectOnce("import", "--key", "whole", Self.app, list)
        await expectOnce("write", Self.app, "b", "--path", "[0]", "-int", "7")
        await expectOnce("apply", "-f", lines)
        await expectOnce("delete", Self.app, "whole")
        await expectOnce("delete", Self.app)
        await expectOnce("delete-all", "a.b", "k")
        await expectOnce("delete-all", "c.d")
        await session.tool("write", Self.app, "old", "-int", "1")
        #expect(
            await session.tool("rename", Self.app, "old", "new", "--changed").output == "changed\n")
        #expect(
            await session.tool("rename", Self.app, "new", "new", "--changed").output
                == "unchanged\n")
        let name = try await session.tool("backup", "now").requireOutput()
        await session.tool("write", Self.app, "new", "-int", "2")
        await expectOnce("backup", "restore", String(name.dropLast()))
        // Without the option nothing is printed, and what is missing is an error.
        #expect(await session.tool("write", Self.app, "new", "-int", "3").output == "")
        #expect(await session.tool("delete", Self.app, "none").status == 1)
    }

    @Test(arguments: [
        ["write", app, "k", "-int", "2"], ["write", app, "{ k = 2; }"], ["delete", app, "k"],
        ["delete", app], ["delete-all", app], ["rename", app, "k", "l"], ["import", app, "-"],
        ["apply"], ["factory-reset", "--yes"],
    ])
    func `After --wait the change is on disk`(words: [String]) async throws {
        await session.tool("write", Self.app, "k", "-int", "1")
        let input =
            words[0] == "apply" ? "write a.b k 1\nwrite c.d k 1\n" : #"{"imported": 1}"#
        let answer = await session.tool(words + ["--wait"], input: input)
        #expect(answer.status == 0, "\(answer)")
        #expect(try await session.pendingChanges() == 0)
    }

    @Test func `A part that is already removed is unchanged, as a key is`() async throws {
        await session.tool(
            "write", Self.app, "o", "--json", #"{"$class":"Account","username":"ada"}"#)
        await session.tool("write", Self.app, "list", "-array", "a", "b")
        for (key, path) in [("o", "username"), ("list", "[1]")] {
            let words = ["delete", "--changed", Self.app, key, "--path", path]
            #expect(await session.tool(words).output == "changed\n")
            let again = await session.tool(words)
            #expect(again.status == 0 && again.output == "unchanged\n", "\(again)")
            let plain = await session.tool("delete", Self.app, key, "--path", path)
            #expect(plain.status == 1, "\(plain)")
        }
        let wrong = await session.tool("delete", "--changed", Self.app, "list", "--path", "name")
        #expect(wrong.status == 1, "\(wrong)")
    }

    @Test func `A key that only the managed layer has is locked, and not unknown`() async throws {
        try await session.write(#"{"Managed": 3}"#, to: "\(Self.app).json", in: .managed)
        for verb in ["delete", "delete-all"] {
            let refused = await session.tool(verb, Self.app, "Managed")
            #expect(refused.status == 1 && refused.error.contains("is locked by the administrator"))
            let skipped = await session.tool(verb, Self.app, "Managed", "--skip-locked")
            #expect(skipped.status == 0 && skipped.error.contains("was left unchanged"))
        }
        #expect(await session.tool("locked", "org.example.None").status == 0)
    }

    @Test func `A reset reports whether it has changed anything`() async throws {
        await session.tool("write", Self.app, "Free", "-int", "1")
        let reset = ["factory-reset", "--yes", "--changed", "--wait"]
        #expect(await session.tool(reset).output == "changed\n")
        #expect(await session.tool(reset).output == "unchanged\n")
        #expect(await session.tool(reset + ["--json"]).status == 64)
    }

    @Test func `Locked keys are skipped on request, and reported`() async throws {
        for key in ["Locked", "Free", "Other"] {
            await session.tool("write", Self.app, key, "-int", "1")
        }
        let backup = try await session.tool("backup", "now").requireOutput().dropLast()
        let list = try file(#"{"Locked": 2, "Free": 2}"#, "list.json")
        try await session.write(#"{"$locked": ["Locked"]}"#, to: "\(Self.app).json", in: .managed)
        #expect(await session.tool("import", Self.app, list).status == 1)
        #expect(try await json(Self.app) == #"{"Free":1,"Locked":1,"Other":1}"# + "\n")
        let imported = await session.tool("import", Self.app, list, "--skip-locked", "--changed")
        #expect(imported.output == "changed\n")
        #expect(
            imported.error
                == "defaultsctl: 'Locked' of \(Self.app) is locked by the administrator, and was left "
                + "unchanged.\n")
        #expect(try await json(Self.app) == #"{"Free":2,"Locked":1,"Other":1}"# + "\n")
        let replaced = await session.tool("import", Self.app, list, "--skip-locked", "--replace")
        #expect(replaced.status == 0)
        #expect(try await json(Self.app) == #"{"Free":2,"Locked":1}"# + "\n")
        let restored = await session.tool("backup", "restore", String(backup), "--skip-locked")
            .output
        #expect(restored.contains("2 keys set, 0 removed\n"), "\(restored)")
        let one = await session.tool("delete", Self.app, "Locked", "--skip-locked", "--changed")
        #expect(one.status == 0 && one.output == "unchanged\n")
        #expect(await session.tool("delete", Self.app).status == 1)
        #expect(await session.tool("delete", Self.app, "--skip-locked").status == 0)
        #expect(try await json(Self.app) == #"{"Locked":1}"# + "\n")
        #expect(await session.tool("delete-all", Self.app).status == 1)
        #expect(
            await session.tool("delete-all", Self.app, "--skip-locked", "--changed").output
                == "unchanged\n")
    }

    @Test func `A reset of nothing has the same members in JSON as any other`() async throws {
        let reset = try await session.tool("factory-reset", "--yes", "--json").requireOutput()
        #expect(reset == #"{"removed":0,"locked":0,"undo":null}"# + "\n")
    }

    @Test func `A keyed archive is stored as it is, from a file or standard input`() async throws {
        let object = #"{"$class":"Account","username":"ada"}"#
        await session.tool("write", Self.app, "User", "--json", object)
        for form in ["binary", "xml"] {
            let path = "\(session.directory.path)/archive.\(form)"
            let archive = await session.bytes("inspect", "--\(form)", Self.app, "User")
            try Data(archive).write(to: URL(filePath: path))
            let written = await session.tool("write", Self.app, form, "--archive", path)
            #expect(written.status == 0, "\(written)")
            #expect(try await json(Self.app, form) == object + "\n")
            _ = await session.bytes(
                "write", Self.app, "input-\(form)", "--archive", "-", input: archive)
            #expect(try await json(Self.app, "input-\(form)") == object + "\n")
            // A whole domain it is not.
            let refused = await session.tool("import", "org.example.New", path)
            #expect(refused.status == 1 && refused.error.contains("is a keyed archive"))
            #expect(refused.error.contains("'defaultsctl import DOMAIN FILE --key KEY'"))
            #expect(await session.tool("read", "org.example.New").status == 1)
            #expect(
                await session.tool("import", "org.example.New", path, "--key", "User").status == 0)
            #expect(try await json("org.example.New", "User") == object + "\n")
            await session.tool("delete", "org.example.New")
        }
        let lines = try file(
            "write \(Self.app) line --archive \(session.directory.path)/archive.xml\n", "lines")
        #expect(await session.tool("apply", "-f", lines).status == 0)
        #expect(try await json(Self.app, "line") == object + "\n")
        let bad = await session.tool("write", Self.app, "bad", "--archive", lines)
        #expect(bad.status == 1 && bad.error.contains("byte 0"), "\(bad)")
    }

    @Test func `A reset removes all of the user's values, and they can be restored`() async throws {
        await session.tool("write", Self.app, "Free", "-int", "1")
        await session.tool("write", Self.app, "Locked", "-int", "1")
        await session.tool("-currentHost", "write", Self.app, "Here", "-int", "1")
        await session.tool("-host", "elsewhere", "write", "-g", "There", "-int", "1")
        try await session.write(
            #"{"Managed": 3, "$locked": ["Locked"]}"#, to: "\(Self.app).json", in: .managed)
        let before = try await json()
        let asked = await session.tool("factory-reset")
        #expect(asked.status == 64 && asked.error.contains("Give --yes"), "\(asked)")
        let plan = try await session.tool("factory-reset", "--dry-run").requireOutput()
        #expect(plan.hasPrefix("3 keys would be removed\n"), "\(plan)")
        #expect(plan.contains("\n  \(Self.app): 1 key, 1 locked\n"), "\(plan)")
        let object = try await session.tool("factory-reset", "--dry-run", "--json").requireOutput()
        #expect(object.hasPrefix(#"{"removed":3,"locked":1,"undo":null,"domains":["#), "\(object)")
        #expect(try await json() == before)
        let reset = try await session.tool("factory-reset", "--yes").requireOutput()
        #expect(reset.hasPrefix("3 keys removed from 3 domains\n1 key locked"), "\(reset)")
        #expect(await session.tool("domains", "--json").output == "[\"\(Self.app)\"]\n")
        #expect(try await json(Self.app) == #"{"Locked":1}"# + "\n")
        #expect(await session.tool("read", "\(Self.app)@managed", "Managed").output == "3\n")
        let undo = try #require(reset.split(separator: "\n").last)
        #expect(undo.hasPrefix("to undo: defaultsctl backup restore "))
        #expect(
            await session.tool(undo.split(separator: " ").dropFirst(3).map(String.init)).status == 0
        )
        #expect(try await json() == before)
        #expect(await session.tool("read", "-host", "elsewhere", "-g", "There").output == "1\n")
    }
}
