import Foundation
import TestSupport
import TestTiers
import Testing

/// Names and values that would steer a terminal, through every verb of the tool.
@Suite(.startsPrograms, .serialized) struct TerminalTests {
    private let desktop: Desktop

    /// A text that would steer a terminal.
    ///
    /// It would clear the screen, set its title, move to the beginning of a line, begin another one,
    /// reverse the text, and clear the screen by a single character. The tool itself prints none of it.
    private static let hostile = "x\u{1B}[2J\u{1B}]0;t\u{7}\r\n\u{202E}\u{2066}\u{85}\u{9B}2Jz"
    private static let app = "org.example.App"

    init() throws { desktop = try Desktop() }

    /// The lines for each verb; `H` stands for the hostile text, `F` for a file of that name, and `D` for a
    /// document with it.
    private static let lines: [String: [[String]]] = [
        "read": [
            ["read", app, "H"], ["read", app], ["read"], ["read", "--json", app], ["read", "H"],
            ["read", app, "Hnone"], ["read", app, "value"], ["read", "--generation", app, "H"],
        ],
        "read-type": [["read-type", app, "H"], ["read-type", app, "Hnone"]],
        "write": [
            ["write", "H", "key", "-int", "1"], ["write", app, "H", "-int", "H"],
            ["write", app, "key", "H"], ["write", app, "key", "-H"],
            ["write", app, "H", "--archive", "F"], ["write", app, "locked\u{1B}[2J", "-int", "1"],
        ],
        "rename": [["rename", app, "Hnone", "Hother"]],
        "delete": [["delete", app, "Hnone"], ["delete", "H"]],
        "delete-all": [["delete-all", "H"]],
        "factory-reset": [["factory-reset"]],
        "apply": [["apply", "F"], ["apply", "D", "--dry-run"], ["apply", "D"]],
        "unapply": [["unapply", "H"], ["apply", "D"], ["unapply", "me", "--dry-run"]],
        "owners": [["apply", "D"], ["owners"], ["owners", "--json"]],
        "drift": [["apply", "D"], ["write", app, "H", "-int", "7"], ["drift"], ["drift", "H"]],
        "import": [["import", app, "F"], ["import", app, "Fnone"], ["import", "H", "F"]],
        "export": [
            ["export", app, "-"], ["export", app, "-", "--format", "json"],
            ["export", "H", "-"], ["export", app, "/none/H"],
        ],
        "domains": [["domains"], ["domains", "--json"]],
        "keys": [["keys", app], ["keys", "-0", app], ["keys", "--json", app], ["keys", "H"]],
        "find": [["find", "x"], ["find", "--json", "x"], ["find", "Hnone"]],
        "explain": [["explain", app, "H"], ["explain", app], ["explain", app, "Hnone"]],
        "history": [
            ["history"], ["history", app, "H"], ["history", "--patch"], ["history", "--json"],
            ["history", "H"], ["history", app, "Hnone"], ["history", "--since", "H"],
            ["history", "--program", "H"],
        ],
        "undo": [
            ["undo", "--dry-run"], ["undo", app, "H", "--dry-run"], ["undo", "H"],
            ["undo", app, "Hnone"], ["undo", app, "--to", "H"], ["undo", "--yes"],
        ],
        "redo": [["undo", "--yes"], ["redo", "--dry-run"], ["redo", "H"], ["redo", "--yes"]],
        "locked": [["locked", app], ["locked", app, "H"], ["locked"]],
        "grant": [
            ["grant", "H", "read", app], ["grant", app, "H", app], ["grant", app, "read", "H"],
        ],
        "revoke": [["revoke", "Hnone"]],
        "grants": [["grants"], ["grants", "--json"]],
        "lint": [["lint", "F"], ["lint"], ["lint", "Fnone"]],
        "watch": [["watch", "H"]],
        "inspect": [["inspect", app, "H"], ["inspect", "F"], ["inspect", app, "H", "--json"]],
        "sync": [["sync", "H"]],
        "status": [["status"], ["status", "--json"]],
        "stats": [["stats"], ["stats", "--json"]],
        "adopt": [["adopt", "H"], ["adopt", "--dry-run"]],
        "release": [["release", "H"], ["release"]],
        "doctor": [["doctor"], ["doctor", "--json"]],
        "backup": [
            ["backup", "list"], ["backup", "restore", "H"], ["backup", "show", "H"],
            ["backup", "H"],
        ],
        "roam": [
            ["roam", "add", "H"], ["roam", "drop", "H"], ["roam", "domains"], ["roam", "status"],
            ["roam", "conflicts"], ["roam", "conflicts", "--json"],
            ["roam", "conflicts", "--restore", "H"], ["roam", "enable", "--directory", "H"],
            ["roam", "enable", "--server", "H"], ["roam", "forget", "H"], ["roam", "H"],
        ],
    ]

    /// The verbs that print neither names nor values of others.
    private static let nameless: Set = ["status", "stats", "factory-reset", "domains", "grants"]

    @Test func `No verb is missing here`() {
        #expect(Set(Self.lines.keys) == Set(HelpTests.verbs))
    }

    private func document() throws -> String {
        let domains = [Self.app: [Self.hostile: Self.hostile]]
        let document: [String: Any] = ["$defaults": 1, "owner": "me", "domains": domains]
        let json = try JSONSerialization.data(withJSONObject: document)
        return try desktop.directory.write(
            String(decoding: json, as: UTF8.self), to: "document.json")
    }

    @Test(arguments: HelpTests.verbs)
    func `Nothing that a verb prints steers a terminal`(verb: String) throws {
        try makeHostile()
        var isNamed = false
        for words in try #require(Self.lines[verb]) {
            let file = desktop.directory.path + "/" + Self.hostile
            let document = try document()
            let line = words.map { word in
                guard word != "D" else { return document }
                return word == "F" || word == "Fnone"
                    ? word.replacing("F", with: file)
                    : word.replacing("H", with: Self.hostile)
            }
            let shown = try desktop.bytesOnTerminal(line)
            // Of -0 the separators were asked for.
            let isNULAllowed = words.contains("-0")
            #expect(shown.isSafe(withNULs: isNULAllowed), "\(words): \(shown.escaped)")
            isNamed = isNamed || shown.text.contains("2J")
        }
        // Its text was there, without what steers.
        if !Self.nameless.contains(verb) { #expect(isNamed) }
    }

    @Test func `What is damaged, and what the daemon says of it, does not steer a terminal`() throws
    {
        try desktop.tool("write", Self.app, "k" + Self.hostile, "-string", "v").requireOutput()
        try desktop.damage("k" + Self.hostile)
        for line in [["read", Self.app, "k" + Self.hostile], ["status"], ["doctor"]] {
            let shown = try desktop.bytesOnTerminal(line)
            #expect(shown.isSafe, "\(line[0]): \(shown.escaped)")
        }
        #expect(try desktop.bytesOnTerminal(["status"]).text.contains("2J"))
    }

    @Test(arguments: [["--H"], ["--managed"], ["--peer", "H"], ["H"], ["--database=H/x"]])
    func `A wrong command line of the daemon does not steer the terminal`(words: [String]) throws {
        let shown = try desktop.bytesOnTerminal(
            words.map { $0.replacing("H", with: Self.hostile) }, program: "defaultsd",
            environment: desktop.environmentWithoutBus)
        #expect(shown.isSafe, "\(shown.escaped)")
        #expect(shown.text.contains("defaultsd: "))
    }

    /// Names and values of all kinds: of keys, in values, in files of layers, of applications that
    /// were granted something, of files, and of backups.
    private func makeHostile() throws {
        let hostile = Self.hostile
        let name = Self.json(hostile)
        try desktop.write(
            #"{"m\#(name)": "v\#(name)", "locked\u001b[2J": 1}"#, to: "\(Self.app).json",
            in: .managed)
        try desktop.write("{", to: "org.example.\(hostile).json", in: .recommended)
        try desktop.write("{}", to: hostile, in: .vendor)
        try "\(hostile)\n".write(
            toFile: desktop.directory.path + "/" + hostile, atomically: false, encoding: .utf8)
        let value = #"["v\#(name)\u0000", {"k\#(name)": 1}]"#
        let grant = #"{"read": ["org.example.*"], "g\#(name)": "v\#(name)"}"#
        for (domain, key, value) in [
            (Self.app, hostile, value), (Self.app, "value", value),
            ("org.defaultsd.Grants", hostile, grant), ("org.defaultsd.Grants", "org.a.B", grant),
            ("org.defaultsd.Roam", hostile, value),
            ("org.defaultsd.RoamConflicts", "\(Self.app)/\(hostile)/1", value),
        ] {
            try desktop.tool("write", domain, key, "--json", value).requireOutput()
        }
        try desktop.tool("backup", "now").requireOutput()
        try Data().write(to: URL(filePath: "\(desktop.backupsPath)/\(hostile).db"))
    }

    private static func json(_ text: String) -> String {
        text.unicodeScalars.map {
            $0.isASCII && $0.value >= 32
                ? String($0)
                : "\\u" + String(repeating: "0", count: 4 - String($0.value, radix: 16).count)
                    + String($0.value, radix: 16)
        }.joined()
    }
}

/// What a program has printed on a terminal.
struct TerminalText {
    let text: String

    /// Whether nothing in it steers the terminal, beyond lines, tabs and the tool's own colours.
    var isSafe: Bool { isSafe(withNULs: false) }

    func isSafe(withNULs isNULAllowed: Bool) -> Bool {
        let plain = text.replacing(/\u{1B}\[(0|2|1;34|1;35|3[2356]|1)?m/, with: "")
            .replacing("\r\n", with: "\n")
        return plain.unicodeScalars.allSatisfy { scalar in
            if isNULAllowed, scalar.value == 0 { return true }
            return switch scalar.properties.generalCategory {
            case .control: scalar == "\n" || scalar == "\t"
            case .lineSeparator, .paragraphSeparator: false
            case .format: !scalar.properties.isBidiControl
            default: true
            }
        }
    }

    var escaped: String { text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined() }
}

extension Desktop {
    /// What a program prints on a terminal, its errors too, until it ends.
    func bytesOnTerminal(
        _ arguments: [String], program: String = "defaultsctl",
        environment: [String: String]? = nil
    ) throws -> TerminalText {
        let printed = try run(
            HangGuard.command + [
                "/usr/bin/python3", "-c",
                """
                import os, pty, subprocess, sys, threading
                reader, terminal = pty.openpty()
                tool = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=terminal,
                                        stderr=terminal)
                os.close(terminal)
                text = b""
                try:
                    while part := os.read(reader, 65536): text += part
                except OSError: pass
                tool.wait()
                sys.stdout.buffer.write(text)
                """, Desktop.programs + "/" + program,
            ] + arguments, environment: environment
        ).requireOutput()
        return TerminalText(text: printed)
    }
}
