import DefaultsFiles
import Foundation
import TestSupport
import TestTiers
import Testing

@testable import ToolHarness

/// Command lines in the process of a test, and by the shipped program with the shipped daemon.
///
/// So the tests of `DefaultsctlTests` prove what the programs do, too.
@Suite(.startsPrograms, .inSession) struct SameAnswersTests {
    private let session = TestSession.current
    private let desktop: Desktop

    init() throws { desktop = try Desktop() }

    /// Lines of all kinds of verbs, in an order in which later ones see what earlier ones have done.
    private static let lines: [(line: String, input: String)] = [
        ("--version", ""), ("help read", ""), ("raed a.b", ""), ("read", ""), ("read a.b", ""),
        ("write a.b Number -int 42", ""), ("write a.b Text -string Café", ""),
        ("write a.b List -array one -int 2 -date 2024-02-29T12:00:01Z", ""),
        ("write a.b Word -bool perhaps", ""), ("write -g Bytes -data 00ff", ""),
        ("write a.b Number word", ""), ("write a.b Number -int 42 --changed --wait", ""),
        ("-currentHost write a.b Here -int 1", ""), ("read a.b", ""), ("read a.b --json", ""),
        ("read --json --iso-dates", ""), ("read a.b List --path [1]", ""),
        ("write a.b List --path [1] -float 0.5", ""), ("read-type a.b List", ""),
        ("keys a.b -0", ""), ("domains", ""), ("find caf", ""), ("read a.b number", ""),
        ("write a.b Exact --json {\"$class\":\"GVariant\",\"type\":\"u\",\"value\":5}", ""),
        ("write a.b Exact -1", ""), ("read-type a.b Exact", ""), ("export a.b -", ""),
        ("import a.c -", "{ \"a key\" = (1, 2); }"), ("import a.c -", "{\"a\": [1 2]}"),
        ("import a.c - --replace --changed", "<dict><key>b</key><true/></dict>"),
        ("inspect -", "bplist00"), ("inspect a.b List", ""), ("lint -", "{\n1}"),
        ("apply", "write a.c one -int 1\nwrite a.d two -int 2\ndelete a.c b\n"),
        ("apply", "write a.c one -int 2\nread a.c\n"), ("read --json", ""),
        (
            "apply -",
            "{\"$defaults\": 1, \"owner\": \"me\", \"domains\": {\"a.e\": {\"k\": {\"$ensure\": [1]}}}}"
        ),
        ("owners", ""), ("drift", ""), ("explain a.e k", ""), ("unapply me", ""),
        ("rename a.d two three", ""), ("delete a.d none", ""), ("delete-all a.d", ""),
        ("grant org.example.App read a.b", ""), ("grants", ""), ("sync", ""),
        ("backup restore 1999", ""), ("factory-reset", ""), ("factory-reset --dry-run", ""),
        ("locked a.b Locked", ""), ("write a.b Locked -int 1", ""),
        ("read --effective a.b --json", ""), ("explain a.b", ""), ("keys org.example.None", ""),
    ]

    /// Replaces the directories, and when something was done, which are not the same.
    private func plain(_ text: String) -> String {
        text.replacing(session.path(of: "a.b.json", in: .managed), with: "FILE")
            .replacing(desktop.path(of: "a.b.json", in: .managed), with: "FILE")
            .replacing(/Last changed [-\d]+ [:\d]+/, with: "Last changed")
    }

    @Test func `Each line has the same status and prints the same`() async throws {
        let file = #"{"Theme": "dark", "$locked": ["Locked"]}"#
        try await session.write(file, to: "a.b.json", in: .managed)
        try desktop.write(file, to: "a.b.json", in: .managed)
        try desktop.awaitLock(of: "Locked", in: "a.b")
        for (line, input) in Self.lines {
            let words = line.split(separator: " ").map(String.init)
            let program = desktop.run([Desktop.programs + "/defaultsctl"] + words, input: input)
            let here = await session.tool(words, input: input)
            #expect(here.status == program.status, "\(line): \(here), \(program)")
            #expect(plain(here.output) == plain(program.output), "\(line)")
            #expect(plain(here.error) == plain(program.error), "\(line)")
        }
    }

    @Test(arguments: ["read a.b", "read a.b Key", "raed", "read a b c", "explain a.b Key"])
    func `On a terminal each line shows the same`(line: String) async throws {
        for words in [
            ["write", "a.b", "Key", "-string", "\u{1B}[31m\u{202E}"],
            ["-currentHost", "write", "a.b", "Key", "-int", "1"],
        ] {
            await session.tool(words)
            desktop.tool(words)
        }
        let words = line.split(separator: " ").map(String.init)
        // The time is that of each, and in this process another program asks.
        let time = /Last changed [^\n\\]*/
        let shown = try desktop.onTerminal(words).replacing(time, with: "TIME")
        let here = await session.onTerminal(words)
        // As Python writes what has no apostrophe.
        let text = here.text.replacing(time, with: "TIME").replacing("\\", with: "\\\\").replacing(
            "\n", with: "\\r\\n")
        let quote = text.contains("'") ? "\"" : "'"
        #expect(shown == "\(quote)\(text)\(quote)\n\(here.status)\n")
    }

    @Test func `By the name defaults, errors are those of macOS`() async throws {
        let link = desktop.directory.path + "/defaults"
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: Desktop.programs + "/defaultsctl")
        let time = #/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} defaults\[\d+:\d+\] /#
        for words in [["read", "a.b", "Key"], ["rename", "a.b", "Key", "Other"], ["find", "a"]] {
            let program = desktop.run([link] + words)
            let here = await session.tool(words, named: "defaults")
            #expect(here.status == program.status && here.output == program.output, "\(words)")
            #expect(here.error.contains(time) == program.error.contains(time))
            #expect(here.error.replacing(time, with: "") == program.error.replacing(time, with: ""))
        }
    }
}
