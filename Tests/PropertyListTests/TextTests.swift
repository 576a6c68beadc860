import PropertyList
import Testing

@Suite("A text")
struct TextTests {
    @Test("is a string unless it has an unpaired surrogate")
    func string() {
        #expect(Text(utf16: [0x61, 0xD83D, 0xDE00]).string == "a\u{1F600}")
        #expect(Text(utf16: [0x61, 0xD83D]).string == nil)
        #expect(Text(utf16: [0x61, 0xD83D]).codeUnits == [0x61, 0xD83D])
        #expect(Text(utf16: [0x61, 0xD83D]).description == "a\u{FFFD}")
    }

    @Test("equals only the same code units")
    func equality() {
        #expect(Text("\u{E9}") != Text("e\u{301}"))
        #expect(Text(utf16: [0xD83D]) == Text(utf16: [0xD83D]))
        #expect(Text(utf16: [0xD83D]) != Text(utf16: [0xD83E]))
        #expect(Set([Text("a"), Text(utf16: [0x61]), Text(utf16: [0xD800])]).count == 2)
    }

    @Test("is ordered by code points")
    func order() {
        let texts: [Text] = [
            "", "$class", "A", "a", "aa", "\u{E9}", Text(utf16: [0xD800]),
            Text(utf16: [0xD800, 0x61]), Text(utf16: [0xDC00]), "\u{FFFF}", "\u{1F600}",
            Text(utf16: [0xD83D, 0xDE00, 0xD800]),
        ]
        #expect(texts.reversed().sorted() == texts)
    }

    @Test("knows its prefix")
    func prefix() {
        #expect(Text("$class").hasPrefix("$"))
        #expect(Text(utf16: [0x24, 0xD800]).hasPrefix("$"))
        #expect(!Text("class").hasPrefix("$"))
    }
}
