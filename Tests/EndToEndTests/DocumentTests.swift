import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// Documents with owners, by the tool and a real service.
@Suite(.startsPrograms) struct DocumentTests {
    private static let app = "org.example.App"
    private let desktop: Desktop

    init() throws { desktop = try Desktop() }

    private func write(_ text: String, to name: String = "document.json") throws -> String {
        try desktop.directory.write(text, to: name)
    }

    private func document(_ domains: String, owner: String = "me") -> String {
        #"{"$defaults": 1, "owner": "\#(owner)", "domains": \#(domains)}"#
    }

    /// A document of the one app, which is applied.
    @discardableResult
    private func apply(_ entries: String, owner: String = "me", _ options: String...) throws
        -> ProgramResult
    {
        let file = try write(document(#"{"\#(Self.app)": \#(entries)}"#, owner: owner))
        return desktop.tool(["apply", file] + options)
    }

    private func json(_ domain: String = app) -> String {
        desktop.tool("read", domain, "--json").output
    }

    @Test func `A document may become much shorter, whatever goes back`() throws {
        let large = String(repeating: "x", count: 13 << 20)
        for number in 0..<6 {
            let line = try write(
                #"{"domain": "\#(Self.app)", "key": "L\#(number)", "value": "\#(large)"}"#)
            #expect(desktop.tool("apply", line).status == 0)
        }
        // In steps: what comes back later of all six would not fit into one change.
        for count in [2, 4, 6] {
            let keys = (0..<count).map { #""L\#($0)": 2"# }.joined(separator: ", ")
            #expect(try apply("{\(keys)}").status == 0)
        }
        #expect(try apply(#"{"Other": 1}"#, "--yes").status == 0)
        #expect(desktop.tool("read", Self.app, "L5").output.utf8.count == large.utf8.count + 1)
        #expect(desktop.tool("owners").output == "me  1\n")
    }

    @Test func `Without a bus a daemon runs for it, and what documents own is not searched`() throws
    {
        try desktop.stopDaemon()
        let file = try write(document(#"{"\#(Self.app)": {"Needle": "hay"}}"#))
        let result = desktop.run(
            [Desktop.programs + "/defaultsctl", "apply", "--changed", file],
            environment: desktop.environmentWithoutBus)
        #expect(result.output == "changed\n", "\(result)")
        #expect(json() == "{\"Needle\":\"hay\"}\n")
        #expect(desktop.tool("domains").output == "\(Self.app)\n")
        #expect(!desktop.tool("find", "Needle").output.contains("org.defaultsd.Applied"))
        #expect(desktop.tool("factory-reset", "--yes").status == 0)
        #expect(desktop.tool("owners").output.isEmpty)
    }

    @Test
    func
        `A tool that is killed at any step has done all or nothing, and the next run ends the same`()
        throws
    {
        desktop.tool("write", Self.app, "K7", "mine")
        let keys = (0..<100).map { "\"K\($0)\": \($0)" }.joined(separator: ", ")
        let file = try write(document(#"{"\#(Self.app)": {\#(keys)}}"#))
        for words in [["apply", file], ["unapply", "me"]] {
            var kills = 0
            while try wasKilled(atMessage: kills + 1, words) {
                kills += 1
                let keys = desktop.tool("keys", Self.app).output.split(separator: "\n").count
                let owned = desktop.tool("owners").output
                #expect(
                    keys == 100 && owned == "me  100\n" || keys == 1 && owned.isEmpty,
                    "\(words) \(kills): \(keys) \(owned)")
            }
            // What is read comes before the change, and the change before what is said about it.
            #expect(kills >= 3)
        }
        #expect(json() == "{\"K7\":\"mine\"}\n")
    }

    /// Runs the tool, which is killed when it sends a message; a call of the system is a message or a part of one.
    ///
    /// - Returns: False if it has ended before.
    private func wasKilled(atMessage number: Int, _ words: [String]) throws -> Bool {
        let calls = "sendmsg,sendto,write,writev"
        let result = desktop.run(
            [
                "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(calls)", "-e",
                "inject=\(calls):signal=KILL:when=\(number)", Desktop.programs + "/defaultsctl",
            ] + words)
        guard result.status != 128 + SIGKILL else { return true }
        #expect(result.status == 0, "\(result)")
        return false
    }

    @Test func `The page's documents mean the same to another reader of YAML`() throws {
        let page = try String(
            contentsOfFile: Desktop.packageDirectory + "Documentation/documents.md", encoding: .utf8
        )
        let blocks = page.components(separatedBy: "```yaml\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }.filter {
                $0.contains("$defaults")
            }
        #expect(blocks.count == 2)
        for block in blocks {
            let file = try write(block, to: "page.yaml")
            let plan = try desktop.run(
                Desktop.programs + "/defaultsctl", "apply", file, "--dry-run", "--json"
            ).requireOutput()
            let result = desktop.python(
                """
                import json, sys, yaml
                domains = yaml.safe_load(open(sys.argv[1]))["domains"]
                steps = {(step["domain"], step["key"]): step["after"] for step in json.load(sys.stdin)["steps"]}
                wanted = {}
                for domain, keys in domains.items():
                    for key, value in {**keys, **keys.get("$once", {})}.items():
                        if key in ("$remove", "$once"): continue
                        if isinstance(value, dict) and "$ensure" in value: value = value["$ensure"]
                        if isinstance(value, dict) and "$merge" in value:
                            value = {k: v.get("$merge", v) if isinstance(v, dict) else v for k, v in value["$merge"].items()}
                        wanted[domain, key] = value
                for place, value in wanted.items():
                    assert steps[place] == value and type(steps[place]) == type(value), (place, steps[place], value)
                print(len(wanted))
                """, file, input: plan)
            #expect((Int(result.output.dropLast()) ?? 0) >= 2, "\(result)")
        }
    }

    @Test func `A list that nobody has set begins with the schema's default, and is absent again`()
        throws
    {
        let schemas = desktop.directory.path + "/schemas"
        try FileManager.default.createDirectory(
            atPath: schemas, withIntermediateDirectories: false)
        _ = try write(
            """
            <schemalist><schema id="org.example.Shell" path="/org/example/Shell/">
            <key name="favorite-apps" type="as"><default>['web', 'mail']</default></key>
            </schema></schemalist>
            """, to: "schemas/shell.gschema.xml")
        try desktop.run("glib-compile-schemas", schemas).requireOutput()
        let environment = desktop.environment.merging(["GSETTINGS_SCHEMA_DIR": schemas]) { $1 }
        func tool(_ words: String...) -> ProgramResult {
            desktop.run([Desktop.programs + "/defaultsctl"] + words, environment: environment)
        }
        func document(_ owner: String, _ words: String) throws -> String {
            try write(
                self.document(
                    #"{"org.example.Shell": {"favorite-apps": \#(words)}}"#, owner: owner),
                to: owner + ".json")
        }
        let (first, second) = (
            try document("a", #"{"$ensure": ["term"], "$without": ["mail"]}"#),
            try document("b", #"{"$ensure": ["game"]}"#)
        )
        #expect(tool("apply", first).status == 0 && tool("apply", second).status == 0)
        #expect(json("org.example.Shell") == #"{"favorite-apps":["web","term","game"]}"# + "\n")
        #expect(tool("apply", first, "--changed").output == "unchanged\n")
        #expect(tool("unapply", "a").status == 0 && tool("unapply", "b").status == 0)
        #expect(tool("keys", "org.example.Shell").status == 1)
    }
}
