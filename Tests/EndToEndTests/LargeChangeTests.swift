import Foundation
import TestSupport
import TestTiers
import Testing

/// Changes that are too large for a quick test.
@Suite(.startsPrograms, .serialized) struct LargeChangeTests {
    private let desktop: Desktop
    private static let app = "org.example.App"

    init() throws { desktop = try Desktop() }

    @Test
    func `All keys beside a locked one are removed, even if one change cannot name them all`()
        throws
    {
        let files = ["\(desktop.directory.path)/0.json", "\(desktop.directory.path)/1.json"]
        _ = try desktop.python(
            """
            import json, sys
            for part, file in enumerate(sys.argv[1:]):
                numbers = range(part * 131073, (part + 1) * 131073)
                with open(file, "w") as file: json.dump({f"{n:06}": True for n in numbers}, file)
            """, files[0], files[1]
        ).requireOutput()
        for file in files { _ = try desktop.tool("import", Self.app, file).requireOutput() }
        try desktop.write(#"{"$locked": ["000007"]}"#, to: "\(Self.app).json", in: .managed)
        try desktop.awaitLock(of: "000007", in: Self.app)
        let deleted = desktop.tool("delete", Self.app, "--skip-locked")
        #expect(deleted.status == 0, "\(deleted)")
        #expect(desktop.tool("keys", Self.app).output == "000007\n")
    }

    /// A document of the one app, which is applied.
    private func apply(_ entries: String, _ options: String...) throws -> ProgramResult {
        let file = try desktop.directory.write(
            #"{"$defaults": 1, "owner": "me", "domains": {"\#(Self.app)": \#(entries)}}"#,
            to: "document.json")
        return desktop.tool(["apply", file] + options)
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

    @Test func `A check measures what apply would refuse`() throws {
        let large = String(repeating: "x", count: 13 << 20)
        let values = (0..<5).map { "\"L\($0)\": \"\(large)\"" }.joined(separator: ", ")
        let checked = try apply("{\(values)}", "--check")
        #expect(checked.status == 1 && checked.error.contains("at most 60 MiB"), "\(checked)")
    }

    @Test func `A value that is too large is refused with its line, before anything is changed`() {
        let large = String(repeating: "x", count: 17 << 20)
        let refused = desktop.run(
            [Desktop.programs + "/defaultsctl", "apply"],
            input: """
                write a.b first -int 1
                {"domain":"a.b","key":"large","value":"\(large)"}
                """)
        #expect(refused.status == 1)
        #expect(
            refused.error.hasPrefix(
                "defaultsctl: standard input, line 2: The value of 'large' has "),
            "\(refused.error)")
        #expect(desktop.tool("domains").output == "\n")
    }

    @Test func `An import in several changes is refused before the first`() throws {
        try desktop.write(#"{"$locked": ["Zlast"]}"#, to: "\(Self.app).json", in: .managed)
        try desktop.awaitLock(of: "Zlast", in: Self.app)
        let large = String(repeating: "x", count: 12 << 20)
        let values = ["A", "B", "C"].map { #""\#($0)": "\#(large)""# } + [#""Zlast": 1"#]
        let file = try desktop.directory.write("{\(values.joined(separator: ","))}", to: "large")
        let answer = desktop.tool("import", Self.app, file)
        #expect(answer.status == 1 && answer.error.contains("Zlast"), "\(answer.error)")
        #expect(desktop.tool("keys", Self.app).status == 1)
    }
}
