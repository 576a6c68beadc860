import PropertyList
import Testing

/// Searching in strings.
struct SearchingTests {
    @Test(arguments: [
        ("", ""), ("abc", ""), ("abc", "abc"), ("aab", "ab"), ("abcabd", "abd"),
        ("Straße", "ße"), ("é", "e\u{301}"), ("a👩‍👩‍👧b", "👩‍👩‍👧"),
    ])
    func `A text includes a word`(text: String, word: String) {
        #expect(text.includes(word))
    }

    @Test(arguments: [
        ("", "a"), ("abc", "abcd"), ("abab", "ba b"), ("e\u{301}", "e"), ("👩‍👩‍👧", "👩"),
    ])
    func `A text does not include a word`(text: String, word: String) {
        #expect(!text.includes(word))
    }

    @Test(arguments: [
        ("abcabc", "bc", "aZaZ"), ("aaa", "aa", "Za"), ("abc", "x", "abc"), ("", "x", ""),
    ])
    func `Each occurrence of a word is exchanged`(text: String, word: String, expected: String) {
        #expect(text.exchanging(word, for: "Z") == expected)
    }
}
