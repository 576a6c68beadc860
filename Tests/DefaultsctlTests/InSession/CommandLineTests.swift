import Foundation
import TestSupport
import Testing

@testable import ToolHarness
@testable import defaultsctl

/// The command lines of macOS's `defaults`, in a session that has some applications.
@Suite(.inSession) struct CommandLineTests {
    private let session = TestSession.current

    init() throws {
        let home = session.directory.path
        session.environment["XDG_DATA_HOME"] = home + "/share"
        for (name, lines) in [
            ("share/org.example.Painter", "Name=My Painter\nName[de]=Malerin"),
            ("share/sub/nested", "Name = Nested One"), ("share/one", "Name=Twins"),
            ("system/two", "Name=twins"), ("system/org.example.Painter", "Name=Shadowed"),
            ("system/gone", "Name=Nothing\nHidden=true"),
        ] {
            let (folder, file) = (name.prefix { $0 != "/" }, name.drop { $0 != "/" })
            let path = URL(filePath: "\(home)/\(folder)/applications\(file).desktop")
            try FileManager.default.createDirectory(
                at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
            try "[Desktop Entry]\n\(lines)\n[Desktop Action x]\nName=Twins\n".write(
                to: path, atomically: true, encoding: .utf8)
        }
    }

    /// The words of a line as a shell makes them.
    private func words(_ line: String) throws -> [String] {
        let home = session.directory.path + "/"
        let line = line.replacing(/(^| )~\//) { "\($0.1)\(home)" }
        var bytes = Array(line.utf8)[...]
        return try ShellWords.popCommand(of: &bytes)
    }

    @discardableResult
    private func run(
        _ line: String, as program: String = "defaultsctl", input: String = ""
    ) async throws -> ProgramResult {
        await session.tool(try words(line), named: program, input: input)
    }

    /// Writes the value of a row, and expects that its type and the value are read back.
    ///
    /// - Returns: What the first command has said.
    private func store(_ row: [String]) async throws -> String {
        try #require(row.count == 4, "\(row)")
        let written = try await run("write \(row[0]) \(row[1])", as: "defaults")
        #expect(written.status == 0 && written.output == "", "\(row): \(written.error)")
        for (line, expected) in [
            ("read-type \(row[0])", "Type is \(row[2])\n"),
            (
                "read --json \(row[0])",
                row[3].replacing("@HOME@", with: session.directory.path) + "\n"
            ),
        ] {
            let read = try await run(line, as: "defaults")
            #expect(read.output == expected, "\(row)")
            #expect(read.error == "", "\(row)")
        }
        return written.error
    }

    @Test(arguments: [WrittenLines.scalars, WrittenLines.bare, WrittenLines.composites])
    func `A written value is read back by its type`(table: String) async throws {
        for row in LineTable.rows(table) where !LineTable.needsShell(row) {
            #expect(try await store(row) == "", "\(row)")
        }
    }

    @Test func `A word that is not a number is treated as on macOS, with a remark`() async throws {
        for row in LineTable.rows(WrittenLines.taken) {
            let error = try await store(row)
            #expect(error.hasPrefix("defaultsctl: "), "\(row)")
            #expect(error.contains("Like on macOS, "), "\(row)")
        }
    }

    @Test func `A line that is refused says so, and changes nothing`() async throws {
        try await run("write com.example.there k -int 1")
        try await run(#"write com.example.there object --json '{"$class":"Account"}'"#)
        let before = try await session.generation()
        for row in LineTable.rows(RefusedLines.table) where !LineTable.needsShell(row) {
            try #require(row.count == 3, "\(row)")
            let answer = try await run(row[0])
            #expect(answer.status == Int32(row[1]), "\(row): \(answer.error)")
            #expect(answer.output == "", "\(row)")
            #expect(answer.error.hasPrefix("defaultsctl: "), "\(row)")
            #expect(answer.error.contains(row[2]), "\(row): \(answer.error)")
            // In a log, the usage would hide the sentence.
            #expect(answer.error.split(separator: "\n").count == 1, "\(row): \(answer.error)")
        }
        #expect(try await session.generation() == before)
    }

    @Test(arguments: [
        ("rename com.example.there", "usage: defaultsctl rename <domain> <old-key> <new-key>"),
        ("write", "usage: defaultsctl write [--path <path>] <domain> <key> <value>"),
        ("-currentHost read a b c", "usage: defaultsctl read [<domain>] [<key>]"),
        ("backup restore", "usage: defaultsctl backup restore <backup>"),
        ("remove", "usage: defaultsctl delete <domain> [<key>]"),
        ("find", "usage: defaultsctl find <word>"),
    ])
    func `On a terminal, a wrong line gets the usage of its verb`(
        line: String, usage: String
    ) async throws {
        let answer = await session.onTerminal(try words(line))
        let lines = answer.text.split(separator: "\n")
        #expect(answer.status == 64 && lines.count > 1, "\(answer)")
        #expect(lines.dropFirst().first?.hasPrefix(usage) == true, "\(answer)")
        #expect(
            lines.dropFirst(2).allSatisfy { $0.hasPrefix("       defaultsctl ") }, "\(answer)")
        let wrongVerb = await session.onTerminal(["raed"])
        #expect(wrongVerb.text.split(separator: "\n").count == 1, "\(wrongVerb)")
    }

    @Test func `A type that a word without a type replaces is said once`() async throws {
        try await run("write a.b k -bool true", as: "defaults")
        try await run("write a.b m -dict n -int 1", as: "defaults")
        let words = try await run("write a.b k true")
        #expect(words.error.contains("The word is stored as a string"), "\(words)")
        #expect(words.error.contains("'k' had the type boolean"), "\(words)")
        #expect(words.error.contains("give -bool and true or false"), "\(words)")
        #expect(words.error.split(separator: "\n").count == 1)
        #expect(try await run("write a.b k false").error == "")
        let part = try await run("apply", input: "write a.b m --path n 2")
        #expect(part.status == 0 && part.error.contains("had the type integer"), "\(part)")
        #expect(try await run("write a.b k -bool true").error == "")
    }

    @Test func `A dictionary that replaces a whole domain says how many keys it has cost`()
        async throws
    {
        #expect(try await run("write a.b '{ a = 1; b = 2; c = 3; }'").error == "")
        let replaced = try await run("write a.b '{ a = 2; }'")
        #expect(
            replaced.error.hasSuffix("the whole domain a.b: 1 key was replaced, and 2 removed.\n"),
            "\(replaced)")
        #expect(try await run("write a.b '{ d = 2; }'", as: "defaults").error == "")
        #expect(try await run("read a.b").output == "{\n    d = 2;\n}\n")
    }

    @Test func `rename keeps a value under the new name, and replaces it on demand`() async throws {
        try await run("write a.b a -int 1", as: "defaults")
        try await run("write a.b b -int 2", as: "defaults")
        let refused = try await run("rename a.b a b")
        #expect(refused.status == 1 && refused.error.contains("give --replace"), "\(refused)")
        #expect(try await run("read a.b --json").output == #"{"a":1,"b":2}"# + "\n")
        #expect(try await run("rename a.b a b --replace").status == 0)
        #expect(try await run("read a.b --json").output == #"{"b":1}"# + "\n")
    }

    @Test func `The file of an export has the form of its name`() async throws {
        try await run("write a.b k -int 1", as: "defaults")
        let home = session.directory.path
        try await run("export a.b \(home)/x.json")
        try await run("export a.b \(home)/y.json", as: "defaults")
        #expect(
            try String(contentsOfFile: "\(home)/x.json", encoding: .utf8) == "{\n  \"k\": 1\n}\n")
        let binary = try Data(contentsOf: URL(filePath: "\(home)/y.json"))
        #expect(binary.starts(with: Array("bplist00".utf8)))
        let empty = try await run("export a.c -")
        #expect(empty.status == 0 && empty.error.contains("a.c has no keys"), "\(empty)")
        #expect(empty.output.contains("<dict/>"))
    }
}
