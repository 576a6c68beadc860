import Foundation
import KeyedArchive
import OpenStepPropertyList
import PropertyList
import TestSupport
import Testing

/// GNUstep's tools, which nobody here wrote: what they read, and what they make of it.
@Suite("Beside GNUstep, property lists in the old style") struct GNUstepTests {
    /// Runs a tool of GNUstep's on a file with some text.
    private static func run(_ tool: String, _ arguments: [String] = [], on text: String) throws
        -> ProgramResult
    {
        let directory = try TemporaryDirectory()
        let file = try directory.write(text, to: "list.plist")
        return ProgramResult.run([tool] + arguments + [file])
    }

    @Test(
        "are the same values",
        arguments: [
            "{ a = b; \"c d\" = (1, 2, ( ), { }); }",
            "(<0fbe>, <00 11 22 33>, \"\\101\\n\\t\\\"\")",
            "( \"\\U00e9\\U4e2d\", 'it is', com.example.App, /a/b, 12.5 )",
            "{ a = { b = { c = (x, y, {z = 1;}); }; }; }", "/* c */ { a = 1; // d\n b = 2; }",
            "( <*I5>, <*I-7>, <*R1.5>, <*BY>, <*BN>, <*D2004-02-29 12:00:01 +0000> )",
            "key = value;\n\"other key\" = \"other value\";\n",
        ])
    func values(text: String) throws {
        let xml = try Self.run("plutil", ["-convert", "xml1", "-o", "-"], on: text).requireOutput()
        let spelling = try Python.spelling(ofXML: xml)
        #expect(try ReadingTests.read(text).spelling == spelling)
    }

    @Test("are read where it reads what we write", arguments: DescriptionTests.table.map(\.0))
    func reading(json: String) throws {
        let text = try DescriptionTests.describe(json)
        guard text.hasPrefix("{") || text.hasPrefix("("), !text.contains("length =") else { return }
        let answer = try Self.run("plparse", on: text)
        #expect(answer.status == 0, "\(text): \(answer.error)")
        #expect(throws: Never.self) { try ReadingTests.read(text) }
    }

    @Test("are refused by both", arguments: ["{a=1", "(1 2)", "{a=(1;}", "<0g>", "\"a", "(1,2))"])
    func refusals(text: String) throws {
        #expect(try Self.run("plparse", on: text).status != 0)
        #expect(throws: OpenStepError.self) { try ReadingTests.read(text) }
    }
}

/// Python's reader of property lists in XML.
private enum Python {
    /// What `PropertyList.spelling` has for a list.
    static func spelling(ofXML xml: String) throws -> String {
        let program = """
            import datetime, plistlib, sys
            def spelling(v):
                if v is True or v is False: return str(v).lower()
                if isinstance(v, int): return str(v)
                if isinstance(v, float): return "real %s" % v
                if isinstance(v, datetime.datetime):
                    return "date %s" % (v - datetime.datetime(2001, 1, 1)).total_seconds()
                if isinstance(v, bytes): return str(list(v))
                if isinstance(v, str): return "'%s'" % v
                if isinstance(v, list): return "(%s)" % ",".join(map(spelling, v))
                return "{%s}" % ";".join(sorted("%s=%s" % (spelling(k), spelling(x))
                    for k, x in v.items()))
            sys.stdout.write(spelling(plistlib.loads(sys.stdin.buffer.read())))
            """
        return try ProgramResult.run(["/usr/bin/python3", "-c", program], input: xml)
            .requireOutput()
    }
}
