import Foundation
import TestSupport
import Testing

@testable import ToolHarness

/// Output of `defaultsctl`, and what happens if it cannot be written.
@Suite(.inSession) struct OutputTests {
    let session = TestSession.current

    init() async throws {
        await session.tool("write", "a.b", "key", "-int", "1")
    }

    @Test(arguments: [
        "read a.b odd --json", "read a.b --json", "read --json", "find --json odd",
        "export a.b - --format json", "inspect a.b odd --json", "inspect a.b odd --json --pretty",
    ])
    func `On a terminal JSON is JSON, and control characters have no effect`(line: String)
        async throws
    {
        await session.tool("write", "a.b", "odd", "--json", #"["v\u001b[31m\u009b\u202e"]"#)
        let shown = await session.onTerminal(line.split(separator: " ").map(String.init))
        #expect(shown.text.contains(#"v\u001b[31m\u009b\u202e""#), "\(shown)")
        #expect(shown.status == 0)
    }

    @Test(arguments: ["keys a.b", "keys -0 a.b", "keys --json a.b", "read --\u{1B}[31m\u{202E}"])
    func `Neither a key nor a wrong word reaches a terminal unescaped`(line: String) async throws {
        await session.tool("write", "a.b", "k\u{1B}[31m\u{202E}", "-int", "1")
        let shown = await session.onTerminal(line.split(separator: " ").map(String.init)).text
        #expect(!shown.contains("\u{1B}") && !shown.contains("\u{202E}"), "\(shown)")
        #expect(shown.contains("[31m"), "\(shown)")
    }

    @Test func `Of a long wrong word the beginning is shown`() async {
        let word = String(repeating: "x", count: 30_000)
        let lines = [
            [word], ["write", "a.b", "key", "-bool", word], ["read", "a.b.\(word)"],
            ["export", "--format=\(word)", "a.b", "-"],
        ]
        for line in lines {
            let answer = await session.tool(line)
            #expect(answer.status != 0 && answer.error.contains("xxx…"))
            #expect(answer.complaint.count < 300, "\(answer.error)")
        }
    }
}
