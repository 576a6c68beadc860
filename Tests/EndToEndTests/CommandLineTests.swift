import Foundation
import TestSupport
import TestTiers
import Testing

/// The command lines of macOS's `defaults`, run by a shell that finds `defaultsctl` by that name.
@Suite(.startsPrograms, .serialized) struct CommandLineTests {
    /// A table of lines.
    ///
    /// Each line is a row of fields between bars.
    private static func rows(_ table: String) -> [[String]] {
        table.split(separator: "\n").map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
    }

    @Test(arguments: [
        WrittenLines.scalars, WrittenLines.bare, WrittenLines.composites,
        WrittenLines.dataAndDates,
    ])
    func `A written value is read back by its type`(table: String) throws {
        let shell = try Shell()
        for row in Self.rows(table) {
            try #require(row.count == 4, "\(row)")
            let answer = shell.store(row)
            #expect(answer.output == shell.expected(row), "\(row): \(answer.error)")
            #expect(answer.error == "", "\(row)")
        }
    }

    @Test func `A word that is not a number is treated as on macOS, with a remark`() throws {
        let shell = try Shell()
        for row in Self.rows(WrittenLines.taken) {
            let answer = shell.store(row)
            #expect(answer.output == shell.expected(row), "\(row)")
            #expect(answer.error.hasPrefix("defaultsctl: "), "\(row)")
            #expect(answer.error.contains("Like on macOS, "), "\(row)")
        }
    }

    @Test func `A line that is refused says so, and changes nothing`() throws {
        let shell = try Shell()
        shell.run("defaults write com.example.there k -int 1")
        shell.run(#"defaults write com.example.there object --json '{"$class":"Account"}'"#)
        let before = try shell.desktop.property("Generation")
        for row in Self.rows(RefusedLines.table) {
            try #require(row.count == 3, "\(row)")
            let answer = shell.run("defaults \(row[0])")
            #expect(answer.status == Int32(row[1]), "\(row): \(answer.error)")
            #expect(answer.output == "", "\(row)")
            #expect(answer.error.hasPrefix("defaultsctl: "), "\(row)")
            #expect(answer.error.contains(row[2]), "\(row): \(answer.error)")
            let lines = answer.error.split(separator: "\n")
            let usage = lines.dropFirst()
            #expect(usage.isEmpty || row[1] == "64", "\(row): \(answer.error)")
            #expect(
                usage.enumerated().allSatisfy {
                    $1.hasPrefix($0 == 0 ? "usage: defaultsctl " : "       defaultsctl ")
                }, "\(row): \(answer.error)")
        }
        #expect(try shell.desktop.property("Generation") == before)
    }

    @Test(arguments: [
        ("rename com.example.there", "usage: defaultsctl rename <domain> <old-key> <new-key>"),
        ("write", "usage: defaultsctl write [--path <path>] <domain> <key> <value>"),
        ("-currentHost read a b c", "usage: defaultsctl read [<domain>] [<key>]"),
        ("backup restore", "usage: defaultsctl backup restore <backup>"),
        ("remove", "usage: defaultsctl delete <domain> [<key>]"),
        ("find", "usage: defaultsctl find <word>"),
    ])
    func `A wrong line gets the usage of its verb`(line: String, usage: String) throws {
        let shell = try Shell()
        let answer = shell.run("defaults \(line)")
        let lines = answer.error.split(separator: "\n")
        #expect(answer.status == 64 && lines.count > 1, "\(answer)")
        #expect(lines.dropFirst().first?.hasPrefix(usage) == true, "\(answer)")
        #expect(shell.run("defaults raed").error.split(separator: "\n").count == 1)
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
        let terminal = """
            python3 -c 'import os, pty, sys; sys.exit(
                os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'
            """
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
    let desktop: Desktop
    private let environment: [String: String]

    init() throws {
        desktop = try Desktop()
        let home = desktop.directory.path
        let files = FileManager.default
        try files.createDirectory(
            atPath: home + "/bin", withIntermediateDirectories: false)
        try files.createSymbolicLink(
            atPath: home + "/bin/defaults",
            withDestinationPath: Desktop.programs + "/defaultsctl")
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
