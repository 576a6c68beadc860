import KeyedArchive
import TestSupport
import ValuePaths
import PropertyList
import Testing

@Suite("The spelling of a path")
struct KeyPathSpellingTests {
    @Test(
        "is parsed to its steps, and written in its shortest form",
        arguments: [
            ("", [], ""),
            ("options", [.name("options")], "options"),
            (
                "options.audio.volume",
                [.name("options"), .name("audio"), .name("volume")], "options.audio.volume"
            ),
            ("books[0].title", [.name("books"), .index(0), .name("title")], "books[0].title"),
            ("[-1][12]", [.index(-1), .index(12)], "[-1][12]"),
            (#"["a key.with dots"]"#, [.name("a key.with dots")], #""a key.with dots""#),
            (
                #"options."a.b".c"#, [.name("options"), .name("a.b"), .name("c")],
                #"options."a.b".c"#
            ),
            (#"a["b"]["c d"]"#, [.name("a"), .name("b"), .name("c d")], "a.b.c d"),
            (#""first".x"#, [.name("first"), .name("x")], "first.x"),
            ("\"\"[0]", [.name(""), .index(0)], "\"\"[0]"),
            (#""\n\u0000\"\\\u007f""#, [.name("\n\0\"\\\u{7F}")], #""\n\u0000\"\\\u007f""#),
            (
                #""\ud83d\ude00\ud800""#, [.name(Text(utf16: [0xD83D, 0xDE00, 0xD800]))],
                #""😀\ud800""#
            ),
            (
                "größe.$class.0.-1",
                [.name("größe"), .name("$class"), .name("0"), .name("-1")], "größe.$class.0.-1"
            ),
            (#"a\b"#, [.name(#"a\b"#)], #"a\b"#),
            ("[\"\u{2028}\"]", [.name("\u{2028}")], #""\u2028""#),
            ("e\u{301}", [.name("e\u{301}")], "e\u{301}"),
        ] as [(String, [ValuePath.Step], String)])
    func reading(spelling: String, steps: [ValuePath.Step], shortest: String) throws {
        let path = try ValuePath(spelling)
        #expect(path.steps == steps)
        #expect(path.description == shortest)
        #expect(try ValuePath(shortest) == path)
        #expect(path == ValuePath(steps))
    }

    @Test(
        "is refused with the column of the fault",
        arguments: [
            (".a", 1), ("a.", 3), ("a..b", 3), ("a.[0]", 3), ("a[", 3), ("a[]", 3), ("a[0", 4),
            ("a[0]b", 5), ("a]", 2), ("a\"b\"", 2), ("\"a", 3), ("\"a\"b", 4), ("a[-]", 4),
            ("a[-0]", 3), ("a[01]", 3), ("a[+1]", 3), ("a[ 1]", 3), ("a[1 ]", 4), ("a[x]", 3),
            ("a[9223372036854775808]", 3), ("ä\u{1}", 2), ("a.bc\u{7F}", 5), ("\"\\x\"", 2),
            ("\"\u{1}\"", 2), ("[\"a\"", 5), ("\"\\u12\"", 6), ("a\u{2028}", 2),
        ])
    func misspelled(spelling: String, column: Int) {
        let error = #expect(throws: ValuePathError.self) { try ValuePath(spelling) }
        #expect(error?.code == .syntax)
        #expect(error?.column == column)
        #expect(error?.description.contains("column \(column)") == true)
        #expect(error?.description.hasSuffix(".") == true)
    }

    @Test("is the same after any steps were written and parsed")
    func roundTrip() throws {
        var random = SeededGenerator()
        let units: [UInt16] = Array("a.[]\"\\$0-é\u{1}\n\u{85} ".utf16) + [0xD83D, 0xDE00, 0x2028]
        for _ in 0..<5_000 {
            let steps = (0..<Int.random(in: 0..<5, using: &random)).map { _ in
                if Bool.random(using: &random) {
                    return ValuePath.Step.index(Int(truncatingIfNeeded: random.next()))
                }
                let name = (0..<Int.random(in: 0..<6, using: &random)).map { _ in
                    units[Int.random(in: units.indices, using: &random)]
                }
                return .name(Text(utf16: name))
            }
            let path = ValuePath(steps)
            #expect(try ValuePath(path.description) == path, "\(path)")
        }
    }
}
