import Foundation
import Glibc
import TestSupport
import Testing

@testable import ToolHarness

/// `defaultsctl lint`, which needs neither a bus nor a service.
@Suite struct LintTests {
    private let directory: TemporaryDirectory
    private static let places = ["managed", "recommended", "vendor", "system"]

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Writes a file into a directory below, with the modes that both are to have.
    private func write(_ text: String, _ name: String) throws {
        let parents = name.split(separator: "/").dropLast()
        for count in parents.indices {
            let path = "\(directory.path)/\(parents[...count].joined(separator: "/"))"
            mkdir(path, 0o755)
            chmod(path, 0o755)
        }
        chmod(try directory.write(text, to: name), 0o644)
    }

    /// Checks files in the directory, which is not that of this process.
    private func lint(_ words: String..., input: String = "") async -> ProgramResult {
        let words = words.map { word in
            let isName = !word.hasPrefix("-") && !Self.places.contains(word)
            return isName ? "\(directory.path)/\(word)" : word
        }
        let result = await ToolAlone.run(["lint"] + words, input: input)
        return ProgramResult(
            status: result.status,
            output: result.output.replacing("\(directory.path)/", with: ""), error: result.error)
    }

    /// What is found, each up to its severity.
    private func findings(_ result: ProgramResult) -> [String] {
        result.output.split(separator: "\n").map { line in
            line.split(separator: ": ").prefix(2).joined(separator: ": ")
        }
    }

    @Test func `A good file has no output`() async throws {
        try write(#"{"a": 1, "$locked": ["b*"]}"#, "org.example.A.json")
        try write(
            "<plist><dict><key>a</key><date>2001-01-01T00:00:00Z</date></dict></plist>", "b.plist")
        let result = await lint("org.example.A.json", "b.plist")
        #expect(result.status == 0 && result.output == "" && result.error == "")
    }

    @Test func `An error is shown as compilers show theirs, and the exit status is 1`() async throws
    {
        try write("{\n  \"a\": 1,\n  \"b\": [1 2]\n}", "org.example.A.json")
        try write("{}", "good.json")
        let result = await lint("good.json", "org.example.A.json")
        #expect(result.status == 1 && result.error == "")
        #expect(
            result.output
                == "org.example.A.json:3:11: error: A comma or the closing ] is expected here.\n"
        )
    }

    @Test func `All errors of a file are reported, not only the first`() async throws {
        try write(
            """
            {
              "$bad": {"x": [1, 2, "}"]},
              "b": {"$unknown": 1},
              "a": 1,
              "a": [{}],
              "big": 99999999999999999999999999999999999999999999,
              "$locked": ["*x", "ok", ""],
              "": 2,
              "c": [1 2],
              "not reached": {"$unknown": 1}
            }
            """, "org.example.A.json")
        let lines = await lint("org.example.A.json").output.split(separator: "\n").map {
            $0.split(separator: ":")[1]
        }
        #expect(lines == ["2", "3", "5", "6", "7", "7", "8", "9"])
        try write(
            """
            <plist><dict><key>$a</key><true/>
            <key>b</key><dict><key>CF$UID</key><integer>1</integer></dict>
            <key>good</key><true/>
            <key>$locked</key><array><string>*x</string></array>
            </dict></plist>
            """, "org.example.B.plist")
        let list = await lint("org.example.B.plist")
        #expect(list.status == 1)
        #expect(
            list.output.split(separator: "\n").map { $0.split(separator: ":")[1] } == [
                "1", "2", "4",
            ])
    }

    @Test func `One bad file does not hide others`() async throws {
        try write("{", "a.json")
        try write("<plist>", "b.plist")
        let lines = await lint("a.json", "b.plist", "c.json").output.split(separator: "\n")
        #expect(lines.count == 3 && lines.allSatisfy { $0.contains(": error: ") })
        #expect(lines.last?.hasPrefix("c.json: error: It does not exist") == true)
    }

    @Test func `A directory is checked with everything in it`() async throws {
        try write("{}", "place/org.example.A.json")
        try write("{}", "place/org.example.A.plist")
        try write("{,", "place/org.example.A.d/1.json")
        try write("hello", "place/README")
        try write("{}", "place/my app.json")
        try write("", "place/org.example.B.d/x.json.bak")
        let result = await lint("place")
        #expect(result.status == 1)
        #expect(
            findings(result) == [
                "place/my app.json: warning", "place/org.example.A.d/1.json:1:2: error",
                "place/org.example.A.plist: warning", "place/org.example.B.d: warning",
            ])
        // However the directory is spelled, the names in it are.
        #expect(await lint("place/").output == result.output)
        #expect(await lint("place//").output == result.output)
    }

    @Test func `A file in a directory that is ignored because of its name is a warning`()
        async throws
    {
        let ignored = [
            "org.p.D/a.json", "org.q", "org.x.d", "org.y/a.json", "org.z.JSON", "org.zz.jsn",
        ]
        let silent = [
            ".hidden", "README.md", "a.json.bak", "a.json.dpkg-old", "a.json.orig",
            "a.json.rpmnew", "a.json.rpmorig", "a.json.rpmsave", "a.json.swp", "a.json.tmp",
            "a.json~",
        ]
        for name in ignored + silent { try write("{}", "place/\(name)") }
        let result = await lint("place")
        #expect(result.status == 0)
        #expect(
            findings(result)
                == ignored.map { "place/\($0.split(separator: "/")[0]): warning" })
    }

    @Test(arguments: [("managed", Int32(0)), ("recommended", 1), ("vendor", 1)])
    func `The layer of a file decides what may be in it`(place: String, status: Int32) async throws
    {
        try write(#"{"$locked": ["a"]}"#, "org.example.A.json")
        let result = await lint("--place", place, "org.example.A.json")
        #expect(result.status == status, "\(result.output)")
        #expect(await lint("--place", place, ".").status == status)
    }

    @Test func `A suspicious entry is a warning, and not a failure`() async throws {
        try write(#"{"a": 1, "$locked": ["a"]}"#, "org.example.A.json")
        try write(
            "<plist><dict><key>a</key><true/>\n<key>a</key><true/></dict></plist>", "b.plist")
        let result = await lint("org.example.A.json", "b.plist")
        #expect(result.status == 0)
        #expect(
            result.output.contains("org.example.A.json:1:22: warning: The lock 'a' changes nothing")
        )
        #expect(
            result.output.contains("b.plist:2:1: warning: The key is in the same dictionary twice"))
    }

    @Test(arguments: ["nsglobaldomain.json", "NSGLOBALDOMAIN.plist", "NsGlobalDomain.d/a.json"])
    func `The global domain in another case is a warning`(name: String) async throws {
        try write("{}", "place/\(name)")
        try write("{}", "place/NSGlobalDomain.json")
        try write("{}", "place/NSGlobalDomain.d/a.json")
        for result in [await lint("place"), await lint("place/\(name)")] {
            #expect(result.status == 0 && findings(result) == ["place/\(name): warning"])
            #expect(result.output.contains("are in NSGlobalDomain, with these capitals"))
        }
    }

    @Test(arguments: [
        ("place/org.example.A.json", mode_t(0o640), "Some users cannot read it"),
        ("place/org.example.A.json", 0o666, "It can be written by every user"),
        ("place/org.example.A.json", 0o664, "It can be written by its group, number "),
        ("place", 0o750, "Some users cannot read it"),
        ("place", 0o754, "Some users cannot read it"),
        ("place", 0o757, "It can be written by every user"),
        ("place/org.example.A.d", 0o751, "Some users cannot read it"),
    ])
    func `A mode that lets others write, or not read, is a warning with the mode`(
        path: String, mode: mode_t, words: String
    ) async throws {
        try write("{}", "place/org.example.A.json")
        try write("{}", "place/org.example.A.d/1.json")
        // What root's group can write is no finding, and only root may choose another.
        if geteuid() == 0 { chown("\(directory.path)/\(path)", 0, 4711) }
        chmod("\(directory.path)/\(path)", mode)
        let result = await lint("place")
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("\(path): warning: \(words)"), "\(result)")
        let octal = String(mode, radix: 8)
        #expect(result.output.contains("its mode is 0\(octal); fix it with chmod "))
        #expect(findings(result).count == 1)
    }

    @Test func `Standard input is read as a file without a name`() async throws {
        let good = await lint("-", input: #"{"a": 1, "$locked": ["b"]}"#)
        #expect(good.status == 0 && good.output == "" && good.error == "")
        let locks = await lint("--place", "vendor", "-", input: #"{"$locked": ["b"]}"#)
        #expect(locks.status == 1)
        #expect(locks.output.hasPrefix("standard input:1:2: error: Only files of the managed"))
        try write("{}", "a.json")
        let both = await lint("a.json", "-", input: "{\n1}")
        #expect(both.status == 1 && findings(both) == ["standard input:2:1: error"])
        #expect(findings(await lint("-")) == ["standard input: error"])
        let large = await lint("-", input: String(repeating: " ", count: 17 << 20))
        #expect(large.status == 1 && large.output.contains("more than 16777216 bytes"), "\(large)")
    }

    @Test(arguments: [".org.example.A.json", "org.example.A.json.bak", "source", "my app.json"])
    func `A file that no place would read is checked, with a remark`(name: String) async throws {
        try write("{}", name)
        let good = await lint(name)
        #expect(good.status == 0 && good.output.hasPrefix("\(name): warning: It is ignored"))
        try write("[]", name)
        let bad = await lint(name)
        #expect(bad.status == 1 && bad.output.contains("\(name):1:1: error: "))
    }

    @Test func `For scripts the output is one JSON object`() async throws {
        try write("{\"$x\": 1}", "a.json")
        try write("{}", "a b.json")
        let result = await lint("--json", "a.json", "a b.json")
        #expect(result.status == 1)
        let told = try #require(
            JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        #expect(told["errors"] as? Int == 1 && told["warnings"] as? Int == 1)
        let findings = try #require(told["findings"] as? [[String: Any]])
        #expect(findings.map { $0["severity"] as? String } == ["error", "warning"])
        #expect(findings.first?["line"] as? Int == 1 && findings.first?["column"] as? Int == 2)
        #expect(findings.first?["code"] as? String == "badKey")
        #expect(findings.last?["line"] is NSNull)
        #expect(await lint("--json").output.hasPrefix("{\"errors\":"))
    }

    @Test func `A shell completes files and places`() async {
        let words = ["complete", "--", "lint"]
        #expect(await ToolAlone.run(words + ["a.json", ""]).status == 10)
        let places = await ToolAlone.run(words + ["--place", ""]).output
        #expect(places == "managed\nrecommended\nvendor\n")
    }

    @Test func `Arguments that are not places are a wrong command line`() async {
        #expect(await lint("--place", "system").status == 64)
    }
}
