import ArchiveTestSupport
import Foundation
import PropertyList
import TestSupport
import Testing

@testable import ToolHarness

/// `defaultsctl inspect`, which shows archives; files without a service.
@Suite struct InspectTests {
    static func inspect(_ words: String...) async -> ProgramResult {
        await ToolAlone.run(["inspect"] + words)
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
    @Test(arguments: Fixtures.keyed)
    func `Each real archive is shown in every form`(fixture: Fixtures.Fixture) async {
        for options in [
            ["--tree"], ["--raw"], ["--classes"], ["--tree", "--nested"], ["--json", "--nested"],
        ] {
            let answer = await ToolAlone.run(["inspect"] + options + [fixture.path])
            #expect(answer.status == 0 && answer.error == "" && answer.output.count > 5)
            #expect(!answer.output.contains("\u{1B}"))
        }
    }

    @Test(arguments: Fixtures.malformed)
    func `Malformed input is refused with the place of the fault`(fixture: Fixtures.Fixture) async {
        let answer = await Self.inspect(fixture.path)
        let place =
            fixture.name.hasSuffix(".xml") ? /\(line \d+, column \d+, byte \d+\)/ : /\(byte \d+\)/
        Self.expectRefusal(answer, place)
    }

    @Test(arguments: Fixtures.notKeyed)
    func `Another property list is reported as not a keyed archive`(fixture: Fixtures.Fixture) async
    {
        Self.expectRefusal(
            await Self.inspect(fixture.path),
            /This property list is not a keyed archive: .+[( ]byte \d+\)/)
    }

    @Test(arguments: [
        [], ["--json", "--raw", "x"], ["--raw", "--nested", "x"], ["--tree", "--pretty", "x"],
        ["--color", "blue", "x"], ["a", "b", "c"],
    ])
    func `A wrong command line exits with 64`(arguments: [String]) async {
        let answer = await ToolAlone.run(["inspect"] + arguments)
        #expect(answer.status == 64)
        #expect(answer.complaint.split(separator: "\n").count == 1, "\(answer.error)")
    }

    /// Writes an archive whose root is the first object.
    static func archive(_ objects: Tree..., in directory: TemporaryDirectory) throws -> String {
        let path = directory.path + "/archive"
        try Data(Tree(archive: objects).bytes()).write(to: URL(filePath: path))
        return path
    }
}

// MARK: XML

extension InspectTests {
    @Test func `An invalid archive in XML is refused at its line`() async throws {
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
            Self.expectRefusal(await Self.inspect(file), pattern)
        }
        let file = try directory.write(document("<string>é</string>"), to: "xml")
        #expect(await Self.inspect("--json", file).output == "\"é\"\n")
    }

    @Test func `XML that is made to grow is refused`() async throws {
        let directory = try TemporaryDirectory()
        let entities = (1..<20).map { "<!ENTITY e\($0) \"&e\($0 - 1);&e\($0 - 1);\">" }.joined()
        let text =
            "<!DOCTYPE plist [<!ENTITY e0 \"ha\">\(entities)]>"
            + "<plist><string>&e19;</string></plist>"
        Self.expectRefusal(
            await Self.inspect(try directory.write(text, to: "xml")), /declares an entity.*line 1/)
        let deep = "<plist>" + String(repeating: "<array>", count: 100_000)
        Self.expectRefusal(
            await Self.inspect(try directory.write(deep, to: "xml")), /deeper than 512/)
    }

    @Test func `A value that XML cannot represent is refused with its place`() async throws {
        let directory = try TemporaryDirectory()
        let file = try Self.archive("\u{1B}", in: directory)
        Self.expectRefusal(await Self.inspect("--xml", file), /XML cannot hold this.*\(byte \d+\)/)
    }
}

// MARK: Terminals

extension InspectTests {
    /// What the tool shows on a terminal.
    static func inspectOnTerminal(
        _ variables: [String: String], _ words: String...
    ) async -> String {
        let variables = ["LC_ALL": "C.UTF-8"].merging(variables) { $1 }
        return await ToolAlone.onTerminal(["inspect"] + words, variables: variables)
    }

    @Test func `A terminal gets colours and lines, unless an option disables them`() async throws {
        let directory = try TemporaryDirectory()
        let file = try Self.archive([true, "é"], in: directory)
        let colored = await Self.inspectOnTerminal(["TERM": "xterm"], file)
        #expect(colored.contains("\u{1B}[36mtrue\u{1B}[0m"))
        #expect(colored.contains("├─ "))
        for variables in [["TERM": "xterm", "NO_COLOR": "1"], ["TERM": "dumb"], [:]] {
            let plain = await Self.inspectOnTerminal(variables, file)
            #expect(!plain.contains("\u{1B}") && plain.contains("├─ 0: true"))
        }
        let empty = await Self.inspectOnTerminal(["TERM": "xterm", "NO_COLOR": ""], file)
        #expect(empty.contains("\u{1B}"))
        let never = await Self.inspectOnTerminal(["TERM": "xterm"], "--color", "never", file)
        #expect(!never.contains("\u{1B}"))
        let ascii = await Self.inspectOnTerminal(["LC_ALL": "C", "TERM": "dumb"], file)
        #expect(ascii.contains("|- 0: true") && ascii.contains(#"1: "\u{e9}""#))

        let piped = await Self.inspect(file).output
        #expect(piped.contains("   |- 0: true\n   `- 1: \"é\"\n") && !piped.contains("\u{1B}"))
        #expect(
            await Self.inspect("--color", "always", file).output.contains("\u{1B}[36mtrue\u{1B}[0m")
        )
    }

    @Test func `Escapes in an archive never reach the terminal`() async throws {
        let directory = try TemporaryDirectory()
        let hostile: Text = "\u{1B}]0;x\u{7}\u{9B}2J\u{202E}\0"
        let file = try Self.archive(
            .dictionary([("$class", .uid(2)), (hostile, .text(hostile))]),
            ["$classname": .text(hostile), "$classes": [.text(hostile)]], in: directory)
        for form in ["--tree", "--raw", "--classes"] {
            let output = await Self.inspectOnTerminal(["TERM": "dumb"], form, file)
            for escape in ["\u{1B}", "\u{7}", "\u{9B}", "\u{202E}", "\0"] {
                #expect(!output.contains(escape), "\(form) \(output)")
            }
            #expect(output.contains(#"\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\u{0}"#))
        }
    }

    @Test func `A terminal gets no binary`() async throws {
        let directory = try TemporaryDirectory()
        let file = try Self.archive(1, in: directory)
        let output = await Self.inspectOnTerminal(["TERM": "xterm"], "--binary", file)
        #expect(output.contains("not for a terminal") && !output.contains("bplist00"))
    }
}

// MARK: The database

@Suite(.inSession) struct InspectedValueTests {
    private let session = TestSession.current

    @Test func `A value of the database is inspected by its domain and key`() async throws {
        let json = #"{"$class":"Account","friend":{"$class":"Account","name":"bob"},"name":"ada"}"#
        try #require(
            await session.tool("write", "org.example.App", "User", "--json", json).status == 0)
        #expect(
            await session.tool("inspect", "--json", "org.example.App", "User").output == json + "\n"
        )
        let tree = await session.tool("inspect", "org.example.App", "User").output
        #expect(tree.contains("`- root: Account\n   |- friend: Account\n   |  `- name: \"bob\"\n"))
        #expect(
            await session.tool("inspect", "--classes", "org.example.App", "User").output
                .contains("Account : NSObject, 2 objects"))
        let missing = await session.tool("inspect", "org.example.App", "Nobody")
        InspectTests.expectRefusal(missing, /Nobody/)
    }
}
