import Foundation
import TestSupport
import TestTiers
import Testing

@testable import ToolHarness

/// The command lines of macOS's `defaults`, run by a shell that finds `defaultsctl` by that name.
@Suite(.startsPrograms, .serialized) struct CommandLineTests {
    /// The others are those of the suite of the same name in `DefaultsctlTests`.
    @Test func `A written value that a shell makes is read back by its type`() throws {
        let shell = try Shell()
        let tables = [WrittenLines.scalars, WrittenLines.bare, WrittenLines.composites]
        let rows = tables.flatMap(LineTable.rows).filter(LineTable.needsShell)
        for row in rows + LineTable.rows(WrittenLines.dataAndDates) {
            try #require(row.count == 4, "\(row)")
            let answer = shell.store(row)
            #expect(answer.output == shell.expected(row), "\(row): \(answer.error)")
            #expect(answer.error == "", "\(row)")
        }
    }

    @Test func `A line that only a shell makes, and that is refused, changes nothing`() throws {
        let shell = try Shell()
        shell.run("defaults write com.example.there k -int 1")
        shell.run(#"defaults write com.example.there object --json '{"$class":"Account"}'"#)
        let before = try shell.desktop.property("Generation")
        let rows = LineTable.rows(RefusedLines.table).filter(LineTable.needsShell)
        #expect(rows.count > 2)
        for row in rows {
            try #require(row.count == 3, "\(row)")
            let answer = shell.run("defaultsctl \(row[0])")
            #expect(answer.status == Int32(row[1]), "\(row): \(answer.error)")
            #expect(answer.output == "", "\(row)")
            #expect(answer.error.hasPrefix("defaultsctl: "), "\(row)")
            #expect(answer.error.contains(row[2]), "\(row): \(answer.error)")
            // In a log, the usage would hide the sentence.
            #expect(answer.error.split(separator: "\n").count == 1, "\(row): \(answer.error)")
        }
        #expect(try shell.desktop.property("Generation") == before)
    }

    @Test func `What scripts parse is printed as the page says`() throws {
        let page = try String(
            contentsOfFile: Desktop.packageDirectory + "Documentation/macos-compatibility.md",
            encoding: .utf8)
        let section = try #require(page.components(separatedBy: "## What scripts parse\n").last)
        let shell = try Shell()
        let setup = try #require(section.firstMatch(of: /```sh\n([^`]*)```/)).1
        #expect(shell.run("set -e\n\(setup)").error == "")
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }
        #expect(rows.count > 25)
        for row in rows {
            let cells = row.components(separatedBy: " | ")
            try #require(cells.count == 4, "\(row)")
            let answer = shell.run(cells[0].trimmingCharacters(in: ["|", " ", "`"]))
            let logged = answer.error.replacing(
                #/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} defaults\[\d+:\d+\] /#, with: "LOG")
            let expected =
                cells[1] == "nothing"
                ? ""
                : cells[1].trimmingCharacters(in: ["`"]).replacing("\\n", with: "\n")
                    .replacing("\\t", with: "\t")
            #expect(answer.output + logged == expected, "\(row)")
            #expect(answer.status == Int32(cells[2]), "\(row)")
        }
    }

    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: "/usr/share/i18n/charmaps/UTF-8.gz"),
            "The package locales is not installed."),
        arguments: [
            ("de_DE", "Do 29. Feb 12:00:01 UTC 2024"), ("fr_FR", "jeu. 29 févr. 2024 12:00:01 UTC"),
            ("ja_JP", "2024年  2月 29日 木曜日 12:00:01 UTC"),
        ])
    func `What date prints in the language of the user is a date`(
        locale: String, words: String
    ) throws {
        let shell = try Shell()
        let home = shell.desktop.directory.path
        let answer = shell.run(
            """
            localedef -i \(locale) -f UTF-8 \(home)/\(locale).UTF-8
            export LOCPATH=\(home) LC_ALL=\(locale).UTF-8
            date -d @1709208001 && defaults write a.b k -date "$(date -d @1709208001)" &&
            defaults read a.b k
            """)
        #expect(answer.output == "\(words)\n2024-02-29 12:00:01 +0000\n", "\(answer)")
    }

    @Test func `On a terminal, the lines of watch fit`() throws {
        let shell = try Shell()
        let program = """
            import fcntl, os, pty, struct, subprocess, termios
            reader, terminal = pty.openpty()
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 50, 0, 0))
            subprocess.run(["defaultsctl", "write", "a.b", "k", "-string", "old"])
            watcher = subprocess.Popen(["defaultsctl", "watch", "a.b"], stdout=terminal)
            text = b""
            count = 0
            while b"k =" not in text or not text.endswith(b"\\n"):
                count += 1
                subprocess.run(["defaultsctl", "write", "a.b", "k", "-string", f"{count} " * 60])
                os.set_blocking(reader, False)
                try: text += os.read(reader, 4096)
                except BlockingIOError: pass
            watcher.terminate()
            watcher.wait()
            print(max(map(len, text.decode().split("\\r\\n"))), "…" in text.decode())
            """
        let file = try shell.desktop.directory.write(program, to: "program.py")
        let answer = shell.run("python3 \(file)")
        #expect(answer.output == "50 True\n", "\(answer)")
    }

    @Test func `A dot file with paths of macOS's files runs to its end`() throws {
        let shell = try Shell()
        let answer = shell.run(
            """
            set -e
            defaults write ~/Library/Preferences/com.apple.dock tilesize -int 36
            defaults write "$HOME/Library/Preferences/com.apple.finder.plist" ShowPathbar -bool true
            defaults write /Library/Preferences/.GlobalPreferences.plist KeyRepeat -int 2
            defaults -currentHost write ~/Library/Preferences/ByHost/com.apple.menu.plist k -int 1
            defaults read-type ~/Library/Preferences/com.apple.dock.plist tilesize
            echo end
            """)
        #expect(answer.output == "Type is integer\nend\n", "\(answer.error)")
        #expect(
            shell.run("defaults read --json").output
                == #"{"NSGlobalDomain":{"KeyRepeat":2},"com.apple.dock":{"tilesize":36},"#
                + #""com.apple.finder":{"ShowPathbar":true}}"# + "\n")
        #expect(shell.run("defaults -currentHost read com.apple.menu k").output == "1\n")
    }

    @Test func `Values are shown as macOS shows them`() throws {
        let shell = try Shell()
        for (before, line, output) in ShownLines.table {
            for line in before { shell.run("defaults \(line)") }
            let answer = shell.run("defaults \(line)")
            #expect(answer.output == output, "\(before) \(line): \(answer.error)")
            #expect(answer.status == 0, "\(line): \(answer.error)")
        }
    }

    @Test
    func `Control characters have no effect on a terminal, and each domain has a line`() throws {
        let shell = try Shell()
        shell.run(#"defaults write com.example.a k -string "$(printf 'a\033[2Jb\tc')""#)
        shell.run("defaults write -g k -int 1; defaults -currentHost write com.example.b k -int 1")
        let terminal = Shell.terminal
        let value = shell.run("\(terminal) defaults read com.example.a k")
        #expect(value.output == "a\\u{1b}[2Jb\tc\r\n", "\(value.error)")
        #expect(shell.run("defaults read com.example.a k").output == "a\u{1B}[2Jb\tc\n")
        let domains = shell.run("\(terminal) defaults domains")
        #expect(domains.output == "NSGlobalDomain\r\ncom.example.a\r\ncom.example.b@host\r\n")
        let binary = shell.run("\(terminal) defaults export com.example.a - --format binary")
        #expect(binary.status == 64 && binary.output.contains("cannot show a binary property list"))
    }

    @Test func `Many who add to one value at once lose nothing`() throws {
        let shell = try Shell()
        shell.run(
            """
            for n in $(seq 1 24); do
                defaults write com.example.a list -array-add -int $n &
                defaults write com.example.a map -dict-add k$n -int $n &
            done; wait
            """)
        let sum = "(1 + 24) * 12"
        let program = """
            import json, sys
            value = json.load(sys.stdin)
            numbers = list(value["list"]), list(value["map"].values())
            print([len(set(n)) for n in numbers], [sum(n) == \(sum) for n in numbers])
            """
        let answer = shell.run("defaults read com.example.a --json | python3 -c '\(program)'")
        #expect(answer.output == "[24, 24] [True, True]\n", "\(answer.error)")
    }
}

/// A desktop whose shell knows the tool as `defaults`, and that has some applications.
private struct Shell {
    /// What runs the words after it on a terminal.
    static let terminal = """
        python3 -c 'import os, pty, sys; sys.exit(
            os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'
        """

    let desktop: Desktop
    private let environment: [String: String]

    init() throws {
        desktop = try Desktop()
        let home = desktop.directory.path
        let files = FileManager.default
        try files.createDirectory(
            atPath: home + "/bin", withIntermediateDirectories: false)
        for name in ["defaults", "defaultsctl"] {
            try files.createSymbolicLink(
                atPath: "\(home)/bin/\(name)",
                withDestinationPath: Desktop.programs + "/defaultsctl")
        }
        var environment = desktop.environment
        environment["PATH"] = home + "/bin:" + (environment["PATH"] ?? "/usr/bin:/bin")
        environment["TZ"] = "UTC"
        environment["XDG_DATA_HOME"] = home + "/share"
        environment["XDG_DATA_DIRS"] = home + "/system"
        self.environment = environment
        for (name, lines) in [
            ("share/org.example.Painter", "Name=My Painter\nName[de]=Malerin"),
            ("share/sub/nested", "Name = Nested One"), ("share/one", "Name=Twins"),
            ("system/two", "Name=twins"), ("system/org.example.Painter", "Name=Shadowed"),
            ("system/gone", "Name=Nothing\nHidden=true"),
        ] {
            let (folder, file) = (
                name.prefix { $0 != "/" }, name.drop { $0 != "/" }
            )
            let path = URL(filePath: "\(home)/\(folder)/applications\(file).desktop")
            try files.createDirectory(
                at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
            try "[Desktop Entry]\n\(lines)\n[Desktop Action x]\nName=Twins\n".write(
                to: path, atomically: true, encoding: .utf8)
        }
    }

    /// Runs a line as the shell has it.
    @discardableResult
    func run(_ line: String) -> ProgramResult {
        desktop.run(["/bin/sh", "-c", line], environment: environment)
    }

    /// Writes the value of a row, and reads its type and the value back.
    func store(_ row: [String]) -> ProgramResult {
        run(
            """
            defaults write \(row[0]) \(row[1]) && defaults read-type \(row[0]) \
            && defaults read --json \(row[0])
            """)
    }

    /// What ``store(_:)`` prints if everything is as the row says.
    func expected(_ row: [String]) -> String {
        let json = row[3].replacing("@HOME@", with: desktop.directory.path)
        return "Type is \(row[2])\n\(json)\n"
    }
}
