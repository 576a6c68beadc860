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

    private var generation: String {
        desktop.gdbus(
            "org.freedesktop.DBus.Properties.Get", "org.defaultsd.Defaults1", "Generation"
        ).output
    }

    @Test func `A document is applied, holds, and is taken back`() throws {
        desktop.tool("write", Self.app, "Theme", "light")
        let entries = #"{"Theme": "dark", "List": {"$ensure": ["a"]}, "$once": {"Size": 2}}"#
        #expect(try apply(entries, "--check").status == 2)
        #expect(json() == "{\"Theme\":\"light\"}\n")
        #expect(try apply(entries, "--changed").output == "changed\n")
        #expect(json() == #"{"List":["a"],"Size":2,"Theme":"dark"}"# + "\n")
        let before = generation
        #expect(try apply(entries, "--changed").output == "unchanged\n")
        #expect(try apply(entries, "--check").status == 0)
        #expect(generation == before && !before.isEmpty)
        #expect(desktop.tool("owners").output == "me  3\n")
        #expect(desktop.tool("drift").status == 0)
        desktop.tool("write", Self.app, "Theme", "blue")
        let drift = desktop.tool("drift", "me")
        #expect(drift.status == 2 && drift.output == "me  \(Self.app)  Theme  changed\n")
        #expect(
            desktop.tool("explain", Self.app, "Theme").output.contains(
                "Owned by the document of me."))
        let undone = desktop.tool("unapply", "me")
        #expect(undone.status == 0 && undone.error.contains("stay as they are: Theme"), "\(undone)")
        #expect(json() == "{\"Theme\":\"blue\"}\n")
        #expect(desktop.tool("owners").output.isEmpty)
    }

    @Test func `All domains are one change, and a fault changes nothing`() throws {
        desktop.tool("write", "org.example.B", "List", "-int", "5")
        let file = try write(
            document(
                #"{"org.example.A": {"K": 1}, "org.example.B": {"List": {"$ensure": ["a"]}}}"#))
        let refused = desktop.tool("apply", file)
        #expect(refused.status == 1 && refused.error.contains("org.example.B 'List'"), "\(refused)")
        #expect(refused.error.contains("Nothing was changed."))
        #expect(
            json("org.example.A") == "{}\n" || desktop.tool("keys", "org.example.A").status == 1)
        let both = try write(document(#"{"org.example.A": {"K": 1}, "org.example.B": {"K": 2}}"#))
        #expect(desktop.tool("apply", both).status == 0)
        let generations = try ["org.example.A", "org.example.B"].map { domain in
            try desktop.busctl("Get", "ss", domain, "K").requireOutput()
                .split(separator: " ").last
        }
        #expect(generations[0] == generations[1] && generations[0] != nil)
    }

    @Test func `What is locked is named, and what programs see as wanted is nothing to do`() throws
    {
        try desktop.write(#"{"A": 1, "B": 2}"#, to: "\(Self.app).json", in: .managed)
        try desktop.awaitLock(of: "A", in: Self.app)
        #expect(try apply(#"{"A": 1, "C": 3}"#).status == 0)
        let refused = try apply(#"{"A": 5, "B": 6, "C": 4}"#)
        #expect(
            refused.status == 1 && refused.error.contains("The administrator has locked 2 keys"))
        #expect(refused.error.contains("A of") && refused.error.contains("B of"))
        #expect(json() == "{\"C\":3}\n")
        let skipped = try apply(#"{"A": 5, "B": 6, "C": 4}"#, "--skip-locked")
        #expect(
            skipped.status == 0
                && skipped.error.contains("left unchanged: A of \(Self.app), B of \(Self.app)."),
            "\(skipped)")
        #expect(json() == "{\"C\":4}\n")
        try desktop.remove("\(Self.app).json", in: .managed)
        try desktop.awaitLock(of: "A", in: Self.app, isLocked: false)
        #expect(try apply(#"{"A": 5, "B": 6, "C": 4}"#).status == 0)
        #expect(json() == #"{"A":5,"B":6,"C":4}"# + "\n")
    }

    @Test func `A key of another owner is refused, and is taken over if that is meant`() throws {
        try apply(#"{"A": 1}"#)
        let refused = try apply(#"{"A": 2}"#, owner: "you")
        #expect(
            refused.status == 1 && refused.error.contains("A of \(Self.app) (me)"), "\(refused)")
        #expect(try apply(#"{"A": 2}"#, owner: "you", "--force-conflicts").status == 0)
        #expect(desktop.tool("owners").output == "you  1\n")
    }

    @Test func `A mistyped owner is an error, and one that is gone is not`() throws {
        try apply(#"{"A": 1}"#, owner: "me/games")
        let mistyped = desktop.tool("unapply", "me/game")
        #expect(mistyped.status == 1 && mistyped.error.contains("Did you mean 'me/games'?"))
        #expect(desktop.tool("unapply", "me/games").status == 0)
        #expect(desktop.tool("unapply", "me/games").status == 0)
    }

    @Test func `Half of a document needs a confirmation, and none at all is refused`() throws {
        let keys = (0..<12).map { "\"K\($0)\": \($0)" }
        try apply("{\(keys.joined(separator: ", "))}")
        let refused = try apply(#"{"K0": 0}"#)
        #expect(
            refused.status == 1 && refused.error.contains("11 of the 12 keys of me"), "\(refused)")
        #expect(desktop.tool("owners").output == "me  12\n")
        #expect(try apply("{}").error.contains("defaultsctl unapply me"))
        #expect(try apply(#"{"K0": 0}"#, "--yes").status == 0)
        #expect(json() == "{\"K0\":0}\n")
    }

    @Test func `An exact type stays, and what a GTK program has set is equal`() throws {
        let exact = #"{"$class": "GVariant", "type": "u", "value": 5}"#
        desktop.tool("write", Self.app, "Number", "--json", exact)
        #expect(try apply(#"{"Number": 5}"#, "--check").output.contains("own \(Self.app) Number"))
        try apply(#"{"Number": 5}"#)
        #expect(desktop.tool("read-type", Self.app, "Number").output.contains("type u)"))
        try apply(#"{"Number": 6}"#)
        #expect(desktop.tool("read-type", Self.app, "Number").output.contains("type u)"))
        #expect(try apply(#"{"Number": 6}"#, "--changed").output == "unchanged\n")
        desktop.tool("unapply", "me")
        #expect(desktop.tool("read", Self.app, "Number").output == "5\n")
    }

    @Test func `A value that does not fit an exact type replaces it, with what schemas say of it`()
        throws
    {
        let exact = #"{"$class": "GVariant", "type": "u", "value": 5}"#
        for key in ["A", "B"] { desktop.tool("write", Self.app, key, "--json", exact) }
        let result = try apply(#"{"A": "five", "B": "six", "C": 1}"#)
        #expect(result.status == 0, "\(result)")
        #expect(
            result.error.contains("do not fit them: A of \(Self.app), B of \(Self.app)."),
            "\(result)")
        desktop.tool("unapply", "me")
        #expect(desktop.tool("read-type", Self.app, "A").output.contains("type u)"))
    }

    @Test func `Ten thousand keys of which three differ are three changes and their rows`() throws {
        let keys = (0..<10_000).map { "\"K\($0)\": \($0)" }
        #expect(try apply("{\(keys.joined(separator: ", "))}").status == 0)
        var changed = keys
        for number in [5, 500, 5000] { changed[number] = "\"K\(number)\": -1" }
        let plan = try apply("{\(changed.joined(separator: ", "))}", "--dry-run")
        #expect(plan.output.split(separator: "\n").count == 3)
        #expect(try apply("{\(changed.joined(separator: ", "))}").status == 0)
        #expect(desktop.tool("read", Self.app, "K500").output == "-1\n")
        #expect(desktop.tool("owners").output == "me  10000\n")
    }

    @Test(arguments: ["document.yaml", "list.plist", "domains"])
    func `Other spellings and directories are read`(_ form: String) throws {
        let path: String
        switch form {
        case "document.yaml":
            path = try write(
                "$defaults: 1\nowner: me\ndomains:\n  \(Self.app): {A: 1, B: \"007\"}\n", to: form)
        case "list.plist":
            path = try write(
                """
                <plist version="1.0"><dict><key>$defaults</key><integer>1</integer><key>owner</key>
                <string>me</string><key>domains</key><dict><key>\(Self.app)</key><dict><key>A</key>
                <integer>1</integer><key>B</key><string>007</string></dict></dict></dict></plist>
                """, to: form)
        default:
            path = desktop.directory.path + "/domains"
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false)
            _ = try write(#"{"A": 1}"#, to: "domains/\(Self.app).json")
            _ = try write("K: 2\n", to: "domains/org.example.Other.yaml")
            try apply(#"{"B": "007"}"#, owner: "other")
        }
        let options = form == "domains" ? ["--owner", "me"] : []
        let result = desktop.tool(["apply", path] + options)
        #expect(result.status == 0, "\(result)")
        #expect(json() == #"{"A":1,"B":"007"}"# + "\n")
    }

    @Test func `A file of one domain needs a domain and an owner, and says so`() throws {
        let file = try write(#"{"A": 1}"#)
        #expect(desktop.tool("apply", file, "--domain", Self.app).status == 64)
        #expect(desktop.tool("apply", file, "--domain", Self.app, "--owner", "me").status == 0)
        #expect(desktop.tool("apply", file, "--owner", "me").error.contains("--domain"))
        let lines = try write(#"{"domain":"\#(Self.app)","key":"B","value":1}"#)
        #expect(desktop.tool("apply", lines, "--check").status == 64)
        #expect(desktop.tool("apply", lines).status == 0)
        #expect(json() == #"{"A":1,"B":1}"# + "\n")
    }

    @Test func `Everything is exported as files, and applied again it changes nothing`() throws {
        desktop.tool(
            "write", Self.app, "Object", "--json", #"{"$class": "Account", "name": "ada"}"#)
        desktop.tool("write", Self.app, "Date", "-date", "2026-03-01T12:00:00Z")
        desktop.tool("-currentHost", "write", Self.app, "Screen", "-int", "2")
        desktop.tool("write", "-g", "Language", "de")
        try apply(#"{"Owned": 1}"#)
        let folder = desktop.directory.path + "/all"
        #expect(desktop.tool("export", "--all", "--directory", folder).status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        let host = ProcessInfo.processInfo.hostName
        #expect(names == ["NSGlobalDomain.json", "\(Self.app).json", "\(Self.app)@\(host).json"])
        let first = try names.map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
        #expect(desktop.tool("export", "--all", "--directory", folder).status == 0)
        #expect(
            try names.map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
                == first)
        desktop.tool("unapply", "me")
        desktop.tool("write", Self.app, "Owned", "-int", "1")
        let applied = desktop.tool("apply", folder, "--owner", "everything", "--dry-run")
        #expect(applied.status == 0, "\(applied)")
        #expect(
            applied.output.split(separator: "\n").allSatisfy { $0.hasPrefix("own ") }, "\(applied)")
        #expect(applied.error.contains("becomes the owner of everything"))
        #expect(applied.output.contains("own \(Self.app)@host Screen: 2\n"))
    }

    @Test func `What JSON and XML cannot say is exported all the same`() throws {
        for (key, value) in [
            ("Fraction", #"{"$class":"NSDate","NS.time":757382400.75}"#),
            ("Bare", #"{"$date":1.25}"#),
            ("Mutable", #"{"$class":"NSMutableString","NS.string":"t"}"#),
            ("Word", #"{"$class":"NSDictionary","NS.keys":["$merge"],"NS.objects":[{"a":1}]}"#),
            ("Class", #"[{"$class":"NSDictionary","NS.keys":["$class"],"NS.objects":["Foo"]}]"#),
            ("Other", #"{"$class":"NSDictionary","NS.keys":["$key"],"NS.objects":[1]}"#),
        ] {
            #expect(desktop.tool("write", Self.app, key, "--json", value).status == 0)
        }
        let before = desktop.tool("inspect", Self.app, "Word").output + json()
        let folder = desktop.directory.path + "/all"
        #expect(desktop.tool("export", "--all", "--directory", folder).status == 0)
        let plan = desktop.tool("apply", folder, "--owner", "me", "--dry-run")
        #expect(plan.status == 0, "\(plan)")
        #expect(
            plan.output.split(separator: "\n").allSatisfy { $0.hasPrefix("own ") }, "\(plan)")
        // On another machine they are the same.
        desktop.tool("delete", Self.app)
        #expect(desktop.tool("apply", folder, "--owner", "me").status == 0)
        // A date has the form there that programs give it.
        let expected = before.replacing(
            #"{"$date":1.25}"#, with: #"{"$class":"NSDate","NS.time":1.25}"#)
        #expect(desktop.tool("inspect", Self.app, "Word").output + json() == expected)
    }

    @Test(arguments: [#"{"$class":"GVariant","type":"u"}"#, #"[{"$class":"GVariant"}]"#])
    func `A marker of an exact type without a value stops nobody`(_ marker: String) throws {
        #expect(desktop.tool("write", Self.app, "K", "--json", marker).status == 0)
        for words in [["read", Self.app], ["read-type", Self.app, "K"], ["find", "GVariant"]] {
            #expect(desktop.tool(words).status == 0, "\(words)")
        }
        #expect(try apply(#"{"K": 5}"#).status == 0)
        #expect(try apply("{\"K\": \(marker)}").status == 0)
        #expect(desktop.tool("drift").status == 0)
        #expect(desktop.tool("unapply", "me").status == 0)
        #expect(json() == "{\"K\":\(marker)}\n")
    }

    @Test func `A directory has the files of several machines, and each takes its own`() throws {
        try FileManager.default.createDirectory(
            atPath: desktop.directory.path + "/dots", withIntermediateDirectories: false)
        let host = ProcessInfo.processInfo.hostName
        for (name, value) in [("", 1), ("@another-machine", 2), ("@\(host.uppercased())", 3)] {
            _ = try write("{\"K\": \(value)}", to: "dots/\(Self.app)\(name).json")
        }
        let path = desktop.directory.path + "/dots"
        #expect(desktop.tool("apply", path, "--owner", "me").status == 0)
        #expect(json() == "{\"K\":1}\n" && json("\(Self.app)@host") == "{\"K\":3}\n")
        #expect(!desktop.tool("apply", path, "--owner", "me").error.contains("other machines"))
        // What is for other machines is checked, and stays where the export writes.
        #expect(
            desktop.tool("export", "--all", "--directory", path).error.contains(host.uppercased()))
        _ = try write("{\"K\": }", to: "dots/\(Self.app)@another-machine.json")
        let refused = desktop.tool("apply", path, "--owner", "me")
        #expect(refused.status == 1 && refused.error.contains("another-machine.json, line 1"))
    }

    @Test func `What is wrong in a document is said, and not that it has no header or owner`()
        throws
    {
        let late = try write(#"{"owner": "me", "domains": {"a.b": {"K": 1,}}, "$defaults": 1}"#)
        let result = desktop.tool("apply", late)
        #expect(result.status == 1 && result.error.contains("line 1, column 44"), "\(result)")
        let yaml = try write("# mine\n$defaults: 1\nowner: me\ndomains: {\(Self.app): {K: 1}}\n")
        #expect(desktop.tool("apply", yaml).status == 0)
        #expect(json() == "{\"K\":1}\n")
    }

    @Test func `A dry run says what apply asks, and a check measures what it would refuse`() throws
    {
        let keys = (0..<12).map { "\"K\($0)\": \($0)" }
        try apply("{\(keys.joined(separator: ", "))}")
        let planned = try apply(#"{"K0": 0}"#, "--dry-run")
        #expect(planned.status == 0 && planned.error.contains("needs --yes"), "\(planned)")
        let large = String(repeating: "x", count: 13 << 20)
        let values = (0..<5).map { "\"L\($0)\": \"\(large)\"" }.joined(separator: ", ")
        let checked = try apply("{\(values)}", owner: "large", "--check")
        #expect(checked.status == 1 && checked.error.contains("at most 60 MiB"), "\(checked)")
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
