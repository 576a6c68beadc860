import Foundation
import TestSupport
import TestTiers
import Testing

/// What a key completes, asked of the program and in real shells on a terminal.
@Suite(.startsPrograms) struct CompletionTests {
    private let desktop: Desktop
    /// The environment of programs that find the schema below.
    private let environment: [String: String]

    private static let schema = """
        <schemalist>
          <enum id="org.example.Mode"><value nick="loud" value="0"/><value nick="quiet" value="1"/></enum>
          <schema id="org.example.Radio" path="/org/example/Radio/">
            <key name="mode" enum="org.example.Mode"><default>'loud'</default>
              <summary>Mode: the way it sounds</summary></key>
            <key name="muted" type="b"><default>false</default><summary>It's $silent</summary></key>
          </schema>
        </schemalist>
        """

    init() throws {
        desktop = try Desktop()
        for words in [
            ["org.example.Game", "Level", "-int", "1"],
            ["org.example.Game", "Two Words", "-int", "2"],
            ["org.example.Game", "a:b$c", "-int", "3"],
            ["NSGlobalDomain", "Colour", "-string", "red"],
            ["com.example.Odd", "$(touch pwn)`x`", "-int", "1"],
            ["com.example.Odd", "back\\slash", "-int", "1"],
            ["com.example.Odd", "a:b=c", "-int", "1"],
            ["com.example.Odd", "esc\u{1B}[1m", "-int", "1"],
            ["com.example.Odd", "it's\"q", "-int", "1"],
            ["com.example.Odd", "bang!x", "-int", "1"],
        ] {
            _ = try desktop.tool(["write"] + words).requireOutput()
        }
        try desktop.write(#"{"Key": 1}"#, to: "com.example.Odd.json", in: .managed)
        try desktop.awaitKeys(in: "com.example.Odd@managed", "Key")
        let schemas = try desktop.directory.write(Self.schema, to: "radio.gschema.xml")
        try ProgramResult.run(["glib-compile-schemas", desktop.directory.path]).requireOutput()
        environment = desktop.environment.merging([
            "GSETTINGS_SCHEMA_DIR": (schemas as NSString).deletingLastPathComponent
        ]) { $1 }
    }

    @Test func `The name defaults is completed, too`() throws {
        let scripts = Desktop.packageDirectory + "Sources/defaultsctl/Completion/Scripts"
        let bash = try desktop.run(
            "bash", "-c", ". \(scripts)/defaultsctl.bash; complete -p defaults"
        ).requireOutput()
        #expect(bash == "complete -F _defaultsctl defaults\n")
        let fish = try desktop.run(
            "env", "PATH=\(Desktop.programs):/usr/bin:/bin", "fish", "--no-config", "-c",
            "source \(scripts)/defaultsctl.fish; complete --do-complete 'defaults rena'"
        ).requireOutput()
        #expect(fish.hasPrefix("rename"), "\(fish)")
        let zsh = try desktop.run(
            "zsh", "-f", "-c",
            "fpath=('\(scripts)' $fpath); autoload -Uz compinit; compinit -D -u; print $_comps[defaults]"
        ).requireOutput()
        #expect(zsh == "_defaultsctl\n")
    }

    @Test func `A shell shows what a schema says of a key`() throws {
        let scripts = Desktop.packageDirectory + "Sources/defaultsctl/Completion/Scripts"
        let fish = try desktop.run(
            [
                "env", "PATH=\(Desktop.programs):/usr/bin:/bin", "fish", "--no-config", "-c",
                "source \(scripts)/defaultsctl.fish; "
                    + "complete --do-complete 'defaultsctl write org.example.Radio m'",
            ], environment: environment
        ).requireOutput()
        #expect(fish == "mode\tMode: the way it sounds\nmuted\tIt's $silent\n")
    }

    @Test
    func `Without a service there are no candidates, and no private daemon is started`() throws {
        try desktop.stopDaemon()
        var environment = desktop.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nonexistent"
        let result = desktop.run(
            [Desktop.programs + "/defaultsctl", "complete", "--", "read", ""],
            environment: environment)
        #expect(result.status == 0 && result.output == "" && result.error == "")
    }

    /// A shell on a terminal that loads the script, and what it makes of typed text.
    struct Shell: CustomTestStringConvertible {
        let command: String
        let load: String
        /// The text typed after `defaultsctl`, and the line after the completion key.
        let lines: [(typed: String, completed: String)]

        var testDescription: String { "\(command), \(load)" }
    }

    private static let everywhere = [
        ("rena", "rename"), ("read com.example.Odd@", "read com.example.Odd@managed"),
        ("read org.ex", "read org.example.Game"),
        ("read org.example.Game Two", #"read org.example.Game Two\ Words"#),
        ("read org.example.Game \"Two", #"read org.example.Game "Two Words""#),
        ("read org.example.Game T'wo W", #"read org.example.Game T'wo Words'"#),
        ("read org.example.Game a:", #"read org.example.Game a:b\$c"#),
        ("read com.example.Odd a:b=", "read com.example.Odd a:b=c"),
        ("read com.example.Odd a", "read com.example.Odd a:b=c"),
        ("read com.example.Odd back", #"read com.example.Odd back\\slash"#),
        ("read com.example.Odd \"back", #"read com.example.Odd "back\\slash""#),
        ("read com.example.Odd it", #"read com.example.Odd it\'s\"q"#),
        ("read com.example.Odd \"it", #"read com.example.Odd "it's\"q""#),
        ("read com.example.Odd '$", "read com.example.Odd '$(touch pwn)`x`'"),
        ("write org.example.Radio mo", "write org.example.Radio mode"),
        ("write org.example.Radio mode qu", "write org.example.Radio mode quiet"),
        ("write org.example.Radio muted tr", "write org.example.Radio muted true"),
    ]

    private static let bash =
        everywhere + [
            ("read com.example.Odd 'it", #"read com.example.Odd 'it'\''s"q'"#),
            ("read com.example.Odd \"$", #"read com.example.Odd "\$(touch pwn)\`x\`""#),
            ("read com.example.Odd \"bang", #"read com.example.Odd "bang"'!'"x""#),
            ("read com.example.Odd esc", #"read com.example.Odd esc$'\E'\[1m"#),
            ("read com.example.Odd \"esc", #"read com.example.Odd "esc"$'\E'"[1m""#),
        ]

    static let shells = [
        Shell(
            command: "bash --norc --noprofile -i", load: ". '%@/defaultsctl.bash'", lines: bash),
        Shell(
            command: "bash --norc --noprofile -i",
            load: ". /usr/share/bash-completion/bash_completion; . '%@/defaultsctl.bash'",
            lines: bash),
        Shell(
            command: "zsh -f -i",
            load: "fpath=('%@' $fpath); autoload -Uz compinit; compinit -D -u",
            lines: everywhere.filter { !$0.0.contains("T'wo") } + [
                ("read com.example.Odd 'it", #"read com.example.Odd 'it'\''s"q'"#),
                ("read com.example.Odd esc", #"read com.example.Odd esc$'\033'\[1m"#),
            ]),
        Shell(
            command: "fish --no-config -i", load: "source '%@/defaultsctl.fish'",
            lines: everywhere + [
                ("read com.example.Odd 'it", #"read com.example.Odd 'it\'s"q'"#),
                ("read com.example.Odd esc", #"read com.example.Odd esc\e\[1m"#),
            ]),
    ]

    @Test(arguments: shells)
    func `A shell completes verbs, domains and keys, and quotes them`(shell: Shell) throws {
        let scripts = Desktop.packageDirectory + "Sources/defaultsctl/Completion/Scripts"
        let typed = try desktop.run(
            [
                "/usr/bin/python3", "-c", Self.typist, shell.load.replacing("%@", with: scripts),
                Desktop.programs, shell.command,
            ] + shell.lines.map(\.typed), environment: environment
        ).requireOutput().split(separator: "\n").map(String.init)
        for (line, expected) in zip(typed, shell.lines) {
            #expect(line == "defaultsctl " + expected.completed, "\(expected.typed)")
        }
        #expect(typed.count == shell.lines.count)
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
                ready, _, _ = select.select([terminal], [], [], 1800)
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
            "bash": "show() { printf 'LINE<%s>ENIL' \\"$READLINE_LINE\\"; }; bind -x '\\"\\\\C-o\\":show'",
            "zsh": "show() { printf 'LINE<%s>ENIL' \\"$BUFFER\\"; }; zle -N show; bindkey '^O' show",
            "fish": "function show; printf 'LINE<%s>ENIL' (commandline); end; bind \\\\co show",
        }[shell[0]]
        send(f"{load}; {show}; echo LOA''DED\\n")
        wait(b"LOADED\\\\r?\\\\n")
        for typed in sys.argv[4:]:
            # The key that empties the line comes first.
            send("\\x15defaultsctl " + typed + "\\t\\x0f")
            wait(b"LINE<.*>ENIL")
            print(re.search(b"LINE<(.*?)>ENIL", seen, re.DOTALL)[1].decode().strip())
        os.kill(process, 9)
        """
}
