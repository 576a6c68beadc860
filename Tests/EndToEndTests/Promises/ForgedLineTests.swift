import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// Names that would add a line of their own to the daemon's log, with a priority of their choice.
@Suite(.startsPrograms, .serialized) struct ForgedLineTests {
    private static let forged = "\n<0>forged\r\u{1B}[2J\u{202E}\u{85}\u{2028}"
    private static let app = "org.example.App"
    private let desktop: Desktop

    init() throws { desktop = try Desktop(daemonOptions: "--verbose --priorities") }

    /// The log, once the daemon has ended.
    private func log() throws -> String {
        try String(contentsOfFile: desktop.directory.path + "/log", encoding: .utf8)
    }

    /// Each line has a priority that the daemon gives, and none of it steers a terminal.
    private func expectNoForgery(_ log: String, mentions: Bool = true) {
        let lines = log.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(!lines.isEmpty)
        #expect(lines.allSatisfy { $0.firstMatch(of: /^<[2-7]>[^< ]/) != nil }, "\(log)")
        #expect(TerminalText(text: log).isSafe, "\(log)")
        #expect(log.contains("forged") == mentions, "\(log)")
    }

    @Test func `A damaged key with a line break in its name forges no line`() throws {
        let key = "k" + Self.forged
        try desktop.tool("write", Self.app, key, "-string", "v").requireOutput()
        try desktop.damage(key)
        #expect(desktop.tool("read", Self.app, key).status != 0)
        desktop.tool("backup", "now")
        try desktop.stopDaemon()
        expectNoForgery(try log())
    }

    @Test func `A layer's file with a line break in its name forges no line`() throws {
        for place in Desktop.LayerPlace.allCases {
            try desktop.write("{", to: "org.example.\(Self.forged).json", in: place)
            try desktop.write(
                #"{"\nkey": }"#, to: "org.example.App.json", in: place)
        }
        #expect(desktop.tool("domains").status == 0)
        try desktop.stopDaemon()
        expectNoForgery(try log())
    }

    @Test func `An application's grant with a line break forges no line`() throws {
        desktop.tool(
            "write", "org.defaultsd.Grants", "app" + Self.forged, "--json",
            #"{"read": ["org.example\nforged"]}"#)
        desktop.tool("write", "org.defaultsd.Grants", "app" + Self.forged, "-string", "x")
        desktop.tool("grants")
        try desktop.stopDaemon()
        let said = try log()
        expectNoForgery(said, mentions: said.contains("forged"))
    }

    @Test func `A directory with a line break in its name forges no line`() throws {
        let directory = desktop.directory.path + "/d" + Self.forged
        let said = desktop.directory.path + "/said"
        var environment = desktop.environment
        environment["XDG_RUNTIME_DIR"] = directory + "/none"
        let daemon = try ChildProcess(
            [
                Desktop.programs + "/defaultsd", "--priorities", "--verbose", "--database",
                directory,
            ], environment: environment, error: .file(said))
        try wait {
            try #require(daemon.isRunning)
            return try desktop.askBus("NameHasOwner", "org.defaultsd.Defaults1") == "(true,)\n"
        }
        try desktop.tool("write", Self.app, "key", "-int", "1").requireOutput()
        daemon.send(SIGTERM)
        try daemon.requireSuccess()
        expectNoForgery(try String(contentsOfFile: said, encoding: .utf8))
    }

    @Test func `A refused database with a line break in its path forges no line`() throws {
        let directory = desktop.directory.path + "/d" + Self.forged
        try #require(mkdir(directory, 0o700) == 0)
        try #require(mkdir(directory + "/defaults.db", 0o700) == 0)
        let said = desktop.directory.path + "/said"
        let daemon = try ChildProcess(
            [Desktop.programs + "/defaultsd", "--priorities", "--database", directory],
            environment: desktop.environment, error: .file(said))
        #expect(daemon.waitUntilExit() == 74)
        expectNoForgery(try String(contentsOfFile: said, encoding: .utf8))
    }

    @Test func `A wrong option of the daemon forges no line`() throws {
        let answer = desktop.run(Desktop.programs + "/defaultsd", "--x" + Self.forged)
        #expect(answer.status == 64)
        #expect(answer.error.split(separator: "\n").count == 1, "\(answer.error)")
        #expect(TerminalText(text: answer.error).isSafe, "\(answer.error)")
        #expect(answer.error.contains("forged"))
    }

    @Test func `Arguments of calls forge no line`() throws {
        let output = try desktop.python(
            """
            import sys
            \(Desktop.pythonArchive)
            text = sys.argv[1]
            bad = 0
            calls = [("Get", "(ss)", text, text), ("Get", "(ss)", "a.b", text),
                     ("Remove", "(ss)", "a.b", text), ("GetAll", "(s)", text),
                     ("Rename", "(sss)", "a.b", text, text + "x"), ("RemoveDomain", "(s)", "a.b@host:" + text),
                     ("Attach", "(as)", [text]), ("Explain", "(ss)", "a.b", text), (text, "(s)", "x")]
            for method, signature, *arguments in calls:
                try: bus.call_sync("org.defaultsd.Defaults1", "/org/defaultsd/Defaults1",
                                   "org.defaultsd.Defaults1", method if method.isalpha() else "NoSuch",
                                   GLib.Variant(signature, tuple(arguments)), None, 0, -1, None)
                except GLib.Error: bad += 1
            print("done", bad > 4)
            """, Self.forged
        ).requireOutput()
        #expect(output == "done True\n")
        try desktop.stopDaemon()
        let said = try log()
        expectNoForgery(said, mentions: said.contains("forged"))
    }
}
