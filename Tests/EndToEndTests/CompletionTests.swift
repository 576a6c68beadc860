import Foundation
import TestSupport
import Testing

/// What a key completes, asked of the program and in real shells on a terminal.
@Suite struct CompletionTests {
    private let desktop: Desktop

    init() throws {
        desktop = try Desktop()
        for words in [
            ["org.example.Game", "Level", "-int", "1"],
            ["org.example.Game", "Two Words", "-int", "2"],
            ["org.example.Game", "a:b$c", "-int", "3"],
            ["NSGlobalDomain", "Colour", "-string", "red"],
        ] {
            _ = try desktop.tool(["write"] + words).requireOutput()
        }
    }

    /// The candidates, without their notes.
    private func candidates(_ words: String...) throws -> [String] {
        try desktop.tool(["complete", "--"] + words).requireOutput().split(separator: "\n")
            .map { String($0.prefix { $0 != "\t" }) }
    }

    @Test func `Verbs, options, domains, keys and the flags of types come from what there is`()
        throws
    {
        #expect(try candidates("rea") == ["read", "read-type"])
        #expect(try candidates("-currentHost", "ren") == ["rename"])
        #expect(try candidates("read", "org") == ["org.example.Game"])
        #expect(try candidates("-host", "other", "read", "N") == ["NSGlobalDomain"])
        #expect(
            try candidates("read", "org.example.Game", "")
                == ["Level", "Two Words", "a:b$c"])
        #expect(try candidates("read", "-g", "") == ["Colour"])
        #expect(try candidates("read", "--json", "-g", "C") == ["Colour"])
        #expect(try candidates("read", "--path", "x", "-g", "C") == ["Colour"])
        #expect(try candidates("read", "--js") == ["--json"])
        #expect(try candidates("read", "-gl") == ["-globalDomain"])
        #expect(try candidates("write", "-g", "Colour", "-arr") == ["-array", "-array-add"])
        #expect(try candidates("write", "-g", "Colour", "-bool", "t") == ["true"])
        #expect(try candidates("write", "-g", "Colour", "-array", "-s") == ["-string"])
        #expect(try candidates("backup", "res") == ["restore"])
        #expect(try candidates("backup", "restore", "lat") == ["latest"])
        #expect(try candidates("inspect", "--color", "") == ["auto", "always", "never"])
        #expect(try candidates("read", "--", "--js") == [])
    }

    @Test func `Where the name of a file comes, the shell is told so`() {
        #expect(desktop.tool("complete", "--", "apply", "-f", "").status == 10)
        #expect(desktop.tool("complete", "--", "apply", "-").status == 0)
    }

    @Test func `Without a service nothing is said, and no service of its own is run`() {
        var environment = desktop.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nonexistent"
        let result = desktop.run(
            [Desktop.programs + "/defaultsctl", "complete", "--", "read", ""],
            environment: environment)
        #expect(result.status == 0 && result.output == "" && result.error == "")
    }

    /// A shell, what has it load the script, and how it writes a key with a blank in it.
    private static let shells = [
        (
            ["bash", "--norc", "--noprofile", "-i"],
            ". /usr/share/bash-completion/bash_completion; . '%@/defaultsctl.bash'",
            #"Two\ Words"#, #"a:b\$c"#
        ),
        (
            ["zsh", "-f", "-i"],
            "fpath=('%@' $fpath); autoload -Uz compinit; compinit -D -u", #"Two\ Words"#, #"a:b\$c"#
        ),
        (
            ["fish", "--no-config", "-i"], "source '%@/defaultsctl.fish'", #"Two\ Words"#,
            #"a:b\$c"#
        ),
    ]

    @Test(arguments: shells)
    func `A shell completes verbs, domains and keys, and quotes them`(
        shell: [String], load: String, blank: String, special: String
    ) throws {
        let scripts = Desktop.packageDirectory + "Sources/defaultsctl/Completion/Scripts"
        let typed = try desktop.python(
            Self.typist, load.replacing("%@", with: scripts), Desktop.programs,
            shell.joined(separator: " ")
        ).requireOutput()
        #expect(typed.contains("verb: defaultsctl rename\n"), "\(typed)")
        #expect(typed.contains("domain: defaultsctl read org.example.Game\n"), "\(typed)")
        #expect(typed.contains("blank: defaultsctl read org.example.Game \(blank)\n"), "\(typed)")
        #expect(
            typed.contains("special: defaultsctl read org.example.Game \(special)\n"), "\(typed)")
    }

    /// Types into a shell on a terminal of its own, presses the key that completes, and prints what
    /// the line is then.
    ///
    /// Another key shows the line as the shell has it.
    private static let typist = """
        import os, pty, re, select, sys, time
        load, programs, shell = sys.argv[1], sys.argv[2], sys.argv[3].split()
        environment = dict(os.environ, TERM="dumb", PATH=programs + ":" + os.environ["PATH"])
        process, terminal = pty.fork()
        if process == 0:
            os.execvpe(shell[0], shell, environment)
        seen = b""
        def wait(what):
            global seen
            while not re.search(what, seen):
                ready, _, _ = select.select([terminal], [], [], 60)
                if not ready:
                    sys.exit(f"waited for {what}, and came: {seen}")
                try:
                    part = os.read(terminal, 65536)
                except OSError:
                    part = b""
                if not part:
                    sys.exit(f"waited for {what}, and the shell ended: {seen}")
                # What fish asks of a terminal.
                if b"\\x1b[c" in part or b"\\x1b[0c" in part:
                    os.write(terminal, b"\\x1b[?1;2c")
                seen += part
        def send(text):
            global seen
            seen = b""
            os.write(terminal, text.encode())
        show = {
            "bash": "show() { printf 'LINE<%s>' \\"$READLINE_LINE\\"; }; bind -x '\\"\\\\C-o\\":show'",
            "zsh": "show() { printf 'LINE<%s>' \\"$BUFFER\\"; }; zle -N show; bindkey '^O' show",
            "fish": "function show; printf 'LINE<%s>' (commandline); end; bind \\\\co show",
        }[shell[0]]
        send(f"{load}; {show}; echo LOA''DED\\n")
        wait(b"LOADED\\\\r?\\\\n")
        for name, typed in [("verb", "defaultsctl rena"), ("domain", "defaultsctl read org.ex"),
                            ("blank", "defaultsctl read org.example.Game Two"),
                            ("special", "defaultsctl read org.example.Game a:")]:
            # The key that empties the line comes first.
            send("\\x15" + typed + "\\t\\x0f")
            wait(b"LINE<.*>")
            line = re.search(b"LINE<(.*)>", seen, re.DOTALL)[1].decode()
            print(f"{name}: {line.strip()}")
        os.kill(process, 9)
        """
}
