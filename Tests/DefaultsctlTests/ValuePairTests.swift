import Testing

@testable import defaultsctl

/// How an old and a new value are cut to fit on one line.
@Suite struct ValuePairTests {
    @Test func `Values that fit are whole`() {
        #expect(ValuePair.cut("1", "2", in: 16) == ("1", "2"))
        #expect(ValuePair.cut("12345678", "abcdefgh", in: 16) == ("12345678", "abcdefgh"))
    }

    @Test func `A long value leaves a short one whole`() {
        #expect(
            ValuePair.cut("short", "a long value that is cut", in: 16) == ("short", "a long val…"))
    }

    @Test func `What both begin with is cut if the difference is not seen otherwise`() {
        let (one, other) = ValuePair.cut(
            "\"/usr/share/backgrounds/blue.png\"", "\"/usr/share/backgrounds/green.png\"", in: 40)
        #expect(one == "…unds/blue.png\"")
        #expect(other == "…unds/green.png\"")
        let (first, second) = ValuePair.cut("MODE_LEVEL_50", "MODE_LEVEL_100", in: 20)
        #expect(first != second && first.hasSuffix("50") && second.hasSuffix("100"))
    }

    @Test func `A difference at the beginning is seen there`() {
        let end = String(repeating: "x", count: 40)
        #expect(ValuePair.cut("a" + end, "b" + end, in: 16) == ("axxxxxx…", "bxxxxxx…"))
    }

    @Test func `Values that are equal are cut at their ends`() {
        let long = String(repeating: "x", count: 40)
        #expect(ValuePair.cut(long, long, in: 16) == ("xxxxxxx…", "xxxxxxx…"))
    }

    @Test func `No room is not an error`() {
        #expect(ValuePair.cut("one", "other", in: 0) == ("", ""))
    }
}
