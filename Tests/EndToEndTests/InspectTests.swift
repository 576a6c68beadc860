import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// `defaultsctl inspect`, which shows archives; files without a bus.
@Suite(.startsPrograms) struct InspectTests {
    static let tool = Desktop.programs + "/defaultsctl"

    /// No bus, and nothing that depends on the terminal in which the tests run.
    static let environment = [
        "PATH": "/usr/bin:/bin", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus",
        "LC_ALL": "C.UTF-8", "TERM": "xterm",
    ]

    static func inspect(_ arguments: String...) -> ProgramResult {
        ProgramResult.run([tool, "inspect"] + arguments, environment: environment)
    }

    static func shell(_ script: String, _ arguments: String...) -> ProgramResult {
        ProgramResult.run(
            ["/bin/sh", "-c", script, tool] + arguments, environment: environment)
    }

    static func python(_ program: String, _ arguments: String...) -> ProgramResult {
        ProgramResult.run(
            ["/usr/bin/python3", "-c", program] + arguments, environment: environment)
    }

    /// What a refusal looks like: exit status 1, nothing shown, one sentence.
    static func expectRefusal(_ answer: ProgramResult, _ pattern: some RegexComponent) {
        #expect(answer.status == 1)
        #expect(answer.output == "")
        #expect(answer.error.hasPrefix("defaultsctl: "))
        #expect(answer.complaint.split(separator: "\n").count == 1, "\(answer.error)")
        #expect(answer.error.contains(pattern), "\(answer.error)")
    }
}

// MARK: Files

extension InspectTests {
    /// Compares with integers, reals and booleans kept apart.
    static let isSameJSON = """
        import json, struct, sys
        def canonical(v):
            if isinstance(v, dict): return {k: canonical(x) for k, x in v.items()}
            if isinstance(v, list): return [canonical(x) for x in v]
            if isinstance(v, float): return "real " + struct.pack(">d", v).hex()
            return v if isinstance(v, str) else repr(v)
        one, *others = [canonical(json.load(open(p))) for p in sys.argv[1:]]
        sys.exit(any(one != other for other in others))
        """

    @Test(arguments: Fixtures.keyed)
    func `Each real archive has the expected value form, in each spelling`(
        fixture: Fixtures.Fixture
    ) throws {
        let directory = try TemporaryDirectory()
        let spellings = [
            #""$0" inspect --json "$1""#, #""$0" inspect --json --pretty "$1""#,
            #""$0" inspect --json - < "$1""#,
            #""$0" inspect --binary "$1" | "$0" inspect --json -"#,
            #""$0" inspect --xml "$1" | "$0" inspect --json -"#,
        ]
        let outputs = spellings.indices.map { directory.path + "/json-\($0)" }
        for (spelling, output) in zip(spellings, outputs) {
            let answer = Self.shell("(\(spelling)) > \"$2\"", fixture.path, output)
            // Reals of 32 bits are the same numbers in XML, so the value form stays.
            #expect(answer.status == 0 && answer.error == "", "\(spelling) \(answer.error)")
        }
        let expected = fixture.expected.path(percentEncoded: false)
        let compared = ProgramResult.run(
            ["/usr/bin/python3", "-c", Self.isSameJSON, expected] + outputs,
            environment: Self.environment)
        #expect(compared.status == 0, "\(spellings)")
    }

    @Test(arguments: Fixtures.keyed)
    func `Each real archive is shown in every form`(fixture: Fixtures.Fixture) {
        for options in ["--tree", "--raw", "--classes", "--tree --nested", "--json --nested"] {
            let answer = Self.shell("\"$0\" inspect \(options) \"$1\"", fixture.path)
            #expect(answer.status == 0 && answer.error == "" && answer.output.count > 5)
            #expect(!answer.output.contains("\u{1B}"))
        }
    }

    @Test(arguments: Fixtures.keyed)
    func `Each real archive in XML has what Python reads in it`(fixture: Fixtures.Fixture) throws {
        let directory = try TemporaryDirectory()
        let (xml, binary) = (directory.path + "/xml", directory.path + "/binary")
        try #require(Self.shell(#""$0" inspect --xml "$1" > "$2""#, fixture.path, xml).status == 0)
        try #require(Self.shell(#""$0" inspect --binary "$1" > "$2""#, xml, binary).status == 0)
        let answer = Self.python(
            """
            import plistlib, sys
            def plain(v):
                if isinstance(v, plistlib.UID): return {"CF$UID": v.data}
                if isinstance(v, dict): return {k: plain(x) for k, x in v.items()}
                return [plain(x) for x in v] if isinstance(v, list) else v
            lists = [plain(plistlib.load(open(p, "rb"))) for p in sys.argv[1:]]
            sys.exit(not lists[0] == lists[1] == lists[2])
            """, fixture.path, xml, binary)
        #expect(answer.status == 0, "\(answer.error)")
    }

    @Test(arguments: Fixtures.malformed)
    func `Malformed input is refused with the place of the fault`(fixture: Fixtures.Fixture) {
        let answer = Self.inspect(fixture.path)
        let place =
            fixture.name.hasSuffix(".xml") ? /\(line \d+, column \d+, byte \d+\)/ : /\(byte \d+\)/
        Self.expectRefusal(answer, place)
    }

    @Test(arguments: Fixtures.notKeyed)
    func `Another property list is reported as not a keyed archive`(fixture: Fixtures.Fixture) {
        Self.expectRefusal(
            Self.inspect(fixture.path),
            /This property list is not a keyed archive: .+[( ]byte \d+\)/)
    }

    @Test func `A file that cannot be read is refused with the reason`() throws {
        let directory = try TemporaryDirectory()
        Self.expectRefusal(Self.inspect(directory.path), /Is a directory/)
        Self.expectRefusal(
            Self.inspect(directory.path + "/a\u{1B}\nb"), /a\\u\{1b\}\\u\{a\}b: .*No such file/)
        Self.expectRefusal(Self.inspect("/dev/zero"), /more than 16777216 bytes/)
        Self.expectRefusal(
            Self.shell(#""$0" inspect - < /dev/zero"#), /standard input: .*more than/)
        Self.expectRefusal(Self.inspect("-"), /standard input: The input is empty/)
        Self.expectRefusal(
            Self.inspect(try directory.write("bplist00", to: "short")), /\(byte 8\)/)
        let archive = try Self.archive(#"["$null", "a"]"#, in: directory)
        Self.expectRefusal(
            Self.shell(#""$0" inspect --binary "$1" > /dev/full"#, archive), /No space left/)
    }

    @Test(arguments: [
        [], ["--json", "--raw", "x"], ["--raw", "--nested", "x"], ["--tree", "--pretty", "x"],
        ["--color", "blue", "x"], ["a", "b", "c"],
    ])
    func `A wrong command line exits with 64`(arguments: [String]) {
        let answer = ProgramResult.run(
            [Self.tool, "inspect"] + arguments, environment: Self.environment)
        #expect(answer.status == 64)
        #expect(answer.complaint.split(separator: "\n").count == 1, "\(answer.error)")
    }

    /// Writes an archive that Python makes; its root is object 1.
    static func archive(_ objects: String, in directory: TemporaryDirectory) throws -> String {
        let path = directory.path + "/archive"
        _ = try python(
            """
            import plistlib, sys
            from plistlib import UID
            archive = {"$version": 100000, "$archiver": "NSKeyedArchiver",
                       "$top": {"root": UID(1)}, "$objects": \(objects)}
            plistlib.dump(archive, open(sys.argv[1], "wb"), fmt=plistlib.FMT_BINARY)
            """, path
        ).requireOutput()
        return path
    }
}

// MARK: XML

extension InspectTests {
    @Test func `An invalid archive in XML is refused at its line`() throws {
        let directory = try TemporaryDirectory()
        func document(_ object: String) -> String {
            """
            <plist version="1.0"><dict><key>$version</key><integer>100000</integer>
            <key>$archiver</key><string>NSKeyedArchiver</string>
            <key>$top</key><dict><key>root</key>
            \t<dict><key>CF$UID</key><integer>1</integer></dict></dict>
            <key>$objects</key><array><string>$null</string>
            \(object)
            </array></dict></plist>
            """
        }
        for (object, pattern) in [
            (" é<dict/>", /There is text between.*line 6, column 1,/),
            ("<true/><dict><key>a</key><true/></dict>", /no \$class.*line 6, column 8, byte 2/),
            ("<dict><key>CF$UID</key><integer>1</integer></dict>", /\(line 4, column 2,/),
        ] {
            let file = try directory.write(document(object), to: "xml")
            Self.expectRefusal(Self.inspect(file), pattern)
        }
        let file = try directory.write(document("<string>é</string>"), to: "xml")
        #expect(Self.inspect("--json", file).output == "\"é\"\n")
    }

    @Test func `XML that is made to grow is refused`() throws {
        let directory = try TemporaryDirectory()
        let entities = (1..<20).map { "<!ENTITY e\($0) \"&e\($0 - 1);&e\($0 - 1);\">" }.joined()
        let text =
            "<!DOCTYPE plist [<!ENTITY e0 \"ha\">\(entities)]>"
            + "<plist><string>&e19;</string></plist>"
        Self.expectRefusal(
            Self.inspect(try directory.write(text, to: "xml")), /declares an entity.*line 1/)
        let deep = "<plist>" + String(repeating: "<array>", count: 100_000)
        Self.expectRefusal(Self.inspect(try directory.write(deep, to: "xml")), /deeper than 512/)
    }

    @Test func `A value that XML cannot represent is refused with its place`() throws {
        let directory = try TemporaryDirectory()
        let file = try Self.archive(#"["$null", "\x1b"]"#, in: directory)
        Self.expectRefusal(Self.inspect("--xml", file), /XML cannot hold this.*\(byte \d+\)/)
    }
}

// MARK: Terminals

extension InspectTests {
    /// Runs the tool on a terminal of its own, and gives what it writes there as Python's `ascii`.
    static func inspectOnTerminal(_ variables: String, _ arguments: String...) throws -> String {
        let program = """
            import os, pty, sys
            child, terminal = pty.fork()
            if child == 0:
                os.execvp("env", ["env"] + sys.argv[1].split() + sys.argv[2:])
            output = b""
            while True:
                # At the end of the child, reading fails on Linux.
                try: part = os.read(terminal, 65536)
                except OSError: break
                if not part: break
                output += part
            os.waitpid(child, 0)
            print(ascii(output.decode().replace("\\r\\n", "\\n")))
            """
        return try ProgramResult.run(
            ["/usr/bin/python3", "-c", program, variables, tool, "inspect"] + arguments,
            environment: environment
        ).requireOutput()
    }

    @Test func `A terminal gets colours and lines, unless an option disables them`() throws {
        let directory = try TemporaryDirectory()
        let file = try Self.archive(#"["$null", [True, "é"]]"#, in: directory)
        let colored = try Self.inspectOnTerminal("TERM=xterm", file)
        #expect(colored.contains(#"\x1b[36mtrue\x1b[0m"#))
        #expect(colored.contains(#"\u251c\u2500 "#))
        for variables in ["NO_COLOR=1", "TERM=dumb", "-u TERM"] {
            let plain = try Self.inspectOnTerminal(variables, file)
            #expect(!plain.contains(#"\x1b"#) && plain.contains(#"\u251c\u2500 0: true"#))
        }
        #expect(try Self.inspectOnTerminal("NO_COLOR=", file).contains(#"\x1b"#))
        #expect(
            try !Self.inspectOnTerminal("TERM=xterm", "--color", "never", file).contains(#"\x1b"#))
        let ascii = try Self.inspectOnTerminal("LC_ALL=C TERM=dumb", file)
        #expect(ascii.contains(#"|- 0: true"#) && ascii.contains(#"1: "\\u{e9}""#))

        let piped = Self.inspect(file).output
        #expect(piped.contains("   |- 0: true\n   `- 1: \"é\"\n") && !piped.contains("\u{1B}"))
        #expect(Self.inspect("--color", "always", file).output.contains("\u{1B}[36mtrue\u{1B}[0m"))
    }

    @Test func `Escapes in an archive never reach the terminal`() throws {
        let directory = try TemporaryDirectory()
        let hostile = #""\x1b]0;x\x07\x9b2J\u202e\x00""#
        let file = try Self.archive(
            """
            ["$null", {"$class": UID(2), \(hostile): \(hostile)},
             {"$classname": \(hostile), "$classes": [\(hostile)]}]
            """, in: directory)
        for form in ["--tree", "--raw", "--classes"] {
            let output = try Self.inspectOnTerminal("TERM=dumb", form, file)
            for escape in [#"\x1b"#, #"\x07"#, #"\x9b"#, #"\u202e"#, #"\x00"#] {
                // What is visible is Swift's spelling, with braces, its backslash doubled by ascii().
                #expect(!output.contains(escape), "\(form) \(output)")
            }
            #expect(output.contains(#"\\u{1b}]0;x\\u{7}\\u{9b}2J\\u{202e}\\u{0}"#))
        }
    }

    @Test func `A terminal gets no binary`() throws {
        let directory = try TemporaryDirectory()
        let file = try Self.archive(#"["$null", 1]"#, in: directory)
        let output = try Self.inspectOnTerminal("TERM=xterm", "--binary", file)
        #expect(output.contains("not for a terminal") && !output.contains("bplist00"))
        #expect(output.filter { $0 == "\n" }.count == 1)
    }
}

// MARK: The database

extension InspectTests {
    @Test func `A value of the database is inspected by its domain and key`() throws {
        let desktop = try Desktop()
        let json = #"{"$class":"Account","friend":{"$class":"Account","name":"bob"},"name":"ada"}"#
        try #require(
            desktop.tool("write", "org.example.App", "User", "--json", json).status == 0)
        #expect(desktop.tool("inspect", "--json", "org.example.App", "User").output == json + "\n")
        let tree = desktop.tool("inspect", "org.example.App", "User").output
        #expect(tree.contains("`- root: Account\n   |- friend: Account\n   |  `- name: \"bob\"\n"))
        #expect(
            desktop.tool("inspect", "--classes", "org.example.App", "User").output
                .contains("Account : NSObject, 2 objects"))
        let missing = desktop.tool("inspect", "org.example.App", "Nobody")
        Self.expectRefusal(missing, /Nobody/)
    }

    @Test func `Only the database needs the service`() throws {
        // Nor is there a place where a daemon of its own would keep one.
        let answer = ProgramResult.run(
            [Self.tool, "inspect", "org.example.App", "User"],
            environment: Self.environment.merging(["XDG_CONFIG_HOME": "/dev/null/config"]) { $1 })
        #expect(answer.status == 69 && answer.error.split(separator: "\n").count == 2)
    }
}
