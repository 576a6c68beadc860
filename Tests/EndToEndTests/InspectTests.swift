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

// MARK: The database

extension InspectTests {
    @Test func `Only the database needs the service`() throws {
        // Nor is there a place where a daemon of its own would keep one.
        let answer = ProgramResult.run(
            [Self.tool, "inspect", "org.example.App", "User"],
            environment: Self.environment.merging(["XDG_CONFIG_HOME": "/dev/null/config"]) { $1 })
        #expect(answer.status == 69 && answer.error.split(separator: "\n").count == 2)
    }
}
