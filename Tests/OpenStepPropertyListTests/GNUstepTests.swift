import KeyedArchive
import OpenStepPropertyList
import PropertyList
import TestSupport
import TestTiers
import Testing

/// GNUstep's tools, which nobody here wrote: what they read, and what they make of it.
@Suite("In GNUstep, property lists in the old style", .startsPrograms) struct GNUstepTests {
    /// What GNUstep's tool reads from its input and writes in the old style.
    private static func rewritten(_ text: String) throws -> String {
        // It reads some bytes too many, which the comment takes in, but where they break the line.
        for _ in 0..<20 {
            let result = ProgramResult.run(["pl"], input: text + "\n//")
            if result.status == 0, !result.output.isEmpty { return result.output }
        }
        return try ProgramResult.run(["pl"], input: text + "\n//").requireOutput()
    }

    @Test(
        "have the same values",
        arguments: [
            "{ a = b; \"c d\" = (1, 2, ( ), { }); }", "(<0fbe>, <00 11 22 33>, \"\\n\\t\\\"\\\\\")",
            "( \"\\U00e9\\U4e2d\", com.example.App, /a/b, 12.5 )",
            "{a=1}",
            "{ a = { b = { c = (x, y, {z = 1;}); }; }; }", "/* c */ { a = 1; // d\n b = 2; }",
            "key = value;\n\"other key\" = \"other value\";\n",
        ])
    func values(text: String) throws {
        // It has understood the text where what it writes of it means the same to us.
        let spelling = try ReadingTests.read(Self.rewritten(text)).spelling
        #expect(try ReadingTests.read(text).spelling == spelling)
    }

    @Test("have its own types of values") func types() throws {
        // It writes them as strings.
        let text = "( <*I5>, <*I-7>, <*R1.5>, <*BY>, <*BN>, <*D2004-02-29 12:00:01 +0000> )"
        let rewritten = try ReadingTests.read(Self.rewritten(text))
        #expect(rewritten.spelling == "('5','-7','1.5','1','0','2004-02-29 12:00:01 +0000')")
        #expect(
            try ReadingTests.read(text).spelling == "(5,-7,real 1.5,true,false,date 99748801.0)")
    }

    @Test("are read if we write them", arguments: DescriptionTests.table.map(\.0))
    func reading(json: String) throws {
        let text = try DescriptionTests.describe(json)
        guard text.hasPrefix("{") || text.hasPrefix("("), !text.contains("length =") else { return }
        let spelling = try ReadingTests.read(Self.rewritten(text)).spelling
        #expect(try ReadingTests.read(text).spelling == spelling)
    }

    @Test("are refused by both", arguments: ["{a=1", "(1 2)", "{a=(1;}", "<0g>", "\"a", "(1,2))"])
    func refusals(text: String) throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write(text, to: "list.plist")
        #expect(ProgramResult.run(["plparse", file]).status != 0)
        #expect(throws: OpenStepError.self) { try ReadingTests.read(text) }
    }
}
