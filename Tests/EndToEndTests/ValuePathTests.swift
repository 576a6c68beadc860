import Foundation
import TestSupport
import TestTiers
import Testing

/// `defaultsctl … --path` as a person at a shell uses it.
@Suite(.startsPrograms, .serialized) struct ValuePathTests {
    let desktop: Desktop

    init() throws {
        desktop = try Desktop()
        desktop.tool(
            "write", "org.example.App", "State", "--json",
            #"{"$class":"State","books":[{"title":"Dune"}],"options":{"a.b":1,"audio":{"volume":3}}}"#
        )
    }

    private func value() -> String {
        desktop.tool("read", "org.example.App", "State", "--json").output
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
    func `A part is read by its path`(arguments: [String], output: String) {
        let answer = desktop.tool(["read", "org.example.App", "State", "--path"] + arguments)
        #expect(answer.output == output)
        #expect(answer.error == "" && answer.status == 0)
    }

    @Test func `A part is written and removed, and everything else stays`() {
        let write = ["write", "org.example.App", "State", "--path"]
        #expect(desktop.tool(write + ["options.audio.volume", "-float", "0.5"]).status == 0)
        #expect(desktop.tool(write + ["books[1]", "--json", "[1]"]).status == 0)
        #expect(desktop.tool(write + ["level", "-int", "-2"]).status == 0)
        #expect(
            value() == #"{"$class":"State","books":[{"title":"Dune"},[1]],"level":-2,"#
                + #""options":{"a.b":1,"audio":{"volume":0.5}}}"# + "\n")
        let delete = ["delete", "org.example.App", "State", "--path"]
        #expect(desktop.tool(delete + ["books[0]"]).status == 0)
        #expect(desktop.tool(delete + ["options.audio"]).status == 0)
        #expect(
            value()
                == #"{"$class":"State","books":[[1]],"level":-2,"options":{"a.b":1}}"# + "\n")
    }

    @Test func `Writing the existing part is not a change`() throws {
        let before = try desktop.property("Generation")
        desktop.tool(
            "write", "org.example.App", "State", "--path", "options.audio.volume", "-int", "3")
        #expect(try desktop.property("Generation") == before)
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
    ) {
        let before = value()
        let answer = desktop.tool(arguments)
        #expect(answer.status == 1)
        #expect(answer.output == "")
        #expect(answer.error.hasPrefix("defaultsctl: ") && answer.error.contains(sentence))
        #expect(answer.error.split(separator: "\n").count == 1)
        #expect(value() == before)
    }

    @Test(arguments: [
        ["read", "org.example.App", "State", "--path", "a..b"],
        ["read", "org.example.App", "--path", "a"],
        ["write", "org.example.App", "State", "--path", "a[", "-int", "1"],
        ["delete", "org.example.App", "State", "--path", "\"a"],
        ["write", "org.example.App", "State", "--path", "a"],
    ])
    func `A path that is malformed, or has no key, exits with 64`(arguments: [String]) {
        let answer = desktop.tool(arguments)
        #expect(answer.status == 64)
        #expect(answer.complaint.split(separator: "\n").count == 1, "\(answer.error)")
    }

    @Test func `Many who write parts of one value at once lose nothing`() throws {
        let tool = Desktop.programs + "/defaultsctl"
        let program = """
            for part in $(seq 1 24); do
                '\(tool)' write org.example.App State --path "options.part$part" -int $part &
            done
            wait
            """
        #expect(desktop.run("/bin/sh", "-c", program).error == "")
        for part in 1...24 {
            let answer = desktop.tool(
                "read", "org.example.App", "State", "--path", "options.part\(part)")
            #expect(answer.output == "\(part)\n")
        }
    }
}
