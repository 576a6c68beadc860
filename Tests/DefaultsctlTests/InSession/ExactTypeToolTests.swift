import Foundation
import TestSupport
import Testing

@testable import ToolHarness

/// The tool and values with an exact type of GVariant.
@Suite(.inSession) struct ExactTypeToolTests {
    let session = TestSession.current

    private static func marker(_ type: String, _ value: String) -> String {
        #"{"$class":"GVariant","type":"\#(type)","value":\#(value)}"#
    }

    private func write(_ key: String, _ words: String...) async -> ProgramResult {
        await session.tool(["write", "a.b", key] + words)
    }

    private func store(_ key: String, _ type: String, _ value: String) async {
        #expect(await write(key, "--json", Self.marker(type, value)).status == 0)
    }

    private func json(_ key: String) async throws -> String {
        try await session.tool("read", "a.b", key, "--json").requireOutput()
            .trimmingCharacters(in: .newlines)
    }

    @Test func `read shows the value, --json the marker, read-type the type`() async throws {
        await store("n", "u", "5")
        await store("l", "as", #"["x","y"]"#)
        #expect(
            await write(
                "nested", "--json", "[\(Self.marker("y", "7")),\(Self.marker("ai", "[1]"))]"
            )
            .status == 0)
        #expect(await write("plain", "-int", "5").status == 0)
        #expect(await session.tool("read", "a.b", "n").output == "5\n")
        #expect(await session.tool("read", "a.b", "n", "--raw").output == "5\n")
        #expect(await session.tool("read", "a.b", "l").output == "(\n    x,\n    y\n)\n")
        #expect(await session.tool("read", "a.b", "l", "--path", "[1]").output == "y\n")
        #expect(
            await session.tool("read", "a.b", "nested").output
                == "(\n    7,\n        (\n        1\n    )\n)\n")
        #expect(try await json("n") == Self.marker("u", "5"))
        #expect(
            await session.tool("read-type", "a.b", "n").output
                == "Type is integer (GVariant type u)\n")
        #expect(
            await session.tool("read-type", "a.b", "l").output
                == "Type is array (GVariant type as)\n")
        #expect(await session.tool("read-type", "a.b", "n", "--json").output == "\"integer\"\n")
        #expect(await session.tool("read-type", "a.b", "plain").output == "Type is integer\n")
        let all = await session.tool("read", "a.b").output
        #expect(all.contains("n = 5;") && !all.contains("GVariant"), "\(all)")
        let explained = await session.tool("explain", "a.b", "n").output
        #expect(explained.contains(" 5") && !explained.contains("GVariant"), "\(explained)")
        // The service does not know exact types.
        #expect("\(try await session.get("a.b", "n").value)".contains("GVariant"))
    }

    @Test(arguments: [
        ("u", "5", ["-int", "7"], "7"), ("u", "5", ["7"], "7"), ("u", "5", ["--json", "7"], "7"),
        ("i", "5", ["-7"], "-7"), ("d", "5.0", ["7"], "7.0"), ("b", "true", ["no"], "false"),
        ("s", #""a""#, ["7"], #""7""#), ("as", "[]", ["(a, b)"], #"["a","b"]"#),
        ("(ss)", #"["",""]"#, ["-array", "1", "2"], #"["1","2"]"#),
        ("as", #"["x"]"#, ["-array-add", "y"], #"["x","y"]"#),
        ("mi", "3", ["--json", "null"], "null"),
        ("as", #"["x"]"#, ["--path", "[0]", "-string", "z"], #"["z"]"#),
    ])
    func `write keeps the exact type`(type: String, value: String, words: [String], result: String)
        async throws
    {
        await store("k", type, value)
        let written = await session.tool(["write", "a.b", "k"] + words)
        #expect(written.status == 0, "\(written)")
        #expect(try await json("k") == Self.marker(type, result))
    }

    @Test(arguments: [
        ("u", "5", ["-1"]), ("u", "5", ["x"]), ("y", "5", ["256"]), ("u", "5", ["-string", "7"]),
        ("as", "[]", ["7"]), ("(ii)", "[1,2]", ["--path", "[2]", "-int", "3"]),
        ("b", "true", ["-int", "1"]),
    ])
    func `A value that does not fit the exact type is refused`(
        type: String, value: String, words: [String]
    ) async throws {
        await store("k", type, value)
        let refused = await session.tool(["write", "a.b", "k"] + words)
        #expect(refused.status == 1 && refused.error.contains("type \(type)"), "\(refused)")
        #expect(try await json("k") == Self.marker(type, value))
        #expect(await session.tool("delete", "a.b", "k").status == 0)
        for word in ["x", "y"] { #expect(await write("k", word).status == 0) }
        #expect(try await json("k") == #""y""#)
    }

    @Test func `A marker that is written replaces the type, and a document keeps it`() async throws
    {
        await store("k", "u", "5")
        await store("k", "i", "-5")
        #expect(try await json("k") == Self.marker("i", "-5"))
        let applied = await session.tool("apply", input: "write a.b k -6\n")
        #expect(applied.status == 0, "\(applied)")
        #expect(try await json("k") == Self.marker("i", "-6"))
    }

    @Test func `An object that is no marker is shown as it is`() async throws {
        for value in [
            #"{"$class":"GVariants","type":"u","value":5}"#, #"{"$class":"Account","type":"u"}"#,
            #"{"type":"u","value":5}"#,
        ] {
            #expect(await write("k", "--json", value).status == 0)
            #expect(try await json("k") == value)
            #expect(await session.tool("read", "a.b", "k").output.contains("type = u;"))
            #expect(
                await session.tool("read-type", "a.b", "k").output.contains("GVariant") == false)
        }
    }
}
