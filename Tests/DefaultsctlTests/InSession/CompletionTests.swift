import DefaultsFiles
import Foundation
import TestSupport
import Testing

@testable import ToolHarness

/// What a key completes.
@Suite(.inSession) struct CompletionTests {
    private let session = TestSession.current

    init() async throws {
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
            try await session.tool(["write"] + words).requireOutput()
        }
        try await session.write(#"{"Key": 1}"#, to: "com.example.Odd.json", in: .managed)
    }

    /// The candidates, without their notes.
    private func candidates(_ words: String...) async throws -> [String] {
        try await session.tool(["complete", "--"] + words).requireOutput().split(separator: "\n")
            .map { String($0.prefix { $0 != "\t" }) }
    }

    @Test func `Verbs, options, domains, keys and flags of types are completed from what exists`()
        async throws
    {
        #expect(try await candidates("rea") == ["read", "read-type"])
        #expect(try await candidates("-currentHost", "ren") == ["rename"])
        #expect(try await candidates("read", "org") == ["org.example.Game"])
        #expect(try await candidates("-host", "other", "read", "N") == ["NSGlobalDomain"])
        #expect(
            try await candidates("read", "org.example.Game", "")
                == ["Level", "Two Words", "a:b$c"])
        #expect(try await candidates("read", "-g", "") == ["Colour"])
        #expect(try await candidates("read", "--json", "-g", "C") == ["Colour"])
        #expect(try await candidates("read", "--path", "x", "-g", "C") == ["Colour"])
        #expect(try await candidates("read", "--js") == ["--json"])
        #expect(try await candidates("read", "-gl") == ["-globalDomain"])
        #expect(try await candidates("write", "-g", "Colour", "-arr") == ["-array", "-array-add"])
        #expect(try await candidates("write", "-g", "Colour", "-bool", "t") == ["true"])
        #expect(try await candidates("write", "-g", "Colour", "-array", "-s") == ["-string"])
        #expect(try await candidates("backup", "res") == ["restore"])
        #expect(try await candidates("help", "rena") == ["rename"])
        #expect(try await candidates("help", "backup", "res") == ["restore"])
        #expect(try await candidates("help", "read", "") == [])
        #expect(try await candidates("backup", "restore", "lat") == ["latest"])
        #expect(try await candidates("inspect", "--color", "") == ["auto", "always", "never"])
        #expect(try await candidates("read", "--", "--js") == [])
    }

    @Test func `The shell completes file names`() async {
        #expect(await session.tool("complete", "--", "apply", "-f", "").status == 10)
        #expect(await session.tool("complete", "--", "apply", "-").status == 0)
    }
}
