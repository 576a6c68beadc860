import Foundation
import TestSupport
import Testing

@testable import ToolHarness

/// `defaultsctl … --path` as a person at a shell uses it.
@Suite(.inSession) struct ValuePathTests {
    let session = TestSession.current

    init() async throws {
        await session.tool(
            "write", "org.example.App", "State", "--json",
            #"{"$class":"State","books":[{"title":"Dune"}],"options":{"a.b":1,"audio":{"volume":3}}}"#
        )
    }

    private func value() async -> String {
        await session.tool("read", "org.example.App", "State", "--json").output
    }

    @Test(arguments: [
        (["options.audio.volume"], "3\n"), (["books[0].title"], "Dune\n"),
        (["books[-1].title", "--json"], "\"Dune\"\n"), (["options.\"a.b\""], "1\n"),
        (["options", "--json"], #"{"a.b":1,"audio":{"volume":3}}"# + "\n"),
        (
            ["options"],
            "{\n    \"a.b\" = 1;\n    audio =     {\n        volume = 3;\n    };\n}\n"
        ),
        ([#"["options"]["a.b"]"#], "1\n"),
    ])
    func `A part is read by its path`(arguments: [String], output: String) async {
        let answer = await session.tool(["read", "org.example.App", "State", "--path"] + arguments)
        #expect(answer.output == output)
        #expect(answer.error == "" && answer.status == 0)
    }

    @Test func `A part is written and removed, and everything else stays`() async {
        let write = ["write", "org.example.App", "State", "--path"]
        #expect(await session.tool(write + ["options.audio.volume", "-float", "0.5"]).status == 0)
        #expect(await session.tool(write + ["books[1]", "--json", "[1]"]).status == 0)
        #expect(await session.tool(write + ["level", "-int", "-2"]).status == 0)
        #expect(
            await value() == #"{"$class":"State","books":[{"title":"Dune"},[1]],"level":-2,"#
                + #""options":{"a.b":1,"audio":{"volume":0.5}}}"# + "\n")
        let delete = ["delete", "org.example.App", "State", "--path"]
        #expect(await session.tool(delete + ["books[0]"]).status == 0)
        #expect(await session.tool(delete + ["options.audio"]).status == 0)
        #expect(
            await value()
                == #"{"$class":"State","books":[[1]],"level":-2,"options":{"a.b":1}}"# + "\n")
    }

    @Test func `Writing the existing part is not a change`() async throws {
        let before = try await session.generation()
        await session.tool(
            "write", "org.example.App", "State", "--path", "options.audio.volume", "-int", "3")
        #expect(try await session.generation() == before)
    }

    @Test(arguments: [
        (
            ["read", "org.example.App", "State", "--path", "options.audio.volume.left"],
            "'options.audio.volume' is a number, which has no parts."
        ),
        (["read", "org.example.App", "State", "--path", "books[1]"], "it has no element [1]."),
        (["delete", "org.example.App", "State", "--path", "nothing"], "has no 'nothing'."),
        (["write", "org.example.App", "State", "--path", "a.b", "-int", "1"], "has no 'a'."),
        (["write", "org.example.App", "Missing", "--path", "a", "-int", "1"], "Missing"),
    ])
    func `A path to nothing exits with 1 and one sentence`(
        arguments: [String], sentence: String
    ) async {
        let before = await value()
        let answer = await session.tool(arguments)
        #expect(answer.status == 1)
        #expect(answer.output == "")
        #expect(answer.error.hasPrefix("defaultsctl: ") && answer.error.contains(sentence))
        #expect(answer.error.split(separator: "\n").count == 1)
        #expect(await value() == before)
    }

    @Test(arguments: [
        ["read", "org.example.App", "State", "--path", "a..b"],
        ["read", "org.example.App", "--path", "a"],
        ["write", "org.example.App", "State", "--path", "a[", "-int", "1"],
        ["delete", "org.example.App", "State", "--path", "\"a"],
        ["write", "org.example.App", "State", "--path", "a"],
    ])
    func `A path that is malformed, or has no key, exits with 64`(arguments: [String]) async {
        let answer = await session.tool(arguments)
        #expect(answer.status == 64)
        #expect(answer.complaint.split(separator: "\n").count == 1, "\(answer.error)")
    }
}
