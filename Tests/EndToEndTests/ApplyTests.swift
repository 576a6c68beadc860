import Foundation
import TestSupport
import TestTiers
import Testing

/// `defaultsctl apply`, and the options of other verbs for scripts.
@Suite(.startsPrograms) struct ApplyTests {
    private let desktop: Desktop

    init() throws {
        desktop = try Desktop()
    }

    private func apply(_ document: String, _ options: String...) -> ProgramResult {
        desktop.run(
            [Desktop.programs + "/defaultsctl", "apply"] + options, input: document)
    }

    private func json(_ arguments: String...) throws -> String {
        try desktop.tool(["read", "--json"] + arguments).requireOutput()
    }

    @Test func `Very many lines and very many words are read in reasonable time`() throws {
        let lines = (0..<20_000).map { "write a.b key\($0) -int \($0)\n" }.joined()
        #expect(try apply(lines).requireOutput() == "")
        let words = (0..<20_000).map { "\($0)" }
        _ = try desktop.tool(["write", "a.c", "list", "-array"] + words).requireOutput()
        #expect(
            try desktop.tool("keys", "a.b").requireOutput().split(separator: "\n").count == 20_000)
        #expect(try json("a.c", "list").split(separator: ",").count == 20_000)
    }

    @Test
    func `If one domain fails after all, no domain is changed, and its line is reported`() throws {
        _ = try desktop.tool("write", "a.b", "{ old = 1; kept = 2; }").requireOutput()
        // The names of a domain's keys have 16 MiB at most, which no check before the change looks at.
        let full = "\(desktop.directory.path)/full.json"
        _ = try desktop.python(
            """
            import json, sys
            json.dump({f"{n:01024}": n for n in range(16384)}, open(sys.argv[1], "w"))
            """, full
        ).requireOutput()
        _ = try desktop.tool("import", "c.d", full).requireOutput()
        let refused = apply(
            """
            write a.b old -int 9
            delete a.b kept
            write a.b new -int 9
            write e.f same -int 1
            write c.d more -int 1
            write g.h later -int 1
            """)
        #expect(refused.status == 1)
        #expect(refused.error.hasPrefix("defaultsctl: standard input, line 5: "), "\(refused)")
        #expect(try json("a.b") == "{\"kept\":\"2\",\"old\":\"1\"}\n")
        #expect(desktop.tool("domains").output == "a.b, c.d\n")
    }

    @Test func `Many simultaneous edits of one value are all made`() throws {
        let writers = try (0..<8).map { number in
            try desktop.start(
                Desktop.programs + "/defaultsctl", "write", "org.example.Game", "List",
                "-array-add", "\(number)")
        }
        for writer in writers {
            #expect(throws: Never.self) { try writer.requireSuccess() }
        }
        let list = try json("org.example.Game", "List")
        #expect((0..<8).allSatisfy { list.contains("\"\($0)\"") }, "\(list)")
    }
}
