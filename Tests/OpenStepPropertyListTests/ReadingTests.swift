import Foundation
import OpenStepPropertyList
import PropertyList
import TestSupport
import Testing

/// Property lists in the old style that are read.
@Suite("Property lists in the old style") struct ReadingTests {
    static func read(_ text: String) throws -> PropertyList {
        try PropertyList(openStep: Array(text.utf8))
    }

    @Test(
        "are read with every kind of value",
        arguments: [
            ("a", "'a'"), ("com.apple/Foo_$:-1", "'com.apple/Foo_$:-1'"), ("\"\"", "''"),
            ("'it is \"x\"'", "'it is \"x\"'"), ("\"a b\"", "'a b'"), ("0x12", "'0x12'"),
            ("()", "()"), ("(a)", "('a')"), ("(a,)", "('a')"), ("(1, \"2\" ,'3')", "('1','2','3')"),
            ("((),(()))", "((),(()))"), ("{}", "{}"), ("{a=b;}", "{'a'='b'}"),
            ("{a=b}", "{'a'='b'}"),
            ("{ \"a b\" = (1); c = {d = e;}; }", "{'a b'=('1');'c'={'d'='e'}}"),
            ("{a = 1; b = 2; a = {c = 3;};}", "{'a'={'c'='3'};'b'='2'}"),
            ("a = 1; b = 2; a;", "{'a'='a';'b'='2'}"),
            ("{a;}", "{'a'='a'}"), ("<>", "[]"), ("<0f BE>", "[15, 190]"),
            ("<0fbe 0f\n be>", "[15, 190, 15, 190]"),
            ("/* all */ ( // one\n 1, /* two */ 2)", "('1','2')"), ("a = b;", "{'a'='b'}"),
            ("\"a b\" = c; d = (e);\n", "{'a b'='c';'d'=('e')}"), ("a; b;", "{'a'='a';'b'='b'}"),
            ("<*I5>", "5"),
            (
                "<*I-170141183460469231731687303715884105728>",
                "-170141183460469231731687303715884105728"
            ),
            ("<*R1.5>", "real 1.5"), ("<*R-1e300>", "real -1e+300"), ("<*BY>", "true"),
            ("<*BN>", "false"), ("<*I\"7\">", "7"), ("<*D2001-01-01 00:00:00 +0000>", "date 0.0"),
            ("<*D2001-01-01 01:30:01 +0130>", "date 1.0"),
        ])
    func kinds(text: String, spelling: String) throws {
        #expect(try Self.read(text).spelling == spelling)
    }

    @Test(
        "have escapes in quotation marks",
        arguments: [
            (#""a\nb\tc""#, "'a\nb\tc'"), (#""\"\\\'""#, "'\"\\''"),
            (#""\101\7\0618""#, "'A\u{7}18'"),
            (#""\U00e9\u00E9\Ue9""#, "'ééé'"), (#""\UD83D\UDE00""#, "'😀'"),
            (#""\ud83d""#, "[55357]"),
            (#""\q\é\U""#, "'qéU'"), ("\"a\\\nb\"", "'a\nb'"),
            (#""\a\b\f\r\v""#, "'\u{7}\u{8}\u{C}\r\u{B}'"),
        ])
    func escapes(text: String, spelling: String) throws {
        #expect(try Self.read(text).spelling == spelling)
    }

    @Test("have characters of the NeXTSTEP encoding as octal escapes, as Foundation reads them")
    func octalEscapes() throws {
        for byte in UInt8(1)...0xFD {
            let octal = String(byte, radix: 8)
            let escape = String(repeating: "0", count: 3 - octal.count) + octal
            let character = String(data: Data([byte]), encoding: .nextstep)
            let other = try PropertyListSerialization.propertyList(
                from: Data("\"\\\(escape)\"".utf8), format: nil)
            let list = try Self.read("\"\\\(escape)\"")
            #expect(list.spelling == "'\(character ?? "none")'")
            #expect(list.spelling == "'\(other)'")
        }
    }

    @Test("may begin with a byte order mark, of UTF-16, too")
    func byteOrderMarks() throws {
        let text = "{ \"é\" = \"😀\"; }"
        let little = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        for bytes in [
            [0xEF, 0xBB, 0xBF] + Array(text.utf8), [0xFF, 0xFE] + little, [0xFE, 0xFF] + big,
        ] {
            #expect(try PropertyList(openStep: bytes).spelling == "{'é'='😀'}")
        }
        // Half a character, and half a pair of code units.
        for bytes: [UInt8] in [[0xFF, 0xFE, 0x61], [0xFF, 0xFE, 0x3D, 0xD8], [0xFE, 0xFF]] {
            #expect(throws: OpenStepError.self) { try PropertyList(openStep: bytes) }
        }
    }

    @Test(
        "are refused if invalid, with line and column",
        arguments: [
            ("", 1, 1), (" \n ", 2, 2), ("{", 1, 2), ("(", 1, 2), ("(1 2)", 1, 4), ("(,)", 1, 2),
            ("{a=1;", 1, 6), ("{a 1;}", 1, 4), ("{=1;}", 1, 2), ("{a=;}", 1, 4), ("a b", 1, 3),
            ("(1))", 1, 4), ("{a=1;\n é=2;}", 2, 2), ("\"a", 1, 1), ("'a\"", 1, 1), ("\"a\\", 1, 1),
            ("/* a", 1, 1), ("<0>", 1, 3), ("<0 f>", 1, 3), ("<0g>", 1, 3), ("<0f", 1, 4),
            ("[1]", 1, 1), ("a = b; c", 1, 9), ("a = b", 1, 6), ("<*X1>", 1, 1),
            ("<*I>", 1, 1),
            ("<*I1", 1, 1), ("<*BX>", 1, 1), ("<*D2001-02-30 00:00:00 +0000>", 1, 1), ("<*", 1, 1),
            ("é", 1, 1), ("(é)", 1, 2), ("(a,\n  b c)", 2, 5),
        ])
    func refusals(text: String, line: Int, column: Int) {
        let error = #expect(throws: OpenStepError.self) { try Self.read(text) }
        #expect(error?.line == line && error?.column == column, "\(String(describing: error))")
    }

    @Test("are refused if they are not UTF-8") func encoding() {
        #expect(throws: OpenStepError.self) {
            try PropertyList(openStep: [0x22, 0xFF, 0x22])
        }
    }

    @Test("may be as deep as the limit, and no deeper, without recursion") func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "(", count: depth) + String(repeating: ")", count: depth)
        }
        #expect(try Self.read(nested(512)).objectCount == 512)
        let error = #expect(throws: OpenStepError.self) { try Self.read(nested(1_000_000)) }
        #expect(error?.code == .limitExceeded && error?.column == 513)
        #expect(throws: OpenStepError.self) {
            try Self.read(String(repeating: "{a=", count: 1 << 20))
        }
    }

    @Test("have no more objects and bytes than the limits allow") func limits() throws {
        let limits = PropertyList.Limits(byteCount: 7, objectCount: 4, depth: 2)
        #expect(try PropertyList(openStep: Array("(1,2,3)".utf8), limits: limits).objectCount == 4)
        for text in ["(1,2,3) ", "(1,2,,)", "(1,1,1,1)"] {
            #expect(throws: OpenStepError.self) {
                try PropertyList(openStep: Array(text.utf8), limits: limits)
            }
        }
    }

    @Test("are read or refused, whatever the bytes", arguments: 0..<8) func bytes(seed: Int) {
        var random = SeededGenerator(case: seed)
        let pieces =
            [
                "{", "}", "(", ")", "<", ">", "<*", "I", "R", "D", "=", ";", ",", "\"", "'", "\\",
                "\\U",
                "/*", "*/", "//", "\n", "a", "0f", "12", " ", "é", "+0000",
            ].map { Array($0.utf8) } + [[0xFF], [0], [0xC3]]
        for _ in 0..<4000 {
            var text: [UInt8] = []
            for _ in 0..<Int(random.next() % 24) {
                text += pieces[Int(random.next() % UInt64(pieces.count))]
            }
            guard let list = try? PropertyList(openStep: text) else { continue }
            // What is taken is a property list that any reader takes.
            #expect(throws: Never.self, "\(text)") { try PropertyList(list.bytes) }
        }
    }

    @Test("report the place of a key that was there before") func repeatedKey() throws {
        var places: [[Int]] = []
        for text in ["{a = {b;};\n b = 1; \"a\" = 2; b;}", "{a = {a;};}"] {
            _ = try PropertyList(
                openStep: Array(text.utf8), repeatedKey: { places.append([$0, $1]) })
        }
        #expect(places == [[2, 9]])
    }
}
